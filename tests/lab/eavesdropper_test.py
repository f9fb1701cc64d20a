# SPDX-License-Identifier: Apache-2.0
"""Records every packet between two hosts during a run, and checks that nothing in them is readable, unless the run is
configured to send plain text."""
import json
import random
import struct
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import KEY, Launch, write_key

FEATURES, ROWS = 64, 256


def tensors(path):
    """The tensors of a file of safetensors: the bytes of each, by its name."""
    content = path.read_bytes()
    header = 8 + struct.unpack("<Q", content[:8])[0]
    entries = json.loads(content[8:header])
    return {name: content[header + entry["data_offsets"][0]:header + entry["data_offsets"][1]]
            for name, entry in entries.items() if name != "__metadata__"}


def windows(values):
    """Sixty-four pieces of 16 bytes: single pieces may be spread over two packets. None of them is guessed easily, as the
    zeros are that a unit without activity has for gradients."""
    pieces = [values[place:place + 16] for place in range(0, len(values), 16)]
    return random.Random(3).sample([piece for piece in pieces if len(set(piece)) >= 10], 64)


@unittest.skipIf(missing(), missing())
class EavesdropperTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        write_key(self.lab)
        self.secret_name = random.SystemRandom().randbytes(16).hex()
        self.rows = self.write_rows()

    def write_rows(self):
        """Writes a dataset of numbers whose bytes nobody can guess; returns the bytes of each row."""
        source = random.SystemRandom()
        bits = [[0x3F800000 | source.getrandbits(23) for _ in range(FEATURES)] for _ in range(ROWS)]
        rows = [struct.pack(f"<{FEATURES}I", *row) for row in bits]
        folder = self.lab.shared / self.secret_name
        folder.mkdir()
        with open(folder / "rows.csv", "w", encoding="utf-8") as file:
            file.write(",".join([*(f"x{number}" for number in range(FEATURES)), "class"]) + "\n")
            for number, row in enumerate(rows):
                file.write(",".join(f"{value:.9g}" for value in struct.unpack(f"<{FEATURES}f", row)) + f",{number % 4}\n")
        return rows

    def train(self, collective):
        """One step, after which the checkpoint has the parameters that rank 0 sent at the start, since the learning rate is
        0, and the mean of the gradients as momentum. The logger is on the other host, so that metrics cross as well."""
        run = ["launch", "mlp.toml", "max_steps=1", "run.log_level=info", f"collective={collective}",
               "component.accelerator_host.params.log_every_steps=1",
               f"component.data_loader.params.dataset={{plugin='csv', path='/mnt/{self.secret_name}/rows.csv'}}",
               "component.accelerator_host.params.model={plugin='mlp', hidden=[256]}", "component.logger.host=h1",
               "component.optimizer.params.rule=sgd", "component.optimizer.params.lr=0",
               "component.optimizer.params.momentum=0.9"]
        path = self.lab.shared / "packets.pcap"
        with self.lab.hosts[1].capture(path) as lost:
            launches = [Launch(self.lab, number, run) for number in range(2)]
            codes = [launch.end() for launch in launches]
        self.assertEqual(codes, [0, 0], "\n".join(launch.output() for launch in launches))
        self.assertEqual(lost, [0], "packets that the capture missed")
        return path.read_bytes(), *launches

    def planted(self, here, there):
        """What has crossed the network, by kind: lists of pieces that nobody can guess."""
        checkpoint = next(here.folder.glob("runs/*/checkpoints/last"))
        parameters = tensors(checkpoint / "model.safetensors")["layers.0.weight"]
        means = tensors(checkpoint / "optimizer.safetensors")["momentum_buffer/layers.0.weight"]
        losses = [loss for _, loss in there.metrics()]
        self.assertEqual(len(losses), 1)
        self.assertEqual(here.output().count("parameter elements in 1 segments"), 2, "the lines of both ranks")
        return {
            "parameters": windows(parameters),
            "gradients": windows(means),
            "batches": [row[:16] for row in self.rows],
            "metrics": [struct.pack("<d", losses[0]), struct.pack(">d", losses[0])],
            "lines of the log": [b"parameter elements in 1 segments"],
            "the plan": [self.secret_name.encode()],
            "keys": [KEY[1].encode()],
        }

    def found(self, packets, pieces):
        return sum(piece in packets for piece in pieces)

    def test_nothing_can_be_read(self):
        packets, here, there = self.train("tcp")
        self.assertGreater(len(packets), 100_000)
        for kind, pieces in self.planted(here, there).items():
            self.assertEqual(self.found(packets, pieces), 0, kind)

    # The same search finds what a run sends in clear, so it would find the rest, too.
    def test_elements_that_shall_be_sent_in_clear_can_be_read_and_nothing_else(self):
        packets, here, there = self.train("{plugin='tcp', encrypt=false}")
        for kind, pieces in self.planted(here, there).items():
            if kind in ("parameters", "gradients"):
                self.assertGreater(self.found(packets, pieces), len(pieces) // 2, kind)
            else:
                self.assertEqual(self.found(packets, pieces), 0, kind)


if __name__ == "__main__":
    unittest.main()
