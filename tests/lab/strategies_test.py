# SPDX-License-Identifier: Apache-2.0
"""Every strategy on several hosts: the losses are the same bits as with all ranks on one host, or the plan is refused."""
import json
import random
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import Launch, write_key

STEPS = 4
IMAGES, LABELS = "/mnt/images-idx3-ubyte", "/mnt/labels-idx1-ubyte"
RUN = ["launch", "mnist.toml", f"images={IMAGES}", f"labels={LABELS}", "train_count=600", f"max_steps={STEPS}",
       "run.validate_every_epochs=0", "component.accelerator_host.params.log_every_steps=1",
       "component.logger.params.console=off", "run.log_level=warning", "component.checkpoint_writer.when=false"]


def registered_strategies():
    listed = subprocess.run([doctor.PROGRAM, "plugin", "list", "strategy", "--json"], check=True, capture_output=True)
    return [plugin["name"] for plugin in json.loads(listed.stdout)]


def write_digits(lab):
    """Made-up pictures in the format of MNIST."""
    random_numbers, count = random.Random(1), 640
    pixels = random_numbers.randbytes(count * 28 * 28)
    digits = bytes(random_numbers.randrange(10) for _ in range(count))
    (lab.shared / IMAGES.rpartition("/")[2]).write_bytes(struct.pack(">IIII", 0x803, count, 28, 28) + pixels)
    (lab.shared / LABELS.rpartition("/")[2]).write_bytes(struct.pack(">II", 0x801, count) + digits)


@unittest.skipIf(missing(), missing())
class StrategiesTest(unittest.TestCase):
    # What the ranks of these share does not exist between hosts.
    ON_ONE_HOST = {"dp": "whose ranks share a process", "parameter_server": "whose ranks share memory",
                   "single_device": "which serves 1"}

    def train(self, hosts, devices):
        with Lab(hosts=hosts, visible=doctor.visible()) as lab:
            write_key(lab)
            write_digits(lab)
            names = ",".join(f"h{number}" for number in range(hosts))
            for strategy in registered_strategies():
                with self.subTest(strategy, hosts=hosts, devices=devices):
                    arguments = [*RUN, f"strategy={strategy}"]
                    together = [Launch(lab, number, [*arguments, f"nodes={hosts}", f"devices={devices}"],
                                       {"TRAINYARD_HOST_NAMES": names}) for number in range(hosts)]
                    codes = [launch.end() for launch in together]
                    said = "\n".join(launch.output() for launch in together)
                    if strategy in self.ON_ONE_HOST:
                        self.assertEqual(codes, [2] * hosts, said)
                        self.assertIn(self.ON_ONE_HOST[strategy], said)
                        continue
                    self.assertEqual(codes, [0] * hosts, said)
                    alone = Launch(lab, 0, [*arguments, f"devices={hosts * devices}"],
                                   {"TRAINYARD_HOST_NAMES": "", "TRAINYARD_HOST_NUMBER": ""})
                    self.assertEqual(alone.end(), 0, alone.output())
                    self.assertEqual(len(alone.metrics()), STEPS)
                    self.assertEqual(together[0].metrics(), alone.metrics())

    def test_two_ranks_on_each_of_two_hosts(self):
        self.train(hosts=2, devices=2)

    def test_one_rank_on_each_of_three_hosts(self):
        self.train(hosts=3, devices=1)


if __name__ == "__main__":
    unittest.main()
