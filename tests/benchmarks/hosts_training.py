#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on two hosts of a lab (tests/lab), each with one core of this machine, and prints what the network costs.

    python3 tests/benchmarks/hosts_training.py --build build/release ddp [--rate 10gbit] [--rounds 5]
    python3 tests/benchmarks/hosts_training.py --build build/release diloco [--rate 50mbit] [--rounds 3] \\
        [--overlap-steps 20] [--compression bf16]

ddp: steps per second of the strategy ddp, encrypted, beside PyTorch's DistributedDataParallel over Gloo, on the perceptron
784-2048-2048-10, with the links limited to the rate. diloco: steps per second of the small GPT with an exchange every 100
steps, with the links limited and without a limit. --overlap-steps and --compression are parameters of the strategy. The two
sides run in turn; figures are medians over the rounds, ratios
the medians of the rounds' ratios. Needs root, two cores with nothing else to do, and for ddp a /usr/bin/python3 with torch.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHARED = ["component.checkpoint_writer.when=false", "component.logger.params.console=off", "run.log_level=warning",
          "nodes=2", "devices=1"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("what", choices=("ddp", "diloco"))
    parser.add_argument("--rate", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--overlap-steps", type=int, default=0)
    parser.add_argument("--compression", default="none")
    return parser.parse_args()


GIVEN = parse()
BUILD = pathlib.Path(GIVEN.build).resolve()
os.environ.update(TRAINYARD_PROGRAM=str(BUILD / "bin/trainyard"), TRAINYARD_BUILD=str(BUILD), OMP_NUM_THREADS="1",
                  OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, str(HERE.parent / "lab"))
sys.dont_write_bytecode = True
from lab import Lab  # noqa: E402
from launches import Launch, write_key  # noqa: E402


class OnACore(Launch):
    """A launch whose processes all run on the core of its host."""

    def __init__(self, lab, number, arguments):
        super().__init__(lab, number, ["-c", str(number), os.environ["TRAINYARD_PROGRAM"], *arguments], program="taskset")


def steps_per_second(launch, skipped):
    """From the times at which the logger got the reports of steps."""
    path = next(launch.folder.glob("runs/*/metrics.jsonl"))
    reports = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    times = [(one["step"], one["time"]) for one in reports if one.get("stage") == "train" and one["step"] >= skipped]
    return (times[-1][0] - times[0][0]) / (times[-1][1] - times[0][1])


def train(lab, arguments, skipped):
    launches = [OnACore(lab, number, [*arguments, *SHARED]) for number in range(2)]
    codes = [launch.end(600) for launch in launches]
    if codes != [0, 0]:
        sys.exit("\n".join(launch.output() for launch in launches))
    return steps_per_second(launches[0], skipped)


def limit(lab, rate):
    for host in lab.hosts:
        host.set_rate(rate)


def ours(lab, steps):
    return train(lab, ["launch", "mlp.toml", "component.accelerator_host.params.model={plugin='mlp', hidden=[2048, 2048]}",
                       f"max_steps={steps}", "run.validate_every_epochs=0", "strategy=ddp"], steps // 10)


def theirs(lab, steps):
    command = ["/usr/bin/python3", str(HERE / "reference_ddp.py"), "--meet", "tcp://10.77.0.1:29511", "--interface", "eth0", "2",
               str(steps), "flush", "2048", "2048"]
    ranks = [lab.hosts[rank].start(["taskset", "-c", str(rank), *command, "--rank", str(rank)], stdout=subprocess.PIPE)
             for rank in range(2)]
    printed = [rank.communicate(timeout=600)[0] for rank in ranks]
    return json.loads(printed[0])["steps_per_second"]


def gpt(lab, steps):
    text = lab.shared / "text.txt"
    if not text.exists():  # Any text does: only the time counts.
        text.write_text("".join(path.read_text(errors="replace") for path in sorted(HERE.glob("*.py"))) * 4, encoding="utf-8")
    return train(lab, ["launch", "shakespeare_char.toml", f"text=/mnt/{text.name}", f"steps={steps}",
                       "run.evaluate_at_start=false", "run.validate_every_steps=0", "run.predict_at_end=false",
                       f"strategy={{plugin='diloco', every_steps=100, overlap_steps={GIVEN.overlap_steps}, "
                       f"compression='{GIVEN.compression}'}}"], steps // 10)


def main():
    with Lab(hosts=2, visible=[BUILD, HERE]) as lab:
        write_key(lab)
        rows = []
        for _ in range(GIVEN.rounds):
            if GIVEN.what == "ddp":
                limit(lab, "" if GIVEN.rate == "none" else GIVEN.rate or "10gbit")
                rows.append((ours(lab, GIVEN.steps or 150), theirs(lab, GIVEN.steps or 150)))
            else:
                limit(lab, GIVEN.rate or "50mbit")
                limited = gpt(lab, GIVEN.steps or 500)
                limit(lab, "")
                rows.append((limited, gpt(lab, GIVEN.steps or 500)))
            print(json.dumps(rows[-1]), flush=True)
    names = ("trainyard", "pytorch") if GIVEN.what == "ddp" else ("limited", "unlimited")
    figures = {name: statistics.median(row[side] for row in rows) for side, name in enumerate(names)}
    print(json.dumps({**figures, "ratio": statistics.median(a / b for a, b in rows)}))


if __name__ == "__main__":
    main()
