#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills processes of trainings at random moments, resumes the trainings, and compares the final weights.

    python3 tests/soak/kill_schedule.py --build build/release [--kills 60] [--seed 1] [--layout NAME ...] [--only K] [--keep]

Each layout (1 and 2 ranks, ddp and zero1, several placements) trains a small GPT with dropout and several workers once
without a fault. Then SIGKILL, SIGSEGV or SIGSTOP hits one process of such a training (the guard, the launcher or a process
with components) at a random moment, and the training is resumed until it is complete. After every kill it checks that

- the final weights and the optimizer's state are the same bits as without the kill,
- no innocent process crashed,
- the end of the killed run says who and why,
- nothing is left behind: no process, no run directory, no shared memory, no unfinished file.

It prints a line for each kill and returns 1 if anything was found. `--only K` repeats kill number K of the same seed.
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TRAINING = """
include = ["standard.toml"]
[run]
name = "soak"
max_steps = {steps}
validate_every_epochs = 0
checkpoint_every_steps = 10
progress_timeout_s = {patience}
[topology]
devices = {ranks}
strategy = "{strategy}"
placement = "{placement}"
[component.data_loader.params]
dataset = {{ plugin = "text", path = "{text}", context = 32 }}
batch_size = 4
workers = 2
[component.accelerator_host.params]
accelerator = {{ plugin = "cpu", threads = "1" }}
model = {{ plugin = "gpt", layers = 2, heads = 2, width = 32, dropout = 0.2 }}
log_every_steps = 5
[component.logger.params]
console = "off"
tensorboard = false
"""

LAYOUTS = {
    "one-composed": dict(ranks=1, strategy="single_device", placement="composed"),
    "one-processes": dict(ranks=1, strategy="single_device", placement="processes"),
    "ddp-ranks": dict(ranks=2, strategy="ddp", placement="ranks"),
    "ddp-processes": dict(ranks=2, strategy="ddp", placement="processes"),
    "zero1-ranks": dict(ranks=2, strategy="zero1", placement="ranks"),
    "zero1-processes": dict(ranks=2, strategy="zero1", placement="processes"),
}
SIGNALS = [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP]
PATIENCE_S = 4
DEADLINE_S = 120


