#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on two hosts of a lab (tests/lab), each with one core of this machine, and prints what the network costs.

    python3 tests/benchmarks/hosts_training.py --build build/release ddp [--rate 10gbit] [--rounds 3]
    python3 tests/benchmarks/hosts_training.py --build build/release diloco [--rate 50mbit] [--rounds 10] \\
        [--overlap-steps 20] [--compression bf16]

ddp: steps per second of the strategy ddp, encrypted, beside PyTorch's DistributedDataParallel over Gloo, on the perceptron
784-2048-2048-10, with the links limited to the rate. The two sides run in turn.

diloco: steps per second of the small GPT with an exchange every 100 steps. A round is 200 steps of one run: 100 with the
links limited to the rate and 100 without a limit, each with one exchange, because two runs of the same program differ by
more than what is measured. --overlap-steps and --compression are parameters of the strategy.

Figures are medians over the rounds, and ratios the medians of the rounds' ratios. Needs root, two cores with nothing else to
do, and for ddp a /usr/bin/python3 with torch.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SHARED = ["component.checkpoint_writer.when=false", "component.logger.params.console=off", "run.log_level=warning",
          "nodes=2", "devices=1"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("what", choices=("ddp", "diloco"))
    parser.add_argument("--rate", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=150, help="of ddp")
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


def reports(launch):
    """The numbers of the training steps that the logger has got reports of, and the times at which it got them."""
    lines = [line for path in launch.folder.glob("runs/*/metrics.jsonl")
             for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    return [(one["step"], one["time"]) for one in map(json.loads, lines) if one.get("stage") == "train"]


def steps_per_second(times, begin, end):
    inside = [one for one in times if begin <= one[0] <= end]
    return (inside[-1][0] - inside[0][0]) / (inside[-1][1] - inside[0][1])


def end(launches):
    if [launch.end(600) for launch in launches] != [0, 0]:
        sys.exit("\n".join(launch.output() for launch in launches))


def train(lab, arguments):
    return [OnACore(lab, number, [*arguments, *SHARED]) for number in range(2)]


def limit(lab, rate):
    for host in lab.hosts:
        host.set_rate(rate)


def ours(lab, steps):
    launches = train(lab, ["launch", "mlp.toml", "component.accelerator_host.params.model={plugin='mlp', hidden=[2048, 2048]}",
                           f"max_steps={steps}", "run.validate_every_epochs=0", "strategy=ddp"])
    end(launches)
    return steps_per_second(reports(launches[0]), steps // 10, steps)


def theirs(lab, steps):
    command = ["/usr/bin/python3", str(HERE / "reference_ddp.py"), "--meet", "tcp://10.77.0.1:29511", "--interface", "eth0", "2",
               str(steps), "flush", "2048", "2048"]
    ranks = [lab.hosts[rank].start(["taskset", "-c", str(rank), *command, "--rank", str(rank)], stdout=subprocess.PIPE)
             for rank in range(2)]
    printed = [rank.communicate(timeout=600)[0] for rank in ranks]
    return json.loads(printed[0])["steps_per_second"]


def gpt(lab, rounds):
    """Steps per second of each round, with the limit and without."""
    text = lab.shared / "text.txt"
    # Any text does: only the time counts.
    text.write_text("".join(path.read_text(errors="replace") for path in sorted(HERE.glob("*.py"))) * 4, encoding="utf-8")
    # The limit changes in the middle between two exchanges, when nothing is sent. The first 150 steps do not count.
    changes = [150 + 100 * number for number in range(2 * rounds + 1)]
    launches = train(lab, ["launch", "shakespeare_char.toml", f"text=/mnt/{text.name}", f"steps={changes[-1] + 10}",
                           "run.evaluate_at_start=false", "run.validate_every_steps=0", "run.predict_at_end=false",
                           f"strategy={{plugin='diloco', every_steps=100, overlap_steps={GIVEN.overlap_steps}, "
                           f"compression='{GIVEN.compression}'}}"])
    for number, change in enumerate(changes):
        while max((step for step, _ in reports(launches[0])), default=0) < change:
            if launches[0].process.poll() is not None:
                end(launches)
                sys.exit(f"the run ended before step {change}")
            time.sleep(0.1)
        limit(lab, "" if number % 2 else GIVEN.rate or "50mbit")
    end(launches)
    times = reports(launches[0])
    speeds = [steps_per_second(times, change, change + 100) for change in changes[:-1]]
    return list(zip(speeds[::2], speeds[1::2]))


def main():
    with Lab(hosts=2, visible=[BUILD, HERE]) as lab:
        write_key(lab)
        if GIVEN.what == "ddp":
            limit(lab, "" if GIVEN.rate == "none" else GIVEN.rate or "10gbit")
            rows = [(ours(lab, GIVEN.steps), theirs(lab, GIVEN.steps)) for _ in range(GIVEN.rounds)]
        else:
            rows = gpt(lab, GIVEN.rounds)
    for row in rows:
        print(json.dumps(row))
    names = ("trainyard", "pytorch") if GIVEN.what == "ddp" else ("limited", "unlimited")
    figures = {name: statistics.median(row[side] for row in rows) for side, name in enumerate(names)}
    print(json.dumps({**figures, "ratio": statistics.median(a / b for a, b in rows)}))


if __name__ == "__main__":
    main()
