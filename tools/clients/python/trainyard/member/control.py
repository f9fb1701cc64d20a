# SPDX-License-Identifier: Apache-2.0
"""The control thread of a process. It communicates with the launcher, sends heartbeats and serves visitors (programs
that attach to the run), even while the component is busy."""
from __future__ import annotations

import collections
import json
import math
import os
import sys
import threading
import time
import traceback
from typing import Any, Callable, Deque, Dict, List, Optional

import zmq

from ..errors import BadMessage
from .gateway import Gateway
from .outgoing import Outgoing
from .ports import Output
from .protocol import CONTROL, WIRE, control_frames
from .sockets import Admission, Keys, Sockets
from .wake import Wake

_BEAT_S = 1.0
_MOST_TAPPED = 64  # The largest number of messages that may wait on their way from the component to visitors.
_MOST_TAPPED_BYTES = 32 << 20


def _resident_bytes() -> int:
    """Returns the resident memory of this process in bytes, including shared memory, or 0 if it is unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Control:
    """The control thread. It calls `received` with the name and the fields of each message from the launcher, except
    for messages that it answers itself."""

    def __init__(self, process: str, endpoint: str, keys: Keys, received: Callable[[str, Dict[str, Any]], None],
                 post_to_component: Callable[[Callable[[], None]], None]) -> None:
        self.process, self.sockets = process, Sockets(keys)
        self._received, self._post_to_component = received, post_to_component
        self._admission = Admission(self.sockets)
        self._link = self.sockets.dealer(keys, process.encode())
        self._link.setsockopt(zmq.IPV6, endpoint.startswith("tcp://["))
        self._link.connect(endpoint)
        self.gateway: Optional[Gateway] = None
        #: Answer the calls of the process: the planned edges, and the component's name.
        self.edge_counters: Callable[[], List[Dict[str, Any]]] = list
        self.shared_bytes: Callable[[], int] = lambda: 0
        self.sent: Callable[[], Dict[str, int]] = lambda: {"sent": 0, "sent_blocking": 0}
        self.component = ""
        self._wake, self._tasks, self._ended = Wake(), collections.deque(), False  # type: Wake, Deque[Any], bool
        self._tapped: Deque[Any] = collections.deque()
        self._tapped_bytes = 0
        self._lock = threading.Lock()
        self._asked, self._answered = 0.0, True
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def post(self, task: Callable[[], None]) -> None:
        """Calls the function `task` on the control thread."""
        self._tasks.append(task)
        self._wake.notify()

    def send(self, name: str, **fields: Any) -> None:
        """Sends a message to the launcher. Any thread may call this."""
        frames = control_frames(name, **fields)
        self.post(lambda: self._send(frames))

    def open_gateway(self, address: str, outputs: Dict[str, Output], wanted: Callable[[str, bool], None]) -> str:
        """Binds the socket for visitors; called on the control thread. Returns its address."""
        self.gateway = Gateway(self.sockets, address, outputs, wanted)
        self._poller.register(self.gateway.socket, zmq.POLLIN)
        return self.gateway.endpoint

    def tap(self, topic: str, message: Outgoing) -> None:
        """Passes a message of the component to its visitors. If too many messages are waiting, the oldest are
        dropped."""
        with self._lock:
            self._tapped.append((topic, message))
            self._tapped_bytes += message.payload_bytes
            while len(self._tapped) > 1 and (len(self._tapped) > _MOST_TAPPED or
                                             self._tapped_bytes > _MOST_TAPPED_BYTES):
                self._tapped_bytes -= self._tapped.popleft()[1].payload_bytes
        self._wake.notify()

    def tell(self, record: Dict[str, Any]) -> None:
        """Publishes a log record. Any thread may call this."""
        self.post(lambda: self.gateway.tell(record) if self.gateway is not None else None)

    def say_ended(self) -> None:
        """Sends the remaining messages to the visitors, and tells them that no more follow."""
        def tell() -> None:
            self._drain_tapped()
            if self.gateway is not None:
                self.gateway.say_ended()
        self.post(tell)

    def end(self) -> None:
        """Sends the remaining messages to the launcher, and ends the thread."""
        self.post(lambda: setattr(self, "_ended", True))
        self._thread.join(10)
        # ZeroMQ may take up to half a second to send the last messages.
        self.sockets.context.destroy(500)

    def _send(self, frames: List[bytes]) -> None:
        self._link.send_multipart(frames)

    def _run(self) -> None:
        try:
            self._serve()
        # An error on this thread ends the process, because without this thread it would only seem to be alive.
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    def _serve(self) -> None:
        self._poller = zmq.Poller()
        for one in (self._link, self._admission.socket, self._wake.reader):
            self._poller.register(one, zmq.POLLIN)
        self._link.send_multipart(control_frames("Hello", process=self.process, pid=os.getpid(), abi_tag=WIRE))
        beats, next_beat = 0, time.monotonic() + _BEAT_S
        while not self._ended:
            self._poller.poll(max(0, math.ceil((next_beat - time.monotonic()) * 1000)))
            self._wake.clear()
            while self._tasks:
                self._tasks.popleft()()
            self._drain_tapped()
            self._admission.poll()
            self._poll_link()
            if self.gateway is not None:
                self.gateway.poll()
            if time.monotonic() >= next_beat:
                self._link.send_multipart(control_frames("Heartbeat", process=self.process, sequence=beats))
                beats, next_beat = beats + 1, time.monotonic() + _BEAT_S
                self._feel_pulse()
                if self.gateway is not None:
                    self.gateway.sweep()

    def _drain_tapped(self) -> None:
        while self._tapped:
            with self._lock:
                topic, message = self._tapped.popleft()
                self._tapped_bytes -= message.payload_bytes
            if self.gateway is not None:
                self.gateway.publish(topic, message)

    def _poll_link(self) -> None:
        while True:
            try:
                frames = self._link.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            # Unknown messages are ignored, because a newer launcher may send them.
            name = frames[0].decode("utf-8", "replace")
            if len(frames) != 2 or name not in CONTROL:
                continue
            try:
                self._dispatch(name, CONTROL[name].decode(frames[1]))
            except BadMessage as error:
                self._link.send_multipart(control_frames("StateChanged", component="", state="error",
                                                         error=f"a broken {name}: {error}"))

    def _dispatch(self, name: str, message: Dict[str, Any]) -> None:
        if name != "Request" or message["target"]:
            return self._received(name, message)
        answers = {"pulse": self._pulse, "counters": self._counters}
        known = message["method"] in answers
        body = json.dumps(answers[message["method"]]()) if known else "a process answers only 'counters' and 'pulse'"
        self._link.send_multipart(control_frames("Reply", id=message["id"], ok=known, body=body))

    def _feel_pulse(self) -> None:
        """Asks the main thread for a sign of life, unless it has not answered the previous request."""
        if not self._answered or not self.component:
            return
        self._asked, self._answered = time.monotonic(), False
        self._post_to_component(lambda: setattr(self, "_answered", True))

    def _pulse(self) -> Dict[str, Any]:
        busy = [] if self._answered else [{"components": [self.component], "seconds": time.monotonic() - self._asked}]
        return {**self.sent(), "busy": busy}

    def _counters(self) -> Dict[str, Any]:
        return {"time_ns": time.monotonic_ns(), "cpu_ns": time.process_time_ns(), "memory_bytes": _resident_bytes(),
                "edges": self.edge_counters(), "visitors": self.gateway.counters() if self.gateway else [],
                "shared_bytes": self.shared_bytes()}