def processes():
    """The session, the parent and the command line of every living process, by pid."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2:].split()
        if fields[0] != "Z":
            found[int(entry)] = dict(parent=int(fields[1]), session=int(fields[3]), words=words)
    return found


class Training:
    """A launch in a separate session."""

    def __init__(self, soak, layout, folder, resume):
        self.soak = soak
        self.output = open(folder.with_suffix(".log"), "ab+")
        self.start = self.output.seek(0, os.SEEK_END)
        file = folder.with_suffix(".toml")
        file.write_text(TRAINING.format(steps=soak.steps, patience=PATIENCE_S, text=soak.text, **LAYOUTS[layout]))
        command = [soak.trainyard, "launch", str(file), f"run.directory={folder}"]
        if resume:
            command.append("component.checkpoint_writer.params.resume=last")
        self.process = subprocess.Popen(command, env=soak.environment, cwd=soak.work, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=self.output, start_new_session=True)

    def members(self):
        """The processes of the run by name: guard, launcher, and those with components."""
        found = {"guard": self.process.pid}
        for pid, each in processes().items():
            if each["session"] != self.process.pid:
                continue
            if each["parent"] == self.process.pid:
                found["launcher"] = pid
            elif "--process" in each["words"]:
                found[each["words"][each["words"].index("--process") + 1]] = pid
        return found

    def wait(self):
        """The exit code; None if the run does not end."""
        try:
            return self.process.wait(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            pass
        # Nobody is left to wake a guard that was stopped after the end of its run.
        if set(self.members()) == {"guard"} and re.search(r"trainyard: run (failed|finished|ended): ", self.said()):
            os.kill(self.process.pid, signal.SIGCONT)
            return self.process.wait(timeout=DEADLINE_S)
        return None

    def said(self):
        self.output.seek(self.start)
        return self.output.read().decode(errors="replace")

    def left_behind(self):
        """The processes of the run that are still there, when they have had a moment to go."""
        until = time.monotonic() + 10
        while True:
            left = [pid for pid, each in processes().items() if each["session"] == self.process.pid]
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.01)

    def end(self):
        for pid in self.left_behind():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.output.close()


class Soak:
    """The paths that the test needs, and the problems that were found."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.trainyard = str(pathlib.Path(arguments.build).resolve() / "bin" / "trainyard")
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-soak-"))
        self.text = arguments.text
        self.steps = arguments.steps
        self.environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", XDG_RUNTIME_DIR=str(self.work))
        self.references = {}
        self.findings = 0

    def weights(self, folder):
        """The hashes of the files of the final checkpoint; nothing if there is none."""
        checkpoint = folder / "checkpoints" / f"step-{self.steps:08d}"
        return {name: hashlib.sha256((checkpoint / name).read_bytes()).hexdigest()
                for name in ("model.safetensors", "optimizer.safetensors") if (checkpoint / name).exists()}

    def reference(self, layout):
        """What the training ends with when nobody disturbs it, and how long that takes."""
        if layout not in self.references:
            folder = self.work / f"{layout}-reference"
            begin = time.monotonic()
            training = Training(self, layout, folder, resume=False)
            code = training.wait()
            if code != 0:
                sys.exit(f"{layout}: the training without a fault ended with {code}:\n{training.said()}")
            self.references[layout] = (self.weights(folder), time.monotonic() - begin)
            training.end()
        return self.references[layout]

    def checkpoints(self, folder):
        return list(folder.glob("checkpoints/step-*/manifest.json"))

    def judge_end(self, victim, number, code, training):
        """What is wrong with the end of the run that was hit."""
        found = []
        said = training.said()
        lines = [line for line in said.splitlines() if line.startswith("trainyard: ")]
        if code is None:
            return [f"the run did not end within {DEADLINE_S} s"]
        last = lines[-1] if lines else ""
        if not re.match(r"trainyard: run (failed|finished|ended): .+", last):
            found.append(f"the end does not say why: '{last}'")
        if code != 0 and "run finished" in said:
            found.append(f"'run finished' with exit code {code}")
        if code == 0 and number != signal.SIGSTOP and "run finished" not in last:
            found.append("exit code 0 without a finished run")
        if "run failed" in last and victim not in ("guard", "launcher") and f"'{victim}'" not in said:
            found.append(f"the end does not name '{victim}': '{last}'")
        for line in lines:
            crash = re.search(r"process '([^']+)'.* was killed by signal (\d+)", line)
            if crash and crash[1] != victim:
                found.append(f"an innocent process crashed: {line}")
        return found

    def judge_remains(self, folder, training):
        found = [f"process {pid} is left" for pid in training.left_behind()]
        runs = list(self.work.glob(f"trainyard-{os.getuid()}/*"))
        found += [f"the run directory {run} is left" for run in runs]
        found += [f"{file} is left" for file in folder.glob("run.lock")]
        shared = [name for name in os.listdir("/dev/shm") if "trainyard" in name]
        return found + [f"/dev/shm/{name} is left" for name in shared]

    def kill(self, k):
        """One kill and the resume after it. Returns what was found."""
        draw = random.Random(f"{self.arguments.seed}/{k}")
        names = self.arguments.layout or sorted(LAYOUTS)
        layout = names[k % len(names)]
        number = draw.choice(SIGNALS)
        weights, duration = self.reference(layout)
        folder = self.work / f"kill-{k}"
        training = Training(self, layout, folder, resume=False)
        moment = draw.uniform(0.1, duration)
        time.sleep(moment)
        members = training.members()
        victim = draw.choice(sorted(members))
        try:
            os.kill(members[victim], number)
        except ProcessLookupError:
            pass  # The run has just ended.
        code = training.wait()
        remains = self.judge_remains(folder, training)  # First, because a launcher outlives a guard that is killed.
        found = self.judge_end(victim, number, code, training) + remains
        training.end()
        before = len(self.checkpoints(folder))
        found += self.resume(layout, folder, weights)
        print(f"{'FOUND' if found else 'ok':5} {k:3} {layout:16} {number.name:8} {victim:20} after {moment:5.2f} of "
              f"{duration:5.2f} s, exit {code}, {before} checkpoints", flush=True)
        for what in found:
            print(f"      {what}", flush=True)
        if not found and not self.arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return found

    def resume(self, layout, folder, weights):
        """Continues the training to its end, from the beginning if it has no checkpoint."""
        resumed = Training(self, layout, folder, resume=bool(self.checkpoints(folder)))
        code = resumed.wait()
        found = []
        if code != 0:
            found.append(f"the resumed run ended with {code}:\n{resumed.said()[-2000:]}")
        elif self.weights(folder) != weights or len(weights) != 2:
            found.append("the final weights differ")
        found += [f"{file} is left" for file in folder.glob("checkpoints/.tmp-*")]
        found += self.judge_remains(folder, resumed)
        resumed.end()
        return found

    def run(self):
        only = self.arguments.only
        kills = range(self.arguments.kills) if only is None else [only]
        bad = sum(bool(self.kill(k)) for k in kills)
        print(f"{len(kills) - bad} of {len(kills)} kills without a finding")
        if bad or self.arguments.keep:
            print(f"the logs are in {self.work}")
        else:
            shutil.rmtree(self.work, ignore_errors=True)
        return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--steps", type=int, default=200, help="steps of a training")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="repeat this kill alone")
    parser.add_argument("--layout", action="append", choices=sorted(LAYOUTS), help="only these layouts")
    parser.add_argument("--text", default="/usr/share/common-licenses/GPL-3", help="the text to learn from")
    parser.add_argument("--keep", action="store_true", help="keep all logs and checkpoints")
    return Soak(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
