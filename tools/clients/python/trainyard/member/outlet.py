# SPDX-License-Identifier: Apache-2.0
"""The outputs of a component, and the socket at which other members of the run subscribe to them."""
from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Optional

import zmq

from ..errors import BadMessage
from .edge import Edge
from .memory import Pool
from .outgoing import Outgoing, check_message
from .ports import Output
from .protocol import EDGES, edge_frames
from .sockets import Sockets


#: A component that nobody limits pauses after so many messages, for so long.
_BURST, _PAUSE_S = 64, 0.001


class OutputPort:
    """One output of a component in a run."""

    def __init__(self, declared: Output, source: int, pool: Pool, trace: Callable[[], int],
                 room_again: Callable[[], None], guarded: Callable[[Callable[[], None]], None],
                 after: Callable[[float, Callable[[], None]], None]) -> None:
        self.declared, self.name, self.topic = declared, declared.name, ""
        self.edges: List[Edge] = []
        self.last: Optional[Outgoing] = None
        #: Set while visitors listen: passes messages on to the gateway.
        self.tap: Optional[Callable[[Outgoing], None]] = None
        self._source, self._pool, self._trace = source, pool, trace
        self._room_again, self._guarded, self._after = room_again, guarded, after
        self._sequence = 0
        self._burst_first, self._burst_began, self._pausing = 0, 0.0, False
        self._on_ready: Optional[Callable[[], None]] = None

    @property
    def connections(self) -> int:
        """The number of edges that begin here."""
        return len(self.edges)

    def ready(self) -> bool:
        """Returns True if the next message can be sent without waiting. A component that sends messages on its own
        initiative must check this first. If no receiver limits the component, the result is False for up to a
        millisecond after every 64 messages, so that messages and timers can be handled."""
        blocking = [edge for edge in self.edges if edge.policy == "block"]
        if not all(edge.ready() for edge in blocking):
            return False
        return any(not edge.receiver_gone for edge in blocking) or self._within_burst()

    def _within_burst(self) -> bool:
        if self._pausing:
            return False
        if self._sequence - self._burst_first < _BURST:
            return True
        now = time.monotonic()
        if now - self._burst_began >= _PAUSE_S:
            self._burst_first, self._burst_began = self._sequence, now
            return True
        self._pausing = True
        self._after(_PAUSE_S, self._end_pause)
        return False

    def _end_pause(self) -> None:
        self._pausing, self._burst_first, self._burst_began = False, self._sequence, time.monotonic()
        if self._on_ready is not None and self.ready():
            self._guarded(self._on_ready)

    def on_ready(self, callback: Callable[[], None]) -> None:
        """Sets a function that is called whenever the output becomes ready again."""
        self._on_ready = callback

    def send(self, message: Any) -> None:
        """Sends a message: a dictionary, or an object, with the fields of the type."""
        if not self.edges and not self.declared.latched and self.tap is None:
            # The message is checked although it has no receiver. Otherwise an error in it would appear only when a
            # visitor subscribes.
            check_message(self.declared.schema, message, self._pool)
            # Messages without receivers are counted, too, so that a visitor that subscribes later sees how many
            # messages were sent before.
            self._sequence += 1
            return
        share = any(edge.payloads == "handle" for edge in self.edges)
        outgoing = Outgoing(self.declared.schema, message, self._pool, share)
        outgoing.sequence, outgoing.source, outgoing.trace = self._sequence, self._source, self._trace()
        outgoing.time = time.time_ns()
        self._sequence += 1
        if self.declared.latched:
            self.last = outgoing
        outgoing.lend_ahead([edge.reader for edge in self.edges
                             if edge.payloads == "handle" and not edge.waiting and edge.has_room()])
        for edge in self.edges:
            edge.send(outgoing)
        if self.tap is not None:
            self.tap(outgoing)

    def is_blocked(self) -> bool:
        return any(edge.is_blocked() for edge in self.edges)

    def changed(self) -> None:
        """Called when an edge has credit again."""
        if not self.is_blocked():
            self._room_again()
            if self._on_ready is not None and self.ready():
                self._guarded(self._on_ready)


class Outlet:
    """The ROUTER socket at which the receivers of the edges in the plan subscribe."""

    def __init__(self, sockets: Sockets, address: str) -> None:
        self.socket = sockets.router(address, for_members=True)
        self.endpoint = sockets.address(self.socket)
        self.edges: List[Edge] = []
        self._outputs: Dict[int, OutputPort] = {}

    def add(self, output: OutputPort, plan: Dict[str, Any]) -> None:
        edge = Edge(plan, self._transmit, output.changed)
        self.edges.append(edge)
        output.edges.append(edge)
        self._outputs[edge.id] = output

    def request_flush(self) -> None:
        """Asks the receivers of all edges to return their credit without delay."""
        for edge in self.edges:
            if edge.peer is not None and not edge.drained():
                self._send([edge.peer, *edge_frames("Flush", subscription=edge.subscription)])

    def poll(self) -> None:
        for _ in range(16):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                self._handle(frames)
            except BadMessage:
                pass  # Invalid frames get no answer, and do not disturb other receivers.

    def _send(self, frames: List[Any]) -> bool:
        try:
            self.socket.send_multipart(frames, zmq.NOBLOCK)
            return True
        except zmq.ZMQError as error:
            if error.errno in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                return False
            raise

    def _transmit(self, edge: Edge, message: Outgoing) -> int:
        assert edge.peer is not None
        frames, size = message.frames(edge.plan["topic"].encode(), edge.subscription, edge.payloads, edge.reader)
        if not self._send([edge.peer, *frames]):
            edge.peer = None  # The receiver has disconnected. If it reconnects, it subscribes again.
        return size

    def _handle(self, frames: List[bytes]) -> None:
        # A fifth frame may offer a ring in shared memory. This program does not use the ring, so the receiver takes its
        # messages from this socket.
        if len(frames) not in (4, 5) or frames[1]:
            return
        peer, kind = frames[0], frames[2].decode("utf-8", "replace")
        if kind not in ("Subscribe", "Credit", "Unsubscribe"):
            return
        message = EDGES[kind].decode(frames[3])
        if kind == "Subscribe":
            pid = EDGES["RingOffer"].decode(frames[4])["wake"]["pid"] if len(frames) == 5 else 0
            return self._subscribe(peer, message, pid)
        edge = next((edge for edge in self.edges
                     if (edge.peer, edge.subscription) == (peer, message["subscription"])), None)
        if edge is None:
            return
        if kind == "Credit":
            edge.credit(message["messages"], message["bytes"])
        else:
            edge.detach()

    def _subscribe(self, peer: bytes, request: Dict[str, Any], pid: int) -> None:
        edge = next((edge for edge in self.edges if edge.id == request["edge"]), None)
        answer = {"subscription": request["subscription"], "topic": request["topic"], "type": "", "fingerprint": 0,
                  "schema": "", "error": f"no topic '{request['topic']}' here"}
        if edge is not None:
            declared = self._outputs[edge.id].declared
            same = request["fingerprint"] in (0, declared.schema.fingerprint)
            answer.update(type=declared.schema.name, fingerprint=declared.schema.fingerprint,
                          schema=declared.schema_text, error="" if same else "the message types differ")
        if edge is not None and not answer["error"]:
            edge.attach(peer, request, pid)
        self._send([peer, *edge_frames("Subscribed", **answer)])
        if edge is not None and not answer["error"]:
            # Waiting messages are sent only after the answer to the subscription.
            edge.on_room()
