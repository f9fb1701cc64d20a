#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many small messages a second the Python and JavaScript clients receive and decode. Needs pyzmq, and node
with `npm install` done in tools/clients/javascript for JavaScript.

    python3 tests/benchmarks/clients.py [python|aio|decode|javascript ...]

A process of its own publishes the same `Metrics` message, with five values, as often as the credits allow. Prints a
JSON object for each client: messages per second, and per second of the client's processor time, which other programs of
the machine disturb less. Each is the best of three rounds.
"""
import asyncio
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import zmq

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools/clients/python"))
import trainyard  # noqa: E402
from trainyard import finder  # noqa: E402

SCHEMA = ("Metrics {\n  u64 order\n  u64 step\n  u64 total_steps\n  u64 epoch\n  string stage\n  list<Value> values\n}\n"
          "Value {\n  string name\n  f64 value\n}\n")
MESSAGE = {"order": 1, "step": 1000, "total_steps": 9000, "epoch": 2, "stage": "train", "values": [
    {"name": name, "value": 0.25} for name in ("loss", "accuracy", "learning_rate", "gradient_norm", "throughput")]}
COUNT = 200_000


def publish(endpoint, registry, directory):
    """Answers the registry's question for topics, and publishes."""
    schema = trainyard.Schema(SCHEMA)
    body, _ = schema.encode(MESSAGE)
    context = zmq.Context()
    desk, socket = context.socket(zmq.ROUTER), context.socket(zmq.ROUTER)
    socket.sndhwm = 0
    desk.bind(registry)
    socket.bind(endpoint)
    info = {"run": "speed-1", "name": "speed", "file": "speed.toml", "pid": os.getpid(), "registry": registry,
            "start_ticks": finder.start_ticks(os.getpid())}
    pathlib.Path(directory, "run.json").write_text(json.dumps(info), encoding="utf-8")
    topics = [{"topic": "/metrics", "type": "Metrics", "fingerprint": f"{schema.fingerprint:016x}", "schema": SCHEMA,
               "publishers": [{"component": "a", "process": "main", "endpoint": endpoint}], "subscribers": []}]
    poller = zmq.Poller()
    poller.register(desk, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    start = struct.pack("<IHHQ", 0x44595254, 1, 0, schema.fingerprint)
    end = struct.pack("<IIqQQ", 0, 0, time.time_ns(), 0, 0)
    sent = 0
    while True:
        for ready, _ in poller.poll():
            peer, *frames = ready.recv_multipart()
            if ready is desk:
                answer = {"id": json.loads(frames[-1])["id"], "ok": True, "result": topics}
                desk.send_multipart([peer, json.dumps(answer).encode()])
                continue
            room = 0
            if frames[1] == b"Subscribe":
                texts = [text.encode() for text in ("/metrics", "Metrics")]
                answer = b"".join([bytes(4), *(struct.pack("<I", len(text)) + text for text in texts),
                                   struct.pack("<Q", schema.fingerprint), struct.pack("<I", len(SCHEMA)),
                                   SCHEMA.encode(), bytes(4)])
                socket.send_multipart([peer, b"", b"Subscribed", answer])
                room, sent = 1024, 0
            elif frames[1] == b"Credit":
                room = struct.unpack("<IQQ", frames[2])[1]
            for sent in range(sent, sent + room):
                socket.send_multipart([peer, b"/metrics", start + struct.pack("<Q", sent) + end, body])
            sent += 1 if room else 0


class Clock:
    """A clock that starts when it is created."""

    def __init__(self):
        self.began, self.used = time.perf_counter(), time.process_time()

    def rates(self):
        return round(COUNT / (time.perf_counter() - self.began)), round(COUNT / (time.process_time() - self.used))


def decode():
    schema = trainyard.Schema(SCHEMA)
    body, _ = schema.encode(MESSAGE)
    clock = Clock()
    for _ in range(COUNT):
        schema.decode(body)
    return clock.rates()


def python():
    with trainyard.find_run().subscribe("/metrics", window=1024) as messages:
        clock = Clock()
        for header, message in messages:
            if messages.received == COUNT:
                break
        assert message == MESSAGE and messages.missed == 0 and header.sequence == COUNT - 1
        return clock.rates()


def aio():
    async def receive():
        run = await trainyard.aio.find_run()
        async with run.subscribe("/metrics", window=1024) as messages:
            clock = Clock()
            async for _ in messages:
                if messages.received == COUNT:
                    break
            return clock.rates()
    return asyncio.run(receive())


def javascript():
    program = SOURCE / "tools/clients/javascript/test/speed.mjs"
    done = subprocess.run(["node", program, str(COUNT)], stdout=subprocess.PIPE, check=True, timeout=120)
    return json.loads(done.stdout)


def main():
    clients = {"decode": decode, "python": python, "aio": aio, "javascript": javascript}
    if sys.argv[1:2] == ["publish"]:
        return publish(*sys.argv[2:])
    chosen = sys.argv[1:] or list(clients)
    if unknown := set(chosen) - set(clients):
        sys.exit(f"no client {', '.join(sorted(unknown))}; there are: {', '.join(clients)}")
    with tempfile.TemporaryDirectory() as base:
        os.environ["XDG_RUNTIME_DIR"] = base
        os.environ.pop("TRAINYARD_RUN_DIRECTORY", None)
        directory = pathlib.Path(base, f"trainyard-{os.getuid()}", "speed-1")
        directory.mkdir(parents=True, mode=0o700)
        directory.parent.chmod(0o700)
        publisher = subprocess.Popen([sys.executable, __file__, "publish", f"ipc://{directory}/gateway",
                                      f"ipc://{directory}/registry", directory])
        try:
            deadline = time.monotonic() + 10
            while not trainyard.runs() and time.monotonic() < deadline:
                time.sleep(0.01)
            for name in chosen:
                rounds = [clients[name]() for _ in range(3)]
                best = {"messages_per_s": max(each for each, _ in rounds), "per_cpu_s": max(each for _, each in rounds)}
                print(json.dumps({"client": name, **best}), flush=True)
        finally:
            publisher.kill()
            publisher.wait(10)
    return None


if __name__ == "__main__":
    main()
