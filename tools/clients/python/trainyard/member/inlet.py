# SPDX-License-Identifier: Apache-2.0
"""The receiving end of edges. A process has one socket for each event loop that sends to it."""
from __future__ import annotations

import collections
import os
import struct
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional

import zmq

from ..errors import BadMessage, TrainyardError
from ..header import HEADER, START, Header
from .memory import Imports, numpy
from .ports import Input
from .protocol import EDGES, edge_frames, ring_offer
from .sockets import Sockets

_CREDIT = struct.Struct("<IQQ")


class InputPort:
    """One input of a component in a run."""

    def __init__(self, declared: Input) -> None:
        self.declared, self.name, self.topic = declared, declared.name, ""
        #: The number of edges that lead here.
        self.connections = 0
        self.paused = False
        self.aside: Deque[Delivery] = collections.deque()
        self._resume: Callable[[InputPort], None] = lambda port: None

    def pause(self) -> None:
        """Keeps messages back until resume() is called. Their credit is not returned meanwhile, so senders with the
        policy `block` have to wait."""
        self.paused = True

    def resume(self) -> None:
        """Passes the messages that were kept back to the handler, and then all others."""
        self._resume(self)


class Delivery(NamedTuple):
    """A message that has arrived."""

    port: InputPort
    header: Header
    message: Any
    done: Callable[[], None]  # Returns the credit for the message; called when the handler has finished.


class _Receiver:
    """The subscription for one edge."""

    def __init__(self, port: InputPort, edge: Dict[str, Any], number: int) -> None:
        self.port, self.edge, self.number = port, edge, number
        self.connected = self.flushing = False
        self.messages = self.bytes = 0


class Inlet:
    """A DEALER socket that is connected to one publisher. `visits` is True if the publisher is the gateway of a
    process, where this member is a visitor."""

    def __init__(self, sockets: Sockets, endpoint: str, imports: Imports, index: int, visits: bool,
                 deliver: Callable[[Delivery], None], failed: Callable[[str], None]) -> None:
        self.endpoint, self._imports, self._index, self._visits = endpoint, imports, index, visits
        self._deliver, self._failed = deliver, failed
        self.socket = sockets.dealer(None if visits else sockets.keys)
        self.socket.setsockopt(zmq.IPV6, endpoint.startswith("tcp://["))
        self.socket.connect(endpoint)
        self._receivers: List[_Receiver] = []

    def subscribe(self, port: InputPort, edge: Dict[str, Any]) -> None:
        number = len(self._receivers)
        self._receivers.append(_Receiver(port, edge, number))
        shares = not self._visits and edge["transport"] != "tcp" and numpy is not None
        request = edge_frames("Subscribe", subscription=number, topic=edge["topic"], edge=edge["id"],
                              fingerprint=port.declared.schema.fingerprint, policy=edge["policy"],
                              window_messages=edge["window_messages"], window_bytes=edge["window_bytes"],
                              payloads="handle" if shares else "inline",
                              process_index=0 if self._visits else self._index)
        # A ring offer without a ring only tells the publisher which process subscribes.
        self._send(request if self._visits else [*request, ring_offer(os.getpid())])

    def connected(self) -> bool:
        return all(receiver.connected for receiver in self._receivers)

    def close(self) -> None:
        self.socket.close(0)

    def poll(self) -> None:
        """Handles messages that have arrived, but only a few per call, so that other sockets and timers are not
        delayed."""
        for _ in range(16):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                if frames[0]:
                    self._on_data(frames)
                else:
                    self._on_control(frames)
            except TrainyardError as error:
                self._failed(str(error))

    def _send(self, frames: List[bytes]) -> None:
        self.socket.send_multipart(frames, zmq.NOBLOCK)

    def _on_control(self, frames: List[bytes]) -> None:
        # Unknown frames are ignored, because a newer publisher may send them.
        if len(frames) not in (3, 4) or frames[1] not in (b"Subscribed", b"Flush"):
            return
        message = EDGES[frames[1].decode()].decode(frames[2])
        if message["subscription"] >= len(self._receivers):
            return
        receiver = self._receivers[message["subscription"]]
        if frames[1] == b"Flush":
            receiver.flushing = True
            self._return_credit(receiver)
        elif message["error"]:
            raise TrainyardError(f"topic '{message['topic']}': {message['error']}\nthe publisher has "
                                 f"{message['schema']}\nthis input '{receiver.port.name}' has "
                                 f"{receiver.port.declared.schema_text}")
        else:
            receiver.connected = True

    def _on_data(self, frames: List[bytes]) -> None:
        if len(frames) < 3 or len(frames[1]) != HEADER.size or frames[1][:6] != START:
            raise BadMessage(f"a message of {len(frames)} frames, which has no header of wire version 1")
        header = Header._make((*HEADER.unpack(frames[1]), frames[0].decode("utf-8", "replace")))
        if header.subscription >= len(self._receivers) or header.payloads != len(frames) - 3:
            return  # The message cannot be assigned to a subscription, so no error can name its sender.
        receiver = self._receivers[header.subscription]
        schema = receiver.port.declared.schema
        if header.fingerprint != schema.fingerprint:
            raise BadMessage(f"message with fingerprint {header.fingerprint:016x}; '{receiver.port.name}' takes "
                             f"{schema.name} {schema.fingerprint:016x}")
        if header.handles and self._visits:
            raise BadMessage("a gateway sent a handle")
        payloads: List[Any] = [self._imports.open(frame) if header.handles >> index & 1 else frame
                               for index, frame in enumerate(frames[3:])]
        size = len(frames[2]) + sum(map(len, payloads))
        message = schema.decode(frames[2], payloads)
        del payloads  # From here on, only the tensors of the message refer to the payloads.
        self._deliver(Delivery(receiver.port, header, message, lambda: self._consumed(receiver, size)))

    def _consumed(self, receiver: _Receiver, size: int) -> None:
        if self.socket.closed:
            return  # The socket was closed because the sender has died, so no credit is returned.
        receiver.messages, receiver.bytes = receiver.messages + 1, receiver.bytes + size
        if (receiver.flushing or receiver.messages * 2 >= receiver.edge["window_messages"] or
                receiver.bytes * 2 >= receiver.edge["window_bytes"]):
            self._return_credit(receiver)

    def _return_credit(self, receiver: _Receiver) -> None:
        if receiver.messages:
            self._send([b"", b"Credit", _CREDIT.pack(receiver.number, receiver.messages, receiver.bytes)])
        receiver.messages = receiver.bytes = 0
