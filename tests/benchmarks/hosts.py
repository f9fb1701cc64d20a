#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the collective tcp with PyTorch's Gloo between two processes, each pinned to a core of its own, and with the bytes
that libzmq exchanges in the same way, encrypted with CURVE.

    python3 tests/benchmarks/hosts.py --build build/release [--rounds 5] [--namespaces [--rate 10gbit]] [--streams 2]

With --namespaces, which needs root, each process has a network namespace of its own, connected by a pair of veth devices, as
if the two were hosts; otherwise both use the loopback interface. --rate limits what each of them sends. The sides are measured in turn. Figures are medians over
the rounds of each round's median; ratios are the medians of the rounds' ratios. Needs a build with tests, a python3 with
torch (looked for on the PATH, then /usr/bin/python3), two cores with nothing else to do, and taskset.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

LARGE = 26_214_400 * 4
SMALL = 4096
HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def namespaces(wanted, rate):
    """Yields, for each of two ranks, the command that a program is started with and the interface that it uses."""
    if not wanted:
        yield [([], "lo"), ([], "lo")]
        return
    names = [f"trainyard-bench-{os.getpid()}-{rank}" for rank in range(2)]
    devices = [f"tyb{os.getpid() % 100000}{end}" for end in "ab"]

    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", devices[0], "netns", names[0], "type", "veth", "peer", "name", devices[1], "netns", names[1])
        for rank, (name, device) in enumerate(zip(names, devices)):
            ip("-n", name, "address", "add", f"10.213.0.{rank + 1}/24", "dev", device)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", device, "up")
            if rate:  # The burst is what passes at once: at 10 Gbit/s, that of one millisecond.
                subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "1300kb",
                                "latency", "50ms"], check=True)
        yield [(["ip", "netns", "exec", name], device) for name, device in zip(names, devices)]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


class Bench:
    def __init__(self, arguments, places):
        self.program = str(pathlib.Path(arguments.build).resolve() / "tests" / "trainyard_benchmark_collectives")
        self.rounds = arguments.rounds
        self.streams = arguments.streams
        self.record_bytes = arguments.record_bytes
        self.places = places
        self.python = next((p for p in (sys.executable, "/usr/bin/python3")
                            if subprocess.run([p, "-c", "import torch.distributed"], capture_output=True).returncode == 0), None)
        if self.python is None:
            sys.exit("no python3 with torch: there is nothing to compare with")

    def run(self, command_of):
        """Starts both ranks, and returns the median time that rank 0 prints, in ns."""
        started = []
        try:
            for rank, (prefix, interface) in enumerate(self.places):
                command, variables = command_of(rank, interface)
                environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", **variables)
                environment.pop("OPENBLAS_CORETYPE", None)
                started.append(subprocess.Popen([*prefix, "taskset", "-c", str(rank), *command], env=environment,
                                                stdout=subprocess.PIPE, text=True))
            output = started[0].communicate(timeout=600)[0]
            if any(process.wait(timeout=60) != 0 for process in started):
                sys.exit("a rank failed")
        finally:
            for process in started:
                process.kill()
        return json.loads(output.splitlines()[-1])["median_ns"]

    def ours(self, size, repeats, encrypt):
        with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as folder:
            parameters = json.dumps({"encrypt": encrypt, "streams": self.streams, "record_bytes": self.record_bytes})

            def command(rank, _):
                return ([self.program, "tcp", "2", str(size), str(repeats), "own", str(rank), folder],
                        {"TRAINYARD_BENCHMARK_PARAMETERS": parameters})

            return self.run(command)

    def gloo(self, size, repeats):
        with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as folder:

            def command(rank, interface):
                return ([self.python, str(HERE / "collectives.py"), "--gloo-rank", f"{rank},2,{size},{repeats},{folder}"],
                        {"GLOO_SOCKET_IFNAME": interface})

            return self.run(command)

    def curve(self, size, repeats):
        address = "10.213.0.1" if self.places[0][0] else "127.0.0.1"
        program = str(pathlib.Path(self.program).parent / "trainyard_benchmark_curve_exchange")
        return self.run(lambda rank, _: ([program, str(size), str(repeats), str(rank), address], {}))

    def compare_with_curve(self, repeats):
        rounds = [(self.curve(LARGE, repeats), self.ours(LARGE, repeats, True)) for _ in range(self.rounds)]
        curve, ours = (statistics.median(one[side] for one in rounds) / 1e6 for side in range(2))
        ratio = statistics.median(one[0] / one[1] for one in rounds)
        print(f"| 105 MB, encrypted | {ours:.1f} ms, CURVE {curve:.1f} ms: {ratio:.2f} x the rate of CURVE | >= 3.0 x | "
              f"{'yes' if ratio >= 3 else 'NO'} |", flush=True)

    def compare(self, what, size, repeats, bars):
        rounds = [(self.gloo(size, repeats), self.ours(size, repeats, False), self.ours(size, repeats, True))
                  for _ in range(self.rounds)]
        unit, scale = ("us", 1e3) if size < 1 << 20 else ("ms", 1e6)
        gloo = statistics.median(one[0] for one in rounds) / scale
        for place, name, bar in ((1, "in clear", bars[0]), (2, "encrypted", bars[1])):
            ours = statistics.median(one[place] for one in rounds) / scale
            ratio = statistics.median(one[0] / one[place] for one in rounds)
            print(f"| {what}, {name} | {ours:.1f} {unit}, Gloo {gloo:.1f} {unit}: {ratio:.2f} x the rate of Gloo | "
                  f">= {bar} x | {'yes' if ratio >= bar else 'NO'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="a build with tests")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side")
    parser.add_argument("--repeats", type=int, default=10, help="all_reduces of 105 MB in a run")
    parser.add_argument("--namespaces", action="store_true", help="a network namespace for each process (needs root)")
    parser.add_argument("--rate", default="", help="with --namespaces: the most that each of them sends, such as 10gbit")
    parser.add_argument("--streams", type=int, default=2, help="of the collective tcp")
    parser.add_argument("--record-bytes", type=int, default=512 << 10, help="of the collective tcp")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # The namespaces are removed.
    with namespaces(arguments.namespaces, arguments.rate) as places:
        bench = Bench(arguments, places)
        link = "veth" if arguments.namespaces else "loopback"
        print(f"| all_reduce, 2 ranks, one core each, {link} | figure | bar | reached |\n|---|---|---|---|")
        bench.compare("105 MB", LARGE, arguments.repeats, (1.5, 1.0))
        bench.compare_with_curve(arguments.repeats)
        bench.compare("4 KB", SMALL, 20 * arguments.repeats, (1.0, 1.0))


if __name__ == "__main__":
    main()
