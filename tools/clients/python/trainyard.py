#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks into a running Trainyard launch from Python: topics, messages, calls. It is one file and needs only pyzmq.

    import trainyard
    run = trainyard.find_run()                                # the newest run, or find_run("mnist")
    for header, message in run.subscribe("/metrics"):         # ends when the run ends
        print(header.sequence, message["step"])
    run.call("optimizer", "param.set", {"name": "lr", "value": 0.01})

Nothing waits for ever: what does not come in time raises Timeout. A visitor cannot slow a run down: if it reads too
slowly, it misses messages. The protocol is described in docs/wire_format.md.
"""
import argparse
import collections
import difflib
import json
import math
import os
import re
import struct
import sys
import time
import zmq
from zmq.utils.monitor import recv_monitor_message

NO_PAYLOAD = VISITOR = 0xFFFFFFFF  # A tensor without bytes; a subscriber that is not in the plan.
MAX_NESTING, MAX_RANK = 32, 16
NUMBERS = dict(i8="b", i16="h", i32="i", i64="q", u8="B", u16="H", u32="I", u64="Q", f32="f", f64="d")
DTYPES = list(dict(uint8=1, int8=1, int16=2, int32=4, int64=8, float16=2, bfloat16=2, float32=4, float64=8,
                   bool=1).items())  # In the order of their numbers, with the size of an element.
HEADER = struct.Struct("<IHHQQIIqQQ")
Header = collections.namedtuple(
    "Header", "magic version payloads fingerprint sequence source subscription send_time_ns trace handles")

class TrainyardError(Exception):
    """Any error of this module. The text says what was expected and what was received."""

class Timeout(TrainyardError):
    """Raised when something did not arrive in time."""

def read_header(frame):
    """The header of 56 bytes that precedes every body."""
    if len(frame) != HEADER.size or frame[:6] != b"TRYD\1\0":
        raise TrainyardError(f"no header of wire version 1: {len(frame)} bytes, {frame[:8].hex()}...")
    return Header(*HEADER.unpack(frame))

def _parse_type(word, depth=0):
    """Returns ("list", element), ("map", element), ("optional", element), or a name."""
    container = re.fullmatch(r"(list|map|optional)<(.*)>", word)
    if container and depth < MAX_NESTING:
        return container[1], _parse_type(container[2], depth + 1)
    if not re.fullmatch(r"\w+", word):
        raise TrainyardError(f"schema has no type {word[:80]!r}")
    return word

class Schema:
    """Decodes every message of one type, from the type's schema text alone."""

    def __init__(self, text):
        if not re.fullmatch(r"(\w+ \{\n(  \S+ \w+\n)*\}\n)+", text):
            raise TrainyardError(f"no schema text: {text[:200]!r}")
        parts = re.findall(r"(\w+) \{\n([^}]*)\}\n", text)
        self.structs = {name: [(field.split()[1], _parse_type(field.split()[0])) for field in fields.splitlines()]
                        for name, fields in parts}
        self.name = parts[0][0]
        if len(parts) > 1 and not all(self.structs.values()):
            raise TrainyardError(f"schema of {self.name} has a struct without fields, which could be repeated for free")

    def decode(self, body, payloads=()):
        """Returns the message as a dict. A tensor is a dict with dtype, shape, payload, offset and data: a memoryview
        of its bytes if `payloads` has them, otherwise None. Raises TrainyardError."""
        reader = _Reader(self.structs, body, payloads)
        message = reader.value(self.name, 0)
        if reader.rest:
            raise TrainyardError(f"message of type {self.name} has {len(reader.rest)} bytes after its last field")
        return message

