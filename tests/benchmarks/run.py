#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark and prints one table: what was measured, the figure, the bar, and whether it was reached.

    python3 tests/benchmarks/run.py --build build/release [--python PYTHON] [--rounds 5] [--only NAME ...]

Both sides of a ratio run in turn (A B A B ...) on the same processors with OPENBLAS_NUM_THREADS=1; the figures are medians.
Needs a build with tests, an otherwise idle machine, and nothing else. Some ratios compare with PyTorch, which is that of
PYTHON; its version should be the same as that of the build's LibTorch. If `--build` is given several times, and `--python`
as often, the table has a column for each LibTorch. Figures of one such run: docs/benchmarks.md.
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEXT = "/usr/share/common-licenses"


class Bench:
    """The paths that benchmarks need, and one column of the table of results."""

    def __init__(self, build, python, arguments):
        self.build = pathlib.Path(build).resolve()
        self.python = python
        self.rounds = arguments.rounds
        self.trainyard = str(self.build / "bin" / "trainyard")
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-bench-"))
        self.environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", XDG_RUNTIME_DIR=str(self.work))
        # A value that the user has set is ignored, because OpenBLAS usually knows better which kernels suit the processor.
        self.environment.pop("OPENBLAS_CORETYPE", None)
        if arguments.blas_kernels:
            self.environment["OPENBLAS_CORETYPE"] = arguments.blas_kernels
        self.data = pathlib.Path(os.environ.get("TRAINYARD_TEST_DATA", ROOT.parent / "shared" / "data"))
        self.rows = {}
        self.libtorch = self.version_of_libtorch()

    def version_of_libtorch(self):
        # The doctor's verdict about the machine does not matter here.
        out = subprocess.run([self.trainyard, "doctor"], env=self.environment, capture_output=True, text=True).stdout
        return "LibTorch " + re.search(r"LibTorch\s+(\S+)", out).group(1)

    def row(self, what, figure, bar, reached):
        self.rows[what] = (figure, bar, "yes" if reached else "NO")
        print(f"{self.libtorch}: {what}: {figure} ({bar}: {'yes' if reached else 'NO'})", file=sys.stderr, flush=True)

    def skip(self, what, why):
        print(f"{self.libtorch}: {what}: skipped: {why}", file=sys.stderr, flush=True)

    def run(self, command, **options):
        done = subprocess.run(command, env=self.environment, cwd=self.work, capture_output=True, text=True, timeout=900, **options)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def bare(self, model, steps):
        """Microseconds per step of the loop written with LibTorch alone."""
        out = self.run([str(self.build / "tests" / "trainyard_benchmark_bare_loop"), model, str(steps), "1"])
        return json.loads(out.splitlines()[-1])["median_ns"] / 1000

    def has_compile(self):
        return subprocess.run([self.python, "-c", "import torch; torch.compile"], capture_output=True).returncode == 0

    def launched(self, launch_file, steps, overrides, under=()):
        """Microseconds per step of a launch: the median over the intervals between its reports, as the other sides report
        the median of their steps. The first tenth of the reports does not count."""
        folder = tempfile.mkdtemp(dir=self.work)
        self.run([*under, self.trainyard, "launch", str(ROOT / "launch" / "files" / launch_file), f"run.directory={folder}",
                  f"run.max_steps={steps}", "component.accelerator_host.params.accelerator={plugin=\"cpu\",threads=\"1\"}",
                  *overrides])
        reports = [json.loads(line) for line in open(f"{folder}/metrics.jsonl")]
        reports = [r for r in reports if r.get("kind") == "metrics" and r["stage"] == "train"]
        reports = reports[len(reports) // 10:]
        return statistics.median((b["time"] - a["time"]) * 1e6 / (b["step"] - a["step"]) for a, b in itertools.pairwise(reports))


def compare(bench, bare, ours):
    """Medians of both and the median of the ratios, taken in turn."""
    pairs = [(bare(), ours()) for _ in range(bench.rounds)]
    return (statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs),
            statistics.median(p[1] / p[0] for p in pairs), statistics.median(p[1] - p[0] for p in pairs))


# Noise alone, and too many samples to know by heart, so that the gradients do not vanish.
NOISE = ("component.data_loader.params.dataset={plugin=\"synthetic\",features=784,classes=10,separation=0.0,"
         "samples=10000000}")
