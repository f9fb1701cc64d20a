# SPDX-License-Identifier: Apache-2.0
"""Exports a convolutional network from Python, trains it with Trainyard on MNIST, compares it with the built-in model
`convnet`, and loads the weights back into Python.

    round_trip.py BUILD SOURCE [EPOCHS]

Exit status 77 (skipped, with the reason) without python3-torch or MNIST's t10k files ($TRAINYARD_TEST_DATA/mnist).
"""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("SKIPPED: python3 has no torch (Debian: python3-torch)")
    sys.exit(77)

BUILD, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
EPOCHS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MNIST = pathlib.Path(os.environ.get("TRAINYARD_TEST_DATA", SOURCE.parent / "shared" / "data")) / "mnist"
TRAIN_COUNT = 9000
# One epoch on 9,000 digits: what two initialisations of one network may differ by.
TOLERANCE = 0.015


class Convnet(torch.nn.Module):
    """The network of models/convnet: two convolutions with pooling, a hidden layer with dropout."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(32, 64, 3, padding=1)
        self.hidden = torch.nn.Linear(64 * 7 * 7, 128)
        self.dropout = torch.nn.Dropout(0.25)
        self.output = torch.nn.Linear(128, 10)

    def forward(self, x):
        x = torch.relu(torch.nn.functional.max_pool2d(self.conv1(x), 2))
        x = torch.relu(torch.nn.functional.max_pool2d(self.conv2(x), 2))
        return self.output(self.dropout(torch.relu(self.hidden(x.flatten(1)))))


def launch(name, folder, *words):
    """Trains; returns the last validation metrics and the weights' file."""
    run = folder / name
    command = [BUILD / "bin" / "trainyard", "launch", SOURCE / "launch" / "files" / f"{name}.toml", f"folder={MNIST}",
               f"epochs={EPOCHS}", f"run.directory={run}", *words]
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, XDG_RUNTIME_DIR=str(folder)))
    if done.returncode != 0:
        return None, done.stdout + done.stderr
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    reports = [line for line in lines if line.get("kind") == "metrics" and line["stage"] == "validate"]
    return reports[-1], run / "checkpoints" / "last" / "model.safetensors"


def read_safetensors(path):
    """What docs/checkpoint_format.md describes, in ten lines."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    types = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "BF16": torch.bfloat16, "F16": torch.float16}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def validation_digits():
    images = gzip.open(MNIST / "t10k-images-idx3-ubyte.gz").read()[16:]
    labels = gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz").read()[8:]
    pixels = torch.frombuffer(bytearray(images), dtype=torch.uint8).view(-1, 1, 28, 28)[TRAIN_COUNT:]
    target = torch.frombuffer(bytearray(labels), dtype=torch.uint8)[TRAIN_COUNT:].long()
    return (pixels.float() / 255 - 0.1307) / 0.3081, target


def metric(report, name):
    values = report["values"]
    return values[name] if isinstance(values, dict) else next(v["value"] for v in values if v["name"] == name)


def main():
    if not (MNIST / "t10k-images-idx3-ubyte.gz").exists():
        print(f"SKIPPED: no MNIST in {MNIST}; TRAINYARD_TEST_DATA names the folder above it")
        sys.exit(77)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="trainyard-torchscript-") as name:
        folder = pathlib.Path(name)
        torch.manual_seed(1)
        network = Convnet()
        torch.jit.script(network).save(str(folder / "net.pt"))

        report, error = launch("torchscript", folder, f"module={folder}/net.pt")
        assert report is None and "trust = true" in error, f"a file that nobody trusts must be refused: {error}"

        built_in, _ = launch("mnist", folder)
        exported, weights = launch("torchscript", folder, f"module={folder}/net.pt", "trust=true")
        assert built_in and exported, f"a run failed: {weights}"
        ours, theirs = metric(exported, "accuracy"), metric(built_in, "accuracy")
        print(f"accuracy on {10000 - TRAIN_COUNT} digits: torchscript {ours:.4f}, convnet {theirs:.4f}")
        assert ours > 0.9 and abs(ours - theirs) <= TOLERANCE, "not the same network"

        network.load_state_dict(read_safetensors(weights), strict=True)
        network.eval()
        images, target = validation_digits()
        with torch.no_grad():
            logits = network(images)
        accuracy = (logits.argmax(1) == target).float().mean().item()
        loss = torch.nn.functional.cross_entropy(logits, target).item()
        print(f"back in Python: accuracy {accuracy:.4f}, loss {loss:.5f} (here {metric(exported, 'loss'):.5f})")
        assert abs(accuracy - ours) <= 0.001 and abs(loss - metric(exported, "loss")) <= 1e-4


main()
