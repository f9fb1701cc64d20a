#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the collective shared_memory with PyTorch's Gloo, taken in turn in one run, on the same machine.

    python3 tests/benchmarks/collectives.py --build build/release [--rounds 5] [--parameters JSON]

Every rank is a process with one thread. Figures are medians over the rounds of each round's median; the ratio is the median
of the rounds' ratios. The bar of 4 KB is a time, those of 105 MB are ratios. Needs a build with tests, a python3 with torch
(looked for on the PATH, then /usr/bin/python3), an otherwise idle machine, and nothing else.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LARGE = 26_214_400 * 4
SMALL = 4096
TOGETHER = 20  # Small ones at a time, as in collectives.cpp.


def gloo_rank(rank, ranks, size, rounds, folder):
    """One rank of the other side. Rank 0 prints the median time of an all_reduce, in ns."""
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    store = torch.distributed.FileStore(f"{folder}/store", ranks)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=ranks,
                                         timeout=datetime.timedelta(seconds=120))
    data = torch.full((size // 4,), 1e-30)
    together = TOGETHER if size < 1 << 20 else 1
    samples = []
    warm_up = rounds // 10 + 1
    for i in range(warm_up + rounds):
        torch.distributed.barrier()
        begin = time.perf_counter_ns()
        for _ in range(together):
            torch.distributed.all_reduce(data)
        if i >= warm_up:
            samples.append((time.perf_counter_ns() - begin) / together)
    torch.distributed.barrier()
    if rank == 0:
        print(json.dumps({"name": "all_reduce", "median_ns": statistics.median(samples), "best_ns": min(samples)}))
    torch.distributed.destroy_process_group()


class Bench:
    def __init__(self, arguments):
        self.program = str(pathlib.Path(arguments.build).resolve() / "tests" / "trainyard_benchmark_collectives")
        self.rounds = arguments.rounds
        self.environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo",
                                TRAINYARD_BENCHMARK_PARAMETERS=arguments.parameters)
        self.environment.pop("OPENBLAS_CORETYPE", None)
        self.python = next((p for p in (sys.executable, "/usr/bin/python3")
                            if subprocess.run([p, "-c", "import torch.distributed"], capture_output=True).returncode == 0), None)
        if self.python is None:
            sys.exit("no python3 with torch: there is nothing to compare with")
        self.copy_gbs = []

    def ours(self, ranks, size, repeats, memory):
        done = subprocess.run([self.program, "shared_memory", str(ranks), str(size), str(repeats), memory],
                              env=self.environment, capture_output=True, text=True, timeout=600, check=True)
        found = {r["name"]: r for r in map(json.loads, done.stdout.splitlines())}
        self.copy_gbs.append(100 * 2**20 / found["copy_100MiB"]["best_ns"])
        return found["all_reduce"]["median_ns"]

    def gloo(self, ranks, size, repeats):
        with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as folder:
            started = [subprocess.Popen([self.python, __file__, "--gloo-rank", f"{rank},{ranks},{size},{repeats},{folder}"],
                                        env=self.environment, stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
            try:
                outputs = [process.communicate(timeout=600)[0] for process in started]
            finally:
                for process in started:
                    process.kill()
        return json.loads(outputs[0].splitlines()[-1])["median_ns"]

    def compare(self, what, ranks, size, repeats, memory, bar, reached):
        pairs = [(self.gloo(ranks, size, repeats), self.ours(ranks, size, repeats * (10 if size < 1 << 20 else 2), memory))
                 for _ in range(self.rounds)]
        gloo, ours = (statistics.median(side) for side in zip(*pairs))
        ratio = statistics.median(g / o for g, o in pairs)
        unit, scale = ("us", 1e3) if size < 1 << 20 else ("ms", 1e6)
        best = min(o for _, o in pairs) / scale
        print(f"| {what} | {ours / scale:.1f} {unit} (best round {best:.1f}), Gloo {gloo / scale:.1f} {unit}: {ratio:.1f} x | "
              f"{bar} | {'yes' if reached(ours, ratio) else 'NO'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="a build with tests")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side")
    parser.add_argument("--parameters", default="{}", help="of the collective, as JSON")
    parser.add_argument("--gloo-rank", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.gloo_rank:
        rank, ranks, size, rounds, folder = arguments.gloo_rank.split(",")
        return gloo_rank(int(rank), int(ranks), int(size), int(rounds), folder)
    bench = Bench(arguments)
    print(f"| all_reduce ({os.cpu_count()} cores, medians of {bench.rounds}) | figure | bar | reached |\n|---|---|---|---|")
    bench.compare("105 MB, 2 ranks, registered memory", 2, LARGE, 10, "registered", ">= 4 x Gloo", lambda _, r: r >= 4)
    bench.compare("105 MB, 2 ranks, memory of their own", 2, LARGE, 10, "own", "none", lambda _, r: True)
    bench.compare("4 KB, 2 ranks", 2, SMALL, 200, "own", "<= 50 us", lambda t, _: t <= 50_000)
    bench.compare("4 KB, 4 ranks", 4, SMALL, 100, "own", "none", lambda _, r: True)
    bench.compare("105 MB, 4 ranks, registered memory", 4, LARGE, 5, "registered", ">= 3 x Gloo", lambda _, r: r >= 3)
    bench.compare("105 MB, 4 ranks, memory of their own", 4, LARGE, 5, "own", "none", lambda _, r: True)
    print(f"\nOne core copies {statistics.median(bench.copy_gbs):.1f} GB/s (at best {max(bench.copy_gbs):.1f}).")


if __name__ == "__main__":
    main()
