#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DistributedDataParallel over Gloo on a multi-layer perceptron: the other side of run.py's `ranks`.

    reference_ddp.py RANKS STEPS HIDDEN...

One process and one thread per rank, 64 samples each that lie ready in memory, AdamW. Prints one JSON object: steps per second
of rank 0, without the first tenth.
"""
import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

FEATURES, CLASSES, BATCH = 784, 10, 64


def perceptron(hidden):
    widths = [FEATURES, *hidden]
    layers = []
    for inner, outer in zip(widths, widths[1:]):
        layers += [nn.Linear(inner, outer), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], CLASSES))


def work(rank, ranks, steps, hidden, store):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.manual_seed(rank)
    inputs = [torch.randn(BATCH, FEATURES) for _ in range(16)]
    targets = [torch.randint(CLASSES, (BATCH,)) for _ in range(16)]
    model = nn.parallel.DistributedDataParallel(perceptron(hidden))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    skipped = max(steps // 10, 3)
    for step in range(steps + skipped):
        if step == skipped:
            began = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(inputs[step % 16]), targets[step % 16]).backward()
        optimizer.step()
    if rank == 0:
        print(json.dumps({"steps_per_second": steps / (time.perf_counter() - began)}), flush=True)
    dist.destroy_process_group()


def main():
    ranks, steps, *hidden = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (ranks, steps, hidden, f"{folder}/store"), nprocs=ranks)


if __name__ == "__main__":
    main()
