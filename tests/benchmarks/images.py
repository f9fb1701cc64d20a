#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second from a folder of JPEG files: our data loader beside PyTorch's, in the same run.

    /usr/bin/python3 tests/benchmarks/images.py --build build/release [--images 512] [--workers 1 2] [--rounds 5]

Both read the same files of 500 x 375 pixels, shuffled, decode them to 224 x 224 RGB with the whole picture stretched under
an antialiasing bilinear filter, and deliver batches of uint8 [B, 3, 224, 224] and int64 labels, with the same number of
workers (threads here, processes there) and two batches read ahead by each. The sides take turns; figures are medians over
all epochs but the first of each side, in which workers start and the files come into the page cache. PyTorch's workers
persist between epochs. `convert` is what most scripts write; `draft` lets libjpeg shrink first where Pillow can.

Needs python3-torch and python3-pil, and an otherwise idle machine. Figures of one such run: docs/benchmarks.md.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from PIL import Image, ImageDraw

SIZE = 224


def generate(folder, count, classes=8):
    """Pictures like photographs as far as a decoder can tell: smooth colours, edges, and some grain of the sensor."""
    random = numpy.random.default_rng(2026)
    for number in range(count):
        coarse = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=numpy.uint8))
        picture = coarse.resize((500, 375), Image.BICUBIC)
        draw = ImageDraw.Draw(picture)
        for _ in range(12):
            x, y, width, height = (int(v) for v in random.integers((0, 0, 10, 10), (500, 375, 150, 150)))
            shape = draw.ellipse if random.integers(2) else draw.rectangle
            shape([x, y, x + width, y + height], fill=tuple(int(v) for v in random.integers(0, 256, 3)))
        grain = random.normal(0, 4, (375, 500, 1))
        pixels = numpy.clip(numpy.asarray(picture) + grain, 0, 255).astype(numpy.uint8)
        target = folder / f"class_{number % classes}"
        target.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(target / f"{number:05}.jpg", quality=90)


class Folder(torch.utils.data.Dataset):
    """torchvision's ImageFolder with Resize((224, 224)) and PILToTensor, written out."""

    def __init__(self, folder, draft):
        classes = sorted(path.name for path in folder.iterdir())
        self.files = [(str(path), label) for label, name in enumerate(classes) for path in sorted((folder / name).iterdir())]
        self.draft = draft

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with open(path, "rb") as file:
            picture = Image.open(file)
            if self.draft:
                picture.draft("RGB", (SIZE, SIZE))
            picture = picture.convert("RGB").resize((SIZE, SIZE), Image.BILINEAR)
        pixels = torch.from_numpy(numpy.array(picture))
        return pixels.permute(2, 0, 1).contiguous(), label


class PyTorch:
    """Epochs of PyTorch's DataLoader; the first one has been run when it is made."""

    def __init__(self, folder, batch, workers, draft):
        torch.set_num_threads(1)
        more = {"persistent_workers": True, "prefetch_factor": 2} if workers else {}
        self.loader = torch.utils.data.DataLoader(Folder(folder, draft), batch, shuffle=True, num_workers=workers, **more)
        self.epoch()

    def epoch(self):
        """Images per second of one epoch."""
        began = time.perf_counter()
        images = 0
        for pixels, labels in self.loader:
            assert pixels.shape[1:] == (3, SIZE, SIZE) and pixels.dtype == torch.uint8
            images += len(labels)
        return images / (time.perf_counter() - began)


def ours(build, folder, batch, workers, epochs):
    """Images per second of our data loader: the median of some epochs."""
    command = [str(build / "tests" / "trainyard_benchmark_image_loader"), str(folder), str(SIZE), str(batch), str(workers),
               str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])["images_per_second"]


def measure(arguments, folder, workers):
    """One row: medians of all sides, taken in turn, and the median of their ratios."""
    convert = PyTorch(folder, arguments.batch, workers, draft=False)
    draft = PyTorch(folder, arguments.batch, workers, draft=True)
    rounds = []
    for _ in range(arguments.rounds):
        mine = ours(arguments.build, folder, arguments.batch, workers, epochs=2)
        rounds.append((mine, convert.epoch(), draft.epoch()))
    medians = [statistics.median(side) for side in zip(*rounds)]
    ratio = statistics.median(mine / theirs for mine, theirs, _ in rounds)
    ratio_draft = statistics.median(mine / theirs for mine, _, theirs in rounds)
    print(f"| {workers} | {medians[0]:.0f} | {medians[1]:.0f} | {medians[2]:.0f} | {ratio:.2f} | {ratio_draft:.2f} | >= 2 | "
          f"{'yes' if min(ratio, ratio_draft) >= 2 else 'NO'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release", help="a build with tests")
    parser.add_argument("--images", type=int, default=512, help="files to generate")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="of both sides; a row each")
    parser.add_argument("--batch", type=int, default=32, help="images in a batch")
    parser.add_argument("--rounds", type=int, default=5, help="of each side")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="trainyard-images-") as name:
        folder = pathlib.Path(name)
        generate(folder, arguments.images)
        size = statistics.mean(path.stat().st_size for path in folder.glob("*/*.jpg"))
        print(f"{arguments.images} JPEG files of 500 x 375, {size / 1000:.0f} KB each; images/s, medians of {arguments.rounds}; "
              f"{os.cpu_count()} cores")
        print("| workers | Trainyard | PyTorch | PyTorch, draft | ratio | ratio, draft | bar | reached |\n|---|---|---|---|---|---|---|---|")
        for workers in arguments.workers:
            measure(arguments, folder, workers)


if __name__ == "__main__":
    main()
