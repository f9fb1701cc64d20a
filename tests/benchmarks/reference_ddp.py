#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DistributedDataParallel over Gloo on a multi-layer perceptron: the other side of run.py's `ranks`.

    reference_ddp.py RANKS STEPS keep|flush HIDDEN...
    reference_ddp.py --rank RANK --meet tcp://HOST:PORT --interface NAME RANKS STEPS keep|flush HIDDEN...   # one per host

The first form starts all ranks on this host. One process and one thread per rank, 64 samples each that lie ready in memory, AdamW. The classes are drawn anew in every step, so
that nothing can be learnt and the gradients do not vanish. The third argument says what becomes of denormal numbers. Prints one JSON
object: steps per second of rank 0, without the first tenth.
"""
import argparse
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


def work(rank, ranks, steps, flush, hidden, meet, interface="lo"):
    torch.set_flush_denormal(flush)  # First, because threads inherit it: the one of autograd and that of Gloo.
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=ranks)
    torch.manual_seed(rank)
    inputs = [torch.randn(BATCH, FEATURES) for _ in range(16)]
    targets = torch.randint(CLASSES, (steps + max(steps // 10, 3), BATCH))
    model = nn.parallel.DistributedDataParallel(perceptron(hidden))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    skipped = max(steps // 10, 3)
    for step in range(steps + skipped):
        if step == skipped:
            began = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(inputs[step % 16]), targets[step]).backward()
        optimizer.step()
    if rank == 0:
        print(json.dumps({"steps_per_second": steps / (time.perf_counter() - began)}), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ranks", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("denormals", choices=("keep", "flush"))
    parser.add_argument("hidden", type=int, nargs="*")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--meet")
    parser.add_argument("--interface", default="lo")
    given = parser.parse_args()
    run = (given.ranks, given.steps, given.denormals == "flush", given.hidden)
    if given.rank is not None:
        work(given.rank, *run, given.meet, given.interface)
        return
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (*run, f"file://{folder}/store"), nprocs=given.ranks)


if __name__ == "__main__":
    main()