MLP = ["component.optimizer.params.rule=adamw", NOISE]
GPT = [f"text={TEXT}", "run.validate_every_steps=0", "run.evaluate_at_start=false", "run.predict_at_end=false"]


ONE_CORE = ["taskset", "--cpu-list", "0"]


def reference_gpt(bench, text, *options):
    """Runs the same training with PyTorch alone (reference_gpt.py) on one core, and returns its results."""
    command = [*ONE_CORE, bench.python, str(ROOT / "tests/benchmarks/reference_gpt.py"), str(text), *options]
    return json.loads(bench.run(command).splitlines()[-1])


def shakespeare_text(bench):
    text = bench.data / "tinyshakespeare" / "input.txt"
    return text if text.exists() else None


def gpt_step(bench):
    steps = 300
    bare, ours, ratio, _ = compare(bench, lambda: bench.bare("gpt", steps),
                                   lambda: bench.launched("shakespeare_char.toml", steps, GPT))
    bench.row("GPT step, composed", f"{ours / 1000:.1f} ms, bare {bare / 1000:.1f} ms: {ratio:.2f}", "<= 1.00 of bare", ratio <= 1)


def gpt_pytorch(bench):
    """Compares a step on one core with the faster variant of PyTorch: eager or, if there is torch.compile, compiled."""
    text = shakespeare_text(bench)
    if bench.python is None or text is None:
        bench.skip("GPT step, PyTorch", "no python3 with torch and numpy, or no tiny Shakespeare")
        return
    steps = "400"
    variants = {"eager": []}
    if bench.has_compile():
        variants["compiled"] = ["--compile"]
    rounds = []
    for _ in range(bench.rounds):
        theirs = {name: reference_gpt(bench, text, "--steps", steps, "--only-steps", *options)["step_ms"]
                  for name, options in variants.items()}
        rounds.append((theirs, bench.launched("shakespeare_char.toml", int(steps), [f"text={text}", *GPT[1:]], ONE_CORE) / 1000))
    ours = statistics.median(r[1] for r in rounds)
    theirs = ", ".join(f"{name} {statistics.median(r[0][name] for r in rounds):.1f} ms" for name in variants)
    ratio = statistics.median(r[1] / min(r[0].values()) for r in rounds)
    bench.row("GPT step, one core, PyTorch", f"{ours:.1f} ms, PyTorch {theirs}: {ratio:.2f} of the better", "<= 0.80", ratio <= 0.8)


def gpt_bfloat16(bench):
    """Measures how much faster bf16-mixed is than 32-true, on one core."""
    steps = 400
    text = shakespeare_text(bench) or TEXT
    launch = [f"text={text}", *GPT[1:]]

    def step(precision):
        return bench.launched("shakespeare_char.toml", steps, [*launch, f"precision={precision}"], ONE_CORE)

    wide, narrow, ratio, _ = compare(bench, lambda: step("32-true"), lambda: step("bf16-mixed"))
    gain = 1 / ratio
    bench.row("GPT, bf16-mixed against 32-true", f"{narrow / 1000:.1f} ms, 32-true {wide / 1000:.1f} ms: {gain:.2f} x the tokens/s",
              ">= 1.7 x where the processor has AVX512-BF16", gain >= 1.7)


def mlp_step(bench):
    steps = 6000
    bare, ours, ratio, _ = compare(bench, lambda: bench.bare("mlp", steps), lambda: bench.launched("mlp.toml", steps, MLP))
    bench.row("MLP step, composed", f"{ours:.0f} us, bare {bare:.0f} us: {ratio:.2f}", "<= 1.05 of bare", ratio <= 1.05)


def mlp_processes(bench):
    steps = 6000
    bare, ours, _, extra = compare(bench, lambda: bench.bare("mlp", steps),
                                   lambda: bench.launched("mlp.toml", steps, MLP + ["placement=processes"]))
    bench.row("MLP step, a process per component", f"{ours:.0f} us, bare {bare:.0f} us: +{extra:.0f} us", "<= bare + 100 us",
              extra <= 100)


def python_with_torch():
    return next((p for p in (sys.executable, "/usr/bin/python3")
                 if subprocess.run([p, "-c", "import torch, numpy"], capture_output=True).returncode == 0), None)


