# SPDX-License-Identifier: Apache-2.0
"""A fake launch with a run.json, a registry and publishers in Python, for testing clients without Trainyard."""
import contextlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import threading

import zmq

import trainyard


def load_samples():
    """Returns messages that the C++ encoder has written, by type; the first message of each type. Hexadecimal text is
    converted to bytes."""
    text = subprocess.run([os.environ["TRAINYARD_CLIENT_SAMPLES"]], capture_output=True, check=True, timeout=60).stdout
    samples = [json.loads(line) for line in text.splitlines()]
    for sample in samples:
        sample["payloads"] = [bytes.fromhex(payload) for payload in sample["payloads"]]
        sample["body"], sample["header"] = bytes.fromhex(sample["body"]), bytes.fromhex(sample["header"])
    return samples


def shown(message):
    """A decoded message in the form of the samples: a tensor shows its bytes and not where they are."""
    if isinstance(message, list):
        return [shown(element) for element in message]
    if isinstance(message, trainyard.Tensor):
        data = bytes(message["data"] or b"").decode("latin-1")
        return {"dtype": message["dtype"], "shape": message["shape"], "bytes": data}
    if not isinstance(message, dict):
        return message
    return {key: shown(value) for key, value in message.items()}


class Server(threading.Thread):
    """A ROUTER socket with a thread that passes the frames of every message to `handle`. The constructor binds the
    socket, after calling `prepare`, which may set options."""

    def __init__(self, endpoint, handle, prepare=None):
        super().__init__(daemon=True)
        self.context, self.handle, self.stopping = zmq.Context(), handle, threading.Event()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        if prepare:
            prepare(self.socket)
        self.socket.bind(endpoint)
        self.endpoint = self.socket.last_endpoint.decode()
        self.start()

    def run(self):
        while not self.stopping.is_set():
            if self.socket.poll(20):
                self.handle(self.socket.recv_multipart())
        self.socket.close(0)
        self.context.term()

    def stop(self):
        self.stopping.set()
        self.join(10)


class Publisher:
    """Publishes one sample repeatedly, `count` times for each subscription, as fast as credits allow."""

    def __init__(self, endpoint, sample, count=0, refusal="", header=None, flush=False, ends=False,
                 prepare=None):
        self.sample, self.count, self.refusal, self.header = sample, count, refusal, header or sample["header"]
        self.flush, self.ends = flush, ends
        self.heard, self.sent, self.credited, self.credited_bytes, self.most_under_way = [], 0, 0, 0, 0
        self.gone = threading.Event()
        self.server = Server(endpoint, self.handle, prepare)
        self.stop = self.server.stop

    def handle(self, frames):
        peer, empty, kind, body = frames
        assert empty == b""
        self.heard.append((kind, body))
        if kind == b"Subscribe":
            self.subscribe(peer, body)
        elif kind == b"Credit":
            _, messages, size = struct.unpack("<IQQ", body)
            self.credited, self.credited_bytes = self.credited + messages, self.credited_bytes + size
        elif kind == b"Unsubscribe":
            self.gone.set()
            return
        if not self.refusal:
            self.send(peer)

    def subscribe(self, peer, body):
        topic_size, = struct.unpack_from("<I", body, 4)
        rest = body[8 + topic_size + 12:]
        policy_size, = struct.unpack_from("<I", rest)
        self.window, _, _ = struct.unpack_from("<QQI", rest, 4 + policy_size)
        self.inline = body.endswith(b"inline\0\0\0\0")
        self.topic = body[8:8 + topic_size]
        self.sent = self.credited = 0
        answer = struct.pack("<I", 0)
        for text in (self.topic, self.sample["type"].encode()):
            answer += struct.pack("<I", len(text)) + text
        answer += struct.pack("<Q", self.sample["fingerprint"])
        for text in (self.sample["schema"].encode(), self.refusal.encode()):
            answer += struct.pack("<I", len(text)) + text
        self.server.socket.send_multipart([peer, b""])  # An empty probe, which every client must ignore.
        self.server.socket.send_multipart([peer, b"", b"Subscribed", answer])
        if self.flush:
            self.server.socket.send_multipart([peer, b"", b"Flush", struct.pack("<I", 0)])

    def send(self, peer):
        while self.sent < self.count and self.sent - self.credited < self.window:
            header = self.header[:16] + struct.pack("<Q", self.sent) + self.header[24:]
            payloads = [payload if self.inline else b"" for payload in self.sample["payloads"]]
            self.server.socket.send_multipart([peer, self.topic, header, self.sample["body"], *payloads])
            self.sent += 1
            self.most_under_way = max(self.most_under_way, self.sent - self.credited)
        if self.ends and self.sent == self.count:
            self.server.socket.send_multipart([peer, b"", b"Ended", struct.pack("<I", 0)])


class FakeRun:
    """A run directory like that of a real launcher, with a registry and publishers."""

    def __init__(self, base, run="mnist-1", name="mnist"):
        self.directory = pathlib.Path(base) / f"trainyard-{os.getuid()}" / run
        self.directory.mkdir(parents=True, mode=0o700)
        self.directory.parent.chmod(0o700)
        self.registry_endpoint = f"ipc://{self.directory}/registry"
        self.topics, self.nodes, self.publishers, self.silent = {}, [], [], False
        self.registry = Server(self.registry_endpoint, self.answer)
        self.info = {"run": run, "pid": os.getpid(), "start_ticks": trainyard.finder.start_ticks(os.getpid()), "name": name,
                     "file": f"{name}.toml", "registry": self.registry_endpoint}
        self.announce()

    def announce(self):
        (self.directory / "run.json").write_text(json.dumps(self.info), encoding="utf-8")

    def end(self):
        """Ends the run in the same way as a launcher."""
        (self.directory / "run.json").unlink(missing_ok=True)

    def stop(self):
        for server in [*self.publishers, self.registry]:
            server.stop()

    def publish(self, topic, sample, **options):
        """Starts a publisher for a topic, and adds it to the registry."""
        endpoint = f"ipc://{self.directory}/{len(self.publishers)}.gateway"
        publisher = Publisher(endpoint, sample, **options)
        self.publishers.append(publisher)
        entry = self.topics.setdefault(topic, {"topic": topic, "type": sample["type"], "publishers": [],
                                               "fingerprint": f"{sample['fingerprint']:016x}",
                                               "schema": sample["schema"], "subscribers": []})
        entry["publishers"].append({"component": "a", "process": "main", "endpoint": endpoint})
        return publisher

    def answer(self, frames):
        question = json.loads(frames[-1])
        if self.silent:
            return
        reply = {"id": question["id"], "ok": True}
        if question["op"] == "topics":
            reply["result"] = list(self.topics.values())
        elif question["op"] == "nodes":
            reply["result"] = self.nodes
        elif question["op"] == "call" and question["target"] == "optimizer":
            reply["result"] = {"method": question["method"], "body": question["body"]}
        else:
            reply.update(ok=False, error=f"no component named '{question.get('target')}'")
        self.registry.socket.send_multipart([*frames[:-1], json.dumps(reply).encode()])


@contextlib.contextmanager
def fake_run(**options):
    """Starts a FakeRun, which is the only run that trainyard.find_run() finds."""
    with tempfile.TemporaryDirectory() as base:
        before = {name: os.environ.pop(name, None) for name in ("XDG_RUNTIME_DIR", "TRAINYARD_RUN_DIRECTORY")}
        os.environ["XDG_RUNTIME_DIR"] = base
        run = FakeRun(base, **options)
        try:
            yield run
        finally:
            run.stop()
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
