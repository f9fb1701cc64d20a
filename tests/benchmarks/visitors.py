#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what programs that attach to a training can do to it: how long a client that keeps to the rules waits while
others do not, and how long memory and descriptors take to come back when they have gone. Needs pyzmq.

    python3 tests/benchmarks/visitors.py --build build/bench

Each attack meets a run of its own with a process for each component and batches of a megabyte. Prints one JSON object for
each attack: the 99th percentile of the good client's waits in milliseconds, what the run took at most beyond its own, and
the seconds until memory is back to within 32 MiB and descriptors to within 12.
"""
import argparse
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import zmq

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools/clients/python"))
import trainyard  # noqa: E402

LAUNCH = """
include = ["{source}/launch/files/standard.toml"]
[run]
name = "attacked"
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
[topology]
placement = "processes"
[component.data_loader.params]
dataset = {{ plugin = "synthetic", features = 4096, classes = 10, samples = 1000 }}
batch_size = 64
[component.accelerator_host.params]
accelerator = {{ plugin = "cpu", threads = "1" }}
model = {{ plugin = "mlp", hidden = [16] }}
log_every_steps = 1
[component.logger.params]
console = "off"
tensorboard = false
"""
SECONDS = 10  # How long an attack lasts.
LONGEST = 60  # How long what it took may take to come back.
SLACK_BYTES, SLACK_DESCRIPTORS = 32 << 20, 12


def text(value):
    return struct.pack("<I", len(value)) + value


def subscribe(subscription, topic, policy=b"drop_oldest", messages=1024, size=64 << 20, payloads=b"inline"):
    return [b"", b"Subscribe", struct.pack("<I", subscription) + text(topic) + struct.pack("<IQ", 0xFFFFFFFF, 0) +
            text(policy) + struct.pack("<QQ", messages, size) + text(payloads) + struct.pack("<I", 0)]


class Attack:
    """An attack: a list of connections that do not read."""

    def __init__(self, registry, gateway):
        self.context, self.registry, self.gateway, self.sockets = zmq.Context(), registry, gateway, []

    def connect(self, endpoint):
        socket = self.context.socket(zmq.DEALER)
        socket.linger, socket.rcvhwm, socket.sndhwm, socket.sndtimeo = 0, 1, 0, 0
        socket.connect(endpoint)
        self.sockets.append(socket)
        return socket

    def end(self):
        for socket in self.sockets:
            socket.close(0)
        self.context.term()

    # What each attack does in every round, until its time is over.

    def none(self, _):
        time.sleep(0.1)

    def endless_window(self, first):
        if first:
            for messages, size in ((2**64 - 1, 2**64 - 1), (1024, 64 << 20)):
                self.connect(self.gateway).send_multipart(subscribe(0, b"/batches", messages=messages, size=size))
        time.sleep(0.1)

    def two_hundred(self, first):
        for i in range(200 if first else 0):
            topic = (b"/batches", b"/metrics", b"/gradients")[i % 3]
            self.connect(self.gateway).send_multipart(subscribe(0, topic))
        time.sleep(0.1)

    def handles(self, first):
        if first:
            self.connect(self.gateway).send_multipart(subscribe(0, b"/batches", payloads=b"handle"))
        time.sleep(0.1)

    def subscriptions(self, first):
        socket = self.connect(self.gateway) if first else self.sockets[0]
        begin = 0 if first else self.next
        self.next = begin + 20_000
        for number in range(begin, self.next):
            socket.send_multipart(subscribe(number, b"/batches"))
        time.sleep(0.5)

    def malformed(self, first):
        for socket in [self.connect(self.gateway), self.connect(self.registry)] if first else self.sockets[:2]:
            for size in range(0, 3000, 3):
                socket.send_multipart([b"", b"Subscribe", b"\xff" * size])
        time.sleep(0.05)

    def large_frames(self, _):
        for endpoint in (self.gateway, self.registry):
            self.connect(endpoint).send_multipart([b"", b"Subscribe", b"x" * (512 << 20)])
        time.sleep(2)
        for socket in self.sockets:
            socket.close(0)
        self.sockets = []

    def unread_answers(self, first):
        for question in (b'{"id":1,"op":"topics"}',
                         b'{"id":1,"op":"call","target":"optimizer","method":"param.list"}') if first else ():
            socket = self.connect(self.registry)
            for _ in range(17_500):
                socket.send(question)
        time.sleep(0.1)


ATTACKS = [name for name in vars(Attack) if not name.startswith("_") and name not in ("connect", "end")]


def descendants(pid):
    found = [pid]
    for one in found:
        for task in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                pass
    return found[1:]


def taken(pid):
    """Bytes, shared pages once, and descriptors of a launch."""
    size = descriptors = 0
    for process in descendants(pid):
        try:
            for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    size += int(line.split()[1]) * 1024
            descriptors += len(os.listdir(f"/proc/{process}/fd"))
        except OSError:
            pass
    return size, descriptors


class GoodClient(threading.Thread):
    """A well-behaved client, which asks one question after another and records how long it waits for the answers."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_, self.waits, self.complaint, self.stopping = run, [], "", threading.Event()
        self.start()

    def run(self):
        try:
            while not self.stopping.is_set():
                begun = time.monotonic()
                if len(self.waits) % 2:
                    self.run_.call("optimizer", "param.list", timeout=30)
                else:
                    self.run_.request("run", timeout=30)
                self.waits.append(time.monotonic() - begun)
                time.sleep(0.005)
        except trainyard.TrainyardError as error:
            self.complaint = str(error)

    def end(self):
        self.stopping.set()
        self.join(40)
        waits = sorted(self.waits) or [float("inf")]
        return {"answers": len(self.waits), "p99_ms": round(waits[len(waits) * 99 // 100] * 1000, 1),
                "longest_ms": round(waits[-1] * 1000, 1), "complaint": self.complaint}


def steps_of(run):
    total = 0
    for process in run.request("call", method="counters", timeout=30).values():
        total += sum(edge["sent"] for edge in process.get("edges", []) if edge["topic"] == "/metrics")
    return total


def attack_once(name, launch, run):
    gateway, = run.endpoints("/batches")
    # A first slow visitor makes outputs keep more messages for reuse; what is measured is what the next ones take.
    warm_up = Attack(run.registry, gateway)
    warm_up.connect(gateway).send_multipart(subscribe(0, b"/batches"))
    while steps_of(run) < 3000:
        time.sleep(0.05)
    warm_up.end()
    time.sleep(5)
    before, client = taken(launch.pid), GoodClient(trainyard.find_run())
    attack, most, first = Attack(run.registry, gateway), before, True
    began, steps = time.monotonic(), steps_of(run)
    while time.monotonic() - began < SECONDS:
        getattr(attack, name)(first)
        first = False
        now = taken(launch.pid)
        most = max(most[0], now[0]), max(most[1], now[1])
    rate = (steps_of(run) - steps) / (time.monotonic() - began)
    attack.end()
    ended = time.monotonic()
    while True:
        now = taken(launch.pid)
        back = now[0] < before[0] + SLACK_BYTES and now[1] < before[1] + SLACK_DESCRIPTORS
        if back or time.monotonic() - ended > LONGEST:
            break
        time.sleep(0.05)
    return {"name": name, **client.end(), "most_mib": (most[0] - before[0]) >> 20,
            "most_descriptors": most[1] - before[1], "back_s": round(time.monotonic() - ended, 2) if back else None,
            "left_mib": (now[0] - before[0]) >> 20, "steps_per_s": round(rate)}


def main():
    parser = argparse.ArgumentParser(description="Attacks on a running training.")
    parser.add_argument("--build", default="build/bench")
    parser.add_argument("attacks", nargs="*", default=ATTACKS, metavar="ATTACK", help=f"some of: {', '.join(ATTACKS)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.attacks) - set(ATTACKS):
        parser.error(f"no attack {', '.join(sorted(unknown))}; there are: {', '.join(ATTACKS)}")
    program = pathlib.Path(arguments.build).resolve() / "bin/trainyard"
    for name in arguments.attacks:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_RUNTIME_DIR"] = folder
            pathlib.Path(folder, "attacked.toml").write_text(LAUNCH.format(source=SOURCE), encoding="utf-8")
            with open(f"{folder}/output", "w+", encoding="utf-8") as output:
                launch = subprocess.Popen([program, "launch", "attacked.toml"], cwd=folder, stdout=output,
                                          stderr=output, start_new_session=True)
                try:
                    while not (runs := trainyard.runs()):
                        if launch.poll() is not None:
                            output.seek(0)
                            sys.exit(f"the launch failed:\n{output.read()}")
                        time.sleep(0.02)
                    print(json.dumps(attack_once(name, launch, runs[0])), flush=True)
                finally:
                    launch.send_signal(signal.SIGINT)
                    try:
                        launch.wait(30)
                    except subprocess.TimeoutExpired:
                        launch.kill()


if __name__ == "__main__":
    main()