class _Reader:
    """Reads the values of a body one after another, and never past its end."""

    def __init__(self, structs, body, payloads):
        self.structs, self.rest, self.payloads = structs, memoryview(body), payloads

    def take(self, code):
        size = struct.calcsize("<" + code)
        if size > len(self.rest):
            raise TrainyardError(f"message ends {size - len(self.rest)} bytes too early")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return struct.unpack("<" + code, taken)

    def count(self, element_bytes):
        count, = self.take("I")
        if count * element_bytes > len(self.rest):
            raise TrainyardError(f"message claims {count} elements of {element_bytes} bytes or more; "
                                 f"{len(self.rest)} bytes remain")
        return count

    def flag(self):
        value, = self.take("B")
        if value > 1:
            raise TrainyardError(f"message has {value} for a bool; 0 or 1")
        return value == 1

    def text(self):
        return self.take(f"{self.count(1)}s")[0].decode("utf-8", "replace")

    def value(self, kind, depth):
        if isinstance(kind, tuple):
            return self.container(*kind, depth + 1)
        if kind in NUMBERS:
            return self.take(NUMBERS[kind])[0]
        if simple := {"string": self.text, "bool": self.flag, "Tensor": self.tensor}.get(kind):
            return simple()
        if kind not in self.structs or depth > MAX_NESTING:
            raise TrainyardError(f"schema has no type {kind!r}, or nests it too deeply")
        return {name: self.value(inner, depth + 1) for name, inner in self.structs[kind]}

    def container(self, container, element, depth):
        if container == "optional":
            return self.value(element, depth) if self.flag() else None
        if container == "map":
            return {self.text(): self.value(element, depth) for _ in range(self.count(4))}
        if code := NUMBERS.get(element):
            return list(self.take(f"{self.count(struct.calcsize('<' + code))}{code}"))
        return [self.value(element, depth) for _ in range(self.count(1))]

    def tensor(self):
        dtype, rank = self.take("BB")
        if dtype >= len(DTYPES) or rank > MAX_RANK:
            raise TrainyardError(f"tensor of dtype {dtype} with {rank} dimensions")
        shape, (payload, offset) = list(self.take(f"{rank}q")), self.take("IQ")
        if min(shape, default=0) < 0:
            raise TrainyardError(f"tensor of the impossible shape {shape}")
        (name, width), data = DTYPES[dtype], None
        size = math.prod(shape) * width
        if payload < len(self.payloads) and self.payloads[payload]:
            data = memoryview(self.payloads[payload])[offset:offset + size]
            if len(data) != size:
                raise TrainyardError(f"tensor needs {size} bytes at {offset} of payload {payload}: {len(data)}")
        return {"dtype": name, "shape": shape, "payload": None if payload == NO_PAYLOAD else payload, "offset": offset,
                "data": data}

SUBSCRIBED = Schema("Subscribed {\n  u32 subscription\n  string topic\n  string type\n  u64 fingerprint\n"
                    "  string schema\n  string error\n}\n")

def _text(value):
    return struct.pack("<I", len(value.encode())) + value.encode()

def runs_directory():
    """Returns the directory in which the launches of this user announce themselves."""
    parent = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(parent if os.path.isdir(parent) else "/tmp", f"trainyard-{os.getuid()}")

