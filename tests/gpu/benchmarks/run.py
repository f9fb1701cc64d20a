#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures training on a GPU: Trainyard in one process and in several, a loop written with LibTorch alone, and PyTorch.

    python3 tests/gpu/benchmarks/run.py --build build/gpu/build [--rounds 3] [--only NAME]

All programs train the same model with the same batch size and precision on the same GPU, one after another, in every round.
The figures are medians. --python names a Python with PyTorch.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]

GPTS = {  # layers, heads, width, context, vocabulary, batch, precision
    "GPT 124M, bf16-mixed": (12, 12, 768, 1024, 50304, 16, "bf16-mixed"),
    "small GPT, 32-true": (4, 4, 128, 64, 65, 12, "32-true"),
}
RESNET = (224, 1000, 256, "bf16-mixed")  # size, classes, batch, precision


class Failed(Exception):
    """A program that is measured has failed; the text has what it printed."""


class Bench:
    def __init__(self, arguments):
        self.build = pathlib.Path(arguments.build).resolve()
        self.python = arguments.python
        self.rounds = arguments.rounds
        self.fast = arguments.fast
        self.placements = ("composed",) if arguments.skip_processes else ("composed", "processes")
        self.failed = False
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-gpu-bench-"))
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.work))
        self.environment.pop("OMP_NUM_THREADS", None)  # Every program may use all cores.

    def run(self, command):
        done = subprocess.run(command, env=self.environment, cwd=self.work, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def json_of(self, command):
        return json.loads(self.run(command).splitlines()[-1])

    def measure(self, programs):
        """Runs the programs in turn, in every round. One that fails is left out, and the benchmark fails in the end."""
        figures = {program: [] for program in programs}
        for _ in range(self.rounds):
            for program in list(figures):
                try:
                    figures[program].append(programs[program]())
                except Failed as failure:
                    print(f"{program}: {failure}", file=sys.stderr, flush=True)
                    self.failed = True
                    del figures[program]
        return figures

    def tokens(self, vocabulary):
        """A file of random tokens of a GPT."""
        path = self.work / f"tokens-{vocabulary}.bin"
        if not path.exists():
            numbers = [random.randrange(vocabulary) for _ in range(1 << 20)]
            path.write_bytes(struct.pack(f"<{len(numbers)}H", *numbers))
        return path

    def trainyard(self, dataset, batch, model, precision, clip, placement, steps, accelerator="{ plugin = \"cuda\" }"):
        """Milliseconds per step of a launch, between a report after its beginning and the last one."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        (folder / "bench.toml").write_text(f"""
include = ["{ROOT}/launch/files/standard.toml"]
[topology]
precision = "{precision}"
placement = "{placement}"
[run]
max_steps = {steps}
validate_every_epochs = 0
[component.data_loader.params]
dataset = {dataset}
batch_size = {batch}
sampling = "replacement"
workers = 4
[component.accelerator_host.params]
accelerator = {accelerator}
model = {model}
clip_norm = {clip}
[component.optimizer.params]
rule = "adamw"
lr = 1e-3
betas = [0.9, 0.99]
weight_decay = 0.1
weight_decay_on = "matrices"
[component.checkpoint_writer]
when = false
[component.logger.params]
console = "off"
tensorboard = false
""")
        self.run([self.build / "bin" / "trainyard", "launch", folder / "bench.toml", f"run.directory={folder}/out"])
        reports = [json.loads(line) for line in open(folder / "out" / "metrics.jsonl")]
        reports = [r for r in reports if r.get("kind") == "metrics" and r["stage"] == "train"]
        first, last = reports[len(reports) // 4], reports[-1]
        return (last["time"] - first["time"]) * 1000 / (last["step"] - first["step"])


def table(name, figures, per_step, unit):
    """One line for each program. `figures` has the milliseconds per step of every round."""
    base = figures.get("LibTorch alone", [])
    print(f"\n| {name} | ms per step | {unit} | of LibTorch alone |\n|---|---|---|---|")
    for program, times in figures.items():
        median = statistics.median(times)
        ratio = statistics.median(b / t for b, t in zip(base, times)) if base else float("nan")
        print(f"| {program} | {median:.2f} | {per_step / median * 1000:,.0f} | {ratio:.3f} |", flush=True)


def gpt(bench, name):
    layers, heads, width, context, vocabulary, batch, precision = GPTS[name]
    sizes = [str(x) for x in GPTS[name]]
    steps = 100 if width > 500 else 1000
    dataset = f'{{ plugin = "tokens", path = "{bench.tokens(vocabulary)}", vocabulary = {vocabulary}, context = {context} }}'
    model = f'{{ plugin = "gpt", layers = {layers}, heads = {heads}, width = {width} }}'
    programs = {"LibTorch alone": lambda: bench.json_of(
        [bench.build / "tests" / "trainyard_gpu_benchmark_bare_loop", "gpt", *sizes, str(steps // 3)])["step_ms"]}
    for placement in bench.placements:
        programs[f"Trainyard, {placement}"] = lambda placement=placement: bench.trainyard(
            dataset, batch, model, precision, 1.0, placement, steps)
    programs["Trainyard, composed, CUDA graphs"] = lambda: bench.trainyard(
        dataset, batch, model, precision, 1.0, "composed", steps, "{ plugin = \"cuda\", cuda_graphs = true }")
    script = str(ROOT / "tests/gpu/benchmarks/reference_gpt.py")
    programs["PyTorch"] = lambda: bench.json_of([bench.python, script, *sizes, "--steps", str(steps // 3)])["step_ms"]
    if not bench.fast:
        programs["PyTorch, compiled"] = lambda: bench.json_of(
            [bench.python, script, *sizes, "--steps", str(steps // 3), "--compile"])["step_ms"]
    figures = bench.measure(programs)
    table(name, figures, batch * context, "tokens/s")


def resnet(bench):
    size, classes, batch, precision = RESNET
    dataset = f'{{ plugin = "synthetic", shape = [3, {size}, {size}], classes = {classes}, samples = 100000 }}'
    steps = 100
    programs = {
        "LibTorch alone": lambda: bench.json_of([bench.build / "tests" / "trainyard_gpu_benchmark_bare_loop", "resnet18",
                                                 *map(str, RESNET), str(steps // 3)])["step_ms"],
        "Trainyard, composed": lambda: bench.trainyard(dataset, batch, '{ plugin = "resnet", layers = 18 }', precision, 0.0,
                                                       "composed", steps)}
    figures = bench.measure(programs)
    table("ResNet-18, bf16-mixed", figures, batch, "images/s")


def update(bench):
    found = bench.json_of([bench.build / "tests" / "trainyard_gpu_benchmark_update"])
    print(f"\noptimizer pass, AdamW, 124 M float32 parameters: {found['update_ms']:.3f} ms, {found['update_gb_s']:,.0f} GB/s; "
          f"a copy reaches {found['copy_gb_s']:,.0f} GB/s: {found['ratio']:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--fast", action="store_true", help="without torch.compile, which takes a minute to compile")
    parser.add_argument("--skip-processes", action="store_true", help="without the run in several processes")
    parser.add_argument("--only", choices=["update", "gpt", "small", "resnet"])
    arguments = parser.parse_args()
    bench = Bench(arguments)
    everything = {"update": lambda: update(bench), "gpt": lambda: gpt(bench, "GPT 124M, bf16-mixed"),
                  "small": lambda: gpt(bench, "small GPT, 32-true"), "resnet": lambda: resnet(bench)}
    for name, measure in everything.items():
        if arguments.only in (None, name):
            measure()
    sys.exit(bench.failed)


if __name__ == "__main__":
    main()