def ranks(bench):
    """ddp over two processes, 64 samples each, against PyTorch's DistributedDataParallel over Gloo, in turn. Once with both sides
    flushing denormal numbers, once with both as they come: then only Trainyard flushes them."""
    if bench.python is None:
        bench.skip("ddp, two ranks", "no python3 with torch and numpy")
        return
    cases = [(hidden, steps, bar, how) for hidden, steps, bar in (((128,), 4000, 4.0), ((2048, 2048), 150, 1.5))
             for how in ("both flushing denormals", "as they come")]
    for hidden, steps, bar, how in cases:
        widths = "-".join(map(str, (784, *hidden, 10)))

        def reference():
            denormals = "keep" if how == "as they come" else "flush"
            command = [bench.python, str(ROOT / "tests/benchmarks/reference_ddp.py"), "2", str(max(steps // 4, 100)), denormals,
                       *map(str, hidden)]
            return json.loads(bench.run(command).splitlines()[-1])["steps_per_second"]

        def ours():
            model = f"component.accelerator_host.params.model={{plugin=\"mlp\",hidden={list(hidden)}}}"
            return 1e6 / bench.launched("mlp.toml", steps, [*MLP, model, "devices=2", "strategy=ddp", "placement=ranks"])

        theirs, mine, ratio, _ = compare(bench, reference, ours)
        bench.row(f"ddp, 2 ranks, MLP {widths}, {how}", f"{mine:.0f} steps/s, PyTorch {theirs:.0f}: {ratio:.2f}",
                  f">= {bar:.1f} of PyTorch", ratio >= bar)


def messages(bench):
    runs = []
    for _ in range(bench.rounds):
        out = bench.run([str(bench.build / "tests" / "trainyard_benchmark_messages")])
        runs.append({m["name"]: m["median_ns"] / 1000 for m in map(json.loads, out.splitlines())})
    mid = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    small = statistics.median(r["message_8B"] / r["raw_zmq_8B"] for r in runs)
    big = statistics.median(r["message_40MB_tensor"] / r["message_8B"] for r in runs)
    bench.row("hop on one thread", f"{mid['hop_one_thread']:.2f} us", "<= 1 us", mid["hop_one_thread"] <= 1)
    watched = mid["hop_one_thread_watched"]
    bench.row("hop on one thread, watched", f"{watched:.2f} us", "<= 1 us", watched <= 1)
    recorded = mid["hop_one_thread_recorded"]
    bench.row("hop on one thread, recorded as spans", f"{recorded:.2f} us", "<= 1 us", recorded <= 1)
    bench.row("8 B between processes", f"{mid['message_8B']:.1f} us, raw libzmq {mid['raw_zmq_8B']:.1f} us: {small:.2f}",
              "<= 1.5 x raw", small <= 1.5)
    bench.row("40 MB tensor between processes", f"{mid['message_40MB_tensor']:.1f} us: {big:.2f} of 8 B", "<= 2 x 8 B", big <= 2)


def start(bench):
    times = []
    for _ in range(bench.rounds + 1):
        folder = tempfile.mkdtemp(dir=bench.work)
        began = time.time()
        bench.run([bench.trainyard, "launch", str(ROOT / "launch/files/mlp.toml"), f"run.directory={folder}", "run.max_steps=1",
                   "component.accelerator_host.params.log_every_steps=1"])
        first = [json.loads(line) for line in open(f"{folder}/metrics.jsonl")]
        times.append(min(r["time"] for r in first if r.get("stage") == "train") - began)
    took = statistics.median(times[1:])  # The first one fills the plugin cache.
    bench.row("launch to the first finished step, MLP", f"{took:.2f} s (first ever: {times[0]:.2f} s)", "<= 1 s", took <= 1)


def logger_memory(bench):
    command = [bench.trainyard, "launch", str(ROOT / "launch/files/mlp.toml"), "placement=processes", "run.max_steps=1000000",
               f"run.directory={bench.work}/memory"]
    run = subprocess.Popen(command, env=bench.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.time() + 30
        while not os.path.exists(f"{bench.work}/memory/metrics_train.csv") and time.time() < deadline:
            time.sleep(0.05)
        nodes = json.loads(bench.run([bench.trainyard, "node", "list", "--json"]))
        pid = next(n["pid"] for n in nodes if n["component"] == "logger")
        status = open(f"/proc/{pid}/status").read()
        resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
    finally:
        run.send_signal(signal.SIGINT)
        run.wait(timeout=30)
    bench.row("resident memory of the logger's process", f"{resident:.1f} MB", "<= 25 MB", resident <= 25)


def rebuild(bench):
    times = []
    for plugin in ("models/mlp/mlp.cpp", "models/gpt/gpt.cpp", "components/optimizer/optimizer.cpp"):
        os.utime(ROOT / plugin)
        began = time.time()
        subprocess.run(["cmake", "--build", str(bench.build)], env=dict(os.environ, CCACHE_DISABLE="1"), check=True,
                       stdout=subprocess.DEVNULL)
        times.append((time.time() - began, plugin))
    worst, plugin = max(times)
    bench.row("rebuild after touching a plugin", f"{worst:.1f} s at worst ({plugin})", "<= 25 s", worst <= 25)


def shakespeare(bench):
    """The whole of launch/files/shakespeare_char.toml against the same training by PyTorch, on one core, in turn."""
    text = shakespeare_text(bench)
    if bench.python is None or text is None:
        bench.skip("tiny Shakespeare, 2000 steps", "no python3 with torch and numpy, or no tiny Shakespeare")
        return

    def ours():
        folder = tempfile.mkdtemp(dir=bench.work)
        began = time.time()
        bench.run([*ONE_CORE, bench.trainyard, "launch", str(ROOT / "launch/files/shakespeare_char.toml"), f"text={text}",
                   f"run.directory={folder}", "run.predict_at_end=false",
                   "component.accelerator_host.params.accelerator={plugin=\"cpu\",threads=\"1\"}"])
        seconds = time.time() - began  # Of the whole command, the start of its processes included.
        reports = [json.loads(line) for line in open(f"{folder}/metrics.jsonl")]
        last = [r for r in reports if r.get("kind") == "metrics" and r["stage"] == "validate"][-1]
        return {"seconds": seconds, "validate": last["values"]["loss"]}

    pairs = [(reference_gpt(bench, text), ours()) for _ in range(min(bench.rounds, 3))]
    middle = lambda side, key: statistics.median(p[side][key] for p in pairs)  # noqa: E731
    ratio = statistics.median(p[1]["seconds"] / p[0]["seconds"] for p in pairs)
    bench.row("tiny Shakespeare, 2000 steps", f"{middle(1, 'seconds'):.1f} s, PyTorch {middle(0, 'seconds'):.1f} s: {ratio:.2f}",
              "<= 0.75 of PyTorch", ratio <= 0.75)
    loss = middle(1, "validate")
    bench.row("validation loss of tiny Shakespeare", f"{loss:.3f}, PyTorch {middle(0, 'validate'):.3f}", "1.88 +- 0.06", abs(loss - 1.88) <= 0.06)


def print_table(benches):
    """Prints a row for each measurement, with a column for each LibTorch."""
    print(f"| what ({os.cpu_count()} cores, medians of {benches[0].rounds}) | {' | '.join(b.libtorch for b in benches)} | bar | reached |")
    print("|---" * (len(benches) + 3) + "|")
    for what in dict.fromkeys(what for bench in benches for what in bench.rows):
        cells = [bench.rows.get(what, ("", "", "")) for bench in benches]
        bar = next(cell[1] for cell in cells if cell[1])
        reached = list(dict.fromkeys(cell[2] for cell in cells if cell[2]))
        verdict = reached[0] if len(reached) == 1 else ", ".join(cell[2] or "-" for cell in cells)
        print(f"| {what} | {' | '.join(cell[0] for cell in cells)} | {bar} | {verdict} |")


def main():
    benchmarks = [messages, mlp_step, mlp_processes, gpt_step, gpt_pytorch, gpt_bfloat16, ranks, shakespeare, start,
                  logger_memory, rebuild]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", help="a build with tests; by default build/release")
    parser.add_argument("--python", action="append", help="a Python with PyTorch and numpy; by default the first that is found")
    parser.add_argument("--blas-kernels", help="OPENBLAS_CORETYPE for both sides, where OpenBLAS does not know the processor")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side")
    parser.add_argument("--only", choices=[b.__name__ for b in benchmarks], nargs="+", help="some of them")
    arguments = parser.parse_args()
    builds = arguments.build or ["build/release"]
    pythons = arguments.python or [python_with_torch()] * len(builds)
    if len(pythons) != len(builds):
        sys.exit(f"{len(builds)} builds and {len(pythons)} Pythons were given; each build needs one")
    benches = [Bench(build, python, arguments) for build, python in zip(builds, pythons)]
    for each in benchmarks:
        if arguments.only is None or each.__name__ in arguments.only:
            for bench in benches:
                each(bench)
    print_table(benches)


if __name__ == "__main__":
    main()