def _start_ticks(pid):
    """Returns when a process started, in clock ticks since boot; 0 if it is gone. This guards against a reused pid."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except OSError:
        return 0

def _read_run(directory):
    """Returns the run that announced itself in `directory`, or None if there is none or it is dead."""
    try:
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            run = Run(json.load(file), directory)
        return run if run.alive() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None

def runs():
    """Returns the launches of this user that are running now, newest first."""
    base = runs_directory()
    if not os.path.isdir(base):
        return []
    if (status := os.lstat(base)).st_uid != os.getuid() or status.st_mode & 0o022:
        raise TrainyardError(f"{base} belongs to somebody else or others may write to it; its runs are not trusted")
    found = [_read_run(entry.path) for entry in os.scandir(base) if entry.is_dir(follow_symlinks=False)]
    return sorted((run for run in found if run), key=lambda run: -run.start_ticks)

def find_run(name=None, timeout=10.0):
    """Returns the newest run, or the newest one called `name` (the launch's name or the run's unique one). A program
    that a launch file starts finds its own run, through TRAINYARD_RUN_DIRECTORY, and waits until it can be reached."""
    directory, deadline = os.environ.get("TRAINYARD_RUN_DIRECTORY"), time.monotonic() + timeout
    if directory and name is None:
        while not (run := _read_run(directory)):
            if time.monotonic() > deadline:
                raise Timeout(f"no run announced itself in {directory} within {timeout:g} s")
            time.sleep(0.02)
        return run
    known = runs()
    found = [run for run in known if name in (None, run.name, run.run)]
    if not found:
        names = ", ".join(run.run for run in known) or "none"
        raise TrainyardError(f"no run{f' named {name!r}' if name else ''} in {runs_directory()}; running: {names}")
    return found[0]

class Run:
    """A running launch. It is not thread-safe: every thread must find its own."""

    def __init__(self, info, directory):
        self.run, self.name, self.file, self.directory = info["run"], info["name"], info["file"], directory
        self.pid, self.start_ticks, self.registry = info["pid"], info["start_ticks"], info["registry"]
        self._socket, self._last_id = None, 0

    def alive(self):
        """Returns True as long as the launcher of this run lives and has not removed its run.json."""
        return os.path.exists(f"{self.directory}/run.json") and _start_ticks(self.pid) == self.start_ticks != 0

    def socket(self):
        """Returns a new DEALER of the one context, which closes its sockets when the program ends."""
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.linger, socket.sndtimeo = 0, 1000
        return socket

    def request(self, op, timeout=12.0, **arguments):
        """Asks the run's registry, which gives up after 10 s. Raises TrainyardError with its text if it refuses."""
        if self._socket is None:
            self._socket = self.socket()
            self._socket.connect(self.registry)
        self._last_id += 1
        self._socket.send_json({"id": self._last_id, "op": op, **arguments})
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0 and self.alive():
            if not self._socket.poll(min(left, 0.2) * 1000):
                continue
            reply = json.loads(self._socket.recv_multipart()[-1])
            if reply.get("id") != self._last_id:
                continue  # This is the late answer to a question that was given up.
            if reply.get("ok"):
                return reply["result"]
            raise TrainyardError(f"{op}: {reply.get('error')}")
        if not self.alive():
            raise TrainyardError(f"{op}: run {self.run} has ended")
        raise Timeout(f"run {self.run} did not answer '{op}' within {timeout:g} s")

    def topics(self):
        """Returns every topic: its name, type, fingerprint, schema, publishers and subscribers."""
        return self.request("topics")

    def nodes(self):
        """Returns every component: its name, plugin, process, pid, state and ports."""
        return self.request("nodes")

    def call(self, target, method, body=None, timeout=12.0):
        """Calls a service of a component, "param.list" or "param.set"."""
        return self.request("call", timeout, target=target, method=method, body={} if body is None else body)

    def subscribe(self, topic, payloads="none", window=64, timeout=60.0, window_bytes=64 << 20):
        """Returns an iterator over the messages of a topic, as (header, dict), that ends when the run does. `payloads`:
        "none" or "inline" (with the bytes of tensors). `window`: the most messages in transit; more are dropped, the
        oldest first. `timeout`: the seconds of silence that raise Timeout; None: waits as long as the run lives."""
        return Subscription(self, topic, payloads, max(int(window), 1), timeout, window_bytes)

    def endpoints(self, topic, timeout=10.0):
        """Returns where a topic is published. Waits for the processes of a run that is still starting."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            topics = {entry["topic"]: entry for entry in self.topics()}
            if topic not in topics:
                hint = "".join(f"; did you mean '{near}'?" for near in difflib.get_close_matches(topic, topics, 1))
                raise TrainyardError(f"no topic '{topic}' in run {self.run}{hint}; it has: {', '.join(sorted(topics))}")
            found = [publisher["endpoint"] for publisher in topics[topic]["publishers"]]
            if found and all(found):
                return sorted(set(found))  # The components of one process share an endpoint.
            time.sleep(0.02)
        raise Timeout(f"not every publisher of '{topic}' came up within {timeout:g} s")

class _Publisher:
    """One endpoint of a subscription: its socket, its schema, and the credit that is to be returned."""

    def __init__(self, subscription, endpoint):
        self.wanted, self.endpoint, self.schema, self.ended = subscription, endpoint, None, False
        self.socket = subscription.run.socket()
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self.socket.connect(endpoint)

    def close(self):
        self.send(b"Unsubscribe", struct.pack("<I", 0))
        self.socket.disable_monitor()
        self.socket.close(500)  # The last message may still be sent within 500 ms.

    def send(self, kind, body):
        self.socket.send_multipart([b"", kind, body])

    def on_connected(self):
        """Subscribes with a new window, after libzmq has connected for the first time or again."""
        recv_monitor_message(self.monitor, zmq.NOBLOCK)
        self.schema, self.messages, self.bytes, self.flushing, self.ended, wanted = None, 0, 0, False, False, self.wanted
        self.send(b"Subscribe", struct.pack("<I", 0) + _text(wanted.topic) + struct.pack("<IQ", VISITOR, 0) +
                  _text("drop_oldest") + struct.pack("<QQ", wanted.window, wanted.window_bytes) +
                  _text(wanted.payloads) + struct.pack("<I", 0))

    def on_frames(self):
        """Returns the (header, dict) of a data message, or None for anything else."""
        frames = self.socket.recv_multipart(zmq.NOBLOCK)
        if not frames[0]:
            return self.on_control(*frames[1:]) if len(frames) == 3 else None
        if self.schema is None or len(frames) < 3:
            return None  # It belongs to an earlier connection, or to something else.
        header = read_header(frames[1])
        if header.payloads != len(frames) - 3:
            raise TrainyardError(f"a message on '{self.wanted.topic}' has {len(frames)} frames; its header: {header}")
        if header.fingerprint != self.fingerprint:
            raise TrainyardError(f"a message on '{self.wanted.topic}' has fingerprint {header.fingerprint:016x}; "
                                 f"{self.schema.name} has {self.fingerprint:016x}")
        message = self.schema.decode(frames[2], frames[3:])
        self.messages, self.bytes = self.messages + 1, self.bytes + sum(map(len, frames[2:]))
        if self.flushing or self.messages * 2 >= self.wanted.window or self.bytes * 2 >= self.wanted.window_bytes:
            self.return_credit()
        return header, message

    def on_control(self, kind, body):
        if kind == b"Flush":
            self.flushing = True
            self.return_credit()
        elif kind == b"Ended":
            self.ended = True  # Nothing more comes.
        elif kind == b"Subscribed":
            if (answer := SUBSCRIBED.decode(body))["error"]:
                raise TrainyardError(f"topic '{answer['topic']}' at {self.endpoint}: {answer['error']}")
            self.schema, self.fingerprint = Schema(answer["schema"]), answer["fingerprint"]

    def return_credit(self):
        if self.messages:
            self.send(b"Credit", struct.pack("<IQQ", 0, self.messages, self.bytes))
        self.messages = self.bytes = 0

class Subscription:
    """An iterator over the messages of one topic, from all of its publishers."""

    def __init__(self, run, topic, payloads, window, timeout, window_bytes):
        self.run, self.topic, self.payloads, self.timeout = run, topic, payloads, timeout
        self.window, self.window_bytes = window, window_bytes
        self._poller, self._handlers, self._ready = zmq.Poller(), {}, collections.deque()
        self._publishers = [_Publisher(self, endpoint) for endpoint in run.endpoints(topic)]
        for one in self._publishers:
            self._handlers.update({one.monitor: one.on_connected, one.socket: one.on_frames})
        for socket in self._handlers:
            self._poller.register(socket, zmq.POLLIN)
        deadline = time.monotonic() + 10
        while missing := [one.endpoint for one in self._publishers if one.schema is None]:
            if time.monotonic() > deadline or not run.alive():
                self.close()
                raise Timeout(f"'{topic}' was not acknowledged by {', '.join(missing)}")
            self._poll(0.1)

    def __iter__(self):
        while (received := self.receive(self.timeout)) is not None:
            yield received

    def receive(self, timeout=60.0):
        """Returns the next (header, dict), or None when the run has ended. Raises Timeout."""
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while not self._ready:
            ended = all(one.ended for one in self._publishers) or not self.run.alive()
            if not self._poll(0 if ended else 0.2) and ended:
                return None
            if not self._ready and time.monotonic() > deadline:
                raise Timeout(f"no message on '{self.topic}' within {timeout:g} s")
        return self._ready.popleft()

    def _poll(self, seconds):
        """Waits for messages and handles those that have arrived. Returns False if there are none."""
        events = self._poller.poll(int(seconds * 1000)) if self._publishers else []
        self._ready.extend(filter(None, [self._handlers[socket]() for socket, _ in events]))
        return bool(events)

    def close(self):
        """Tells the publishers that no more messages are wanted."""
        for one in self._publishers:
            one.close()
        self._publishers = []

def _echo(run, arguments):
    messages = run.subscribe(arguments.topic, timeout=arguments.timeout)
    for _, (header, message) in zip(range(arguments.count or sys.maxsize), messages):
        print(json.dumps({"sequence": header.sequence, "message": message}), flush=True)

def main(words=None):
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="trainyard.py", description="Look into a running Trainyard launch.")
    parser.add_argument("--run", help="name of the run; without it the newest")
    commands = parser.add_subparsers(required=True)
    topics = commands.add_parser("topics", help="every topic and its type")
    topics.set_defaults(do=lambda run, _: [print(topic["topic"], topic["type"], sep="  ") for topic in run.topics()])
    echo = commands.add_parser("echo", help="print messages, one JSON object a line")
    echo.add_argument("topic")
    echo.add_argument("--count", type=int, default=0, help="stop after so many")
    echo.add_argument("--timeout", type=float, default=60.0, help="longest silence in seconds")
    echo.set_defaults(do=_echo)
    arguments = parser.parse_args(words)
    try:
        arguments.do(find_run(arguments.run), arguments)
    except (TrainyardError, BrokenPipeError, KeyboardInterrupt) as error:
        sys.exit(f"trainyard: {str(error) or 'interrupted'}")

if __name__ == "__main__":
    main()
