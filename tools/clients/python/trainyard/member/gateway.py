# SPDX-License-Identifier: Apache-2.0
"""The socket at which visitors (programs that attach to a run) subscribe to the topics of a member
(docs/wire_format.md, section 3). It runs on the control thread and never delays the component: messages for which a
visitor has no credit wait here, and are dropped if there are too many."""
from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

import zmq

from ..bounds import SUBSCRIPTIONS, TOPIC_BYTES, WINDOW_BYTES, WINDOW_MESSAGES
from ..errors import BadMessage, TrainyardError
from .edge import Edge
from .memory import Pool
from .outgoing import Outgoing
from .ports import Output
from .protocol import EDGES, LOG_RECORD_TEXT, LOG_TOPIC, edge_frames
from .sockets import Sockets

VISITOR = 0xFFFFFFFF
_MOST_SUBSCRIPTIONS = 256
_MOST_BYTES = 128 << 20  # The largest number of bytes in flight to all visitors together.
_MOST_QUEUED = 256  # The largest number of messages that one connection may leave unread.
_EARLY_RECORDS = 256


class _Topic:
    def __init__(self, declared: Output) -> None:
        self.declared = declared
        self.visitors: List[_Visitor] = []
        self.last: Optional[Outgoing] = None


class _Visitor(Edge):
    """One subscription of a visitor."""

    def __init__(self, topic: _Topic, request: Dict[str, Any], peer: bytes, gateway: Gateway) -> None:
        super().__init__({**request, "id": VISITOR}, gateway.transmit, lambda: None)
        self.topic, self.gateway = topic, gateway
        self.attach(peer, request)

    def has_room(self) -> bool:
        others = self.gateway.bytes_under_way()
        return super().has_room() and (others == 0 or others < _MOST_BYTES)


class Gateway:
    """Serves visitors. Calls `wanted(topic, is_wanted)` when the first visitor subscribes to a topic and when the last
    one leaves."""

    def __init__(self, sockets: Sockets, address: str, outputs: Dict[str, Output],
                 wanted: Callable[[str, bool], None]) -> None:
        self.socket = sockets.router(address, for_members=False)
        self.socket.sndhwm = _MOST_QUEUED
        self.endpoint = sockets.address(self.socket)
        log = Output(LOG_TOPIC, LOG_RECORD_TEXT)
        self._topics = {topic: _Topic(output) for topic, output in outputs.items()}
        self._topics[LOG_TOPIC] = _Topic(log)
        self._wanted, self._pool, self._sequence = wanted, Pool(), 0
        self._visitors: Dict[Tuple[bytes, int], _Visitor] = {}
        self._early: Optional[Deque[Outgoing]] = collections.deque(maxlen=_EARLY_RECORDS)

    def bytes_under_way(self) -> int:
        return sum(visitor.bytes_under_way for visitor in self._visitors.values())

    def counters(self) -> List[Dict[str, Any]]:
        return [{"topic": visitor.plan["topic"], "sent": visitor.sent, "dropped": visitor.dropped}
                for visitor in self._visitors.values()]

    def publish(self, topic: str, message: Outgoing) -> None:
        """Sends a message of the component to all visitors of its topic."""
        known = self._topics[topic]
        if known.declared.latched:
            known.last = message
        for visitor in list(known.visitors):
            visitor.send(message)

    def tell(self, record: Dict[str, Any]) -> None:
        """Publishes a log record. Until the first visitor subscribes to the log, the newest records are kept for it. A
        record that cannot be encoded is dropped, because a line of the log must not end the process."""
        log = self._topics[LOG_TOPIC]
        try:
            message = Outgoing(log.declared.schema, record, self._pool, share=False)
        except TrainyardError:
            return
        message.sequence, message.time = self._sequence, record["time_ns"]
        self._sequence += 1
        if self._early is not None:
            self._early.append(message)
        else:
            self.publish(LOG_TOPIC, message)

    def say_ended(self) -> None:
        """Tells all visitors that no more messages follow."""
        for (peer, number), _ in list(self._visitors.items()):
            self._send([peer, *edge_frames("Ended", subscription=number)])

    def sweep(self) -> None:
        """Removes visitors that have disconnected without unsubscribing. Must be called about once a second."""
        for peer in {peer for peer, _ in self._visitors}:
            if not self._send([peer, b""]):
                self._dismiss_all(peer)

    def poll(self) -> None:
        for _ in range(64):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                self._handle(frames)
            except BadMessage:
                pass  # Invalid frames get no answer.

    def transmit(self, edge: Edge, message: Outgoing) -> Optional[int]:
        assert edge.peer is not None
        frames, size = message.frames(edge.plan["topic"].encode(), edge.subscription, edge.payloads, 0)
        try:
            self.socket.send_multipart([edge.peer, *frames], zmq.NOBLOCK)
        except zmq.ZMQError as error:
            raise_unless_gone(error)
            return None  # The visitor does not read, or it has disconnected, which sweep() will notice.
        return size

    def _send(self, frames: List[bytes]) -> bool:
        try:
            self.socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            return True
        except zmq.ZMQError as error:
            raise_unless_gone(error)
            return False
        return True

    def _handle(self, frames: List[bytes]) -> None:
        if len(frames) != 4 or frames[1]:
            return
        peer, kind = frames[0], frames[2].decode("utf-8", "replace")
        if kind not in ("Subscribe", "Credit", "Unsubscribe"):
            return
        message = EDGES[kind].decode(frames[3])
        if kind == "Subscribe":
            return self._subscribe(peer, message)
        visitor = self._visitors.get((peer, message["subscription"]))
        if visitor is None:
            return
        if kind == "Credit":
            visitor.credit(message["messages"], message["bytes"])
        else:
            self._dismiss(visitor)

    def _objection(self, peer: bytes, request: Dict[str, Any]) -> str:
        """Returns why a subscription is refused, or an empty text if it is accepted."""
        topic = self._topics.get(request["topic"])
        mine = sum(1 for known, _ in self._visitors if known == peer)
        if topic is None:
            return f"no topic '{request['topic'][:TOPIC_BYTES]}' here"
        if request["fingerprint"] not in (0, topic.declared.schema.fingerprint):
            return "the message types differ"
        if request["policy"] not in ("drop_oldest", "latest"):
            return f"a visitor may not ask for the policy '{request['policy'][:20]}'; drop_oldest or latest"
        if request["payloads"] not in ("none", "inline"):
            return f"a visitor may not ask for payloads '{request['payloads'][:20]}'; none or inline"
        if request["window_messages"] > WINDOW_MESSAGES or request["window_bytes"] > WINDOW_BYTES:
            return f"the window is too large; at most {WINDOW_MESSAGES} messages and {WINDOW_BYTES} bytes"
        if mine >= SUBSCRIPTIONS or len(self._visitors) >= _MOST_SUBSCRIPTIONS:
            return f"too many subscriptions; at most {SUBSCRIPTIONS} of one visitor and {_MOST_SUBSCRIPTIONS} in all"
        return ""

    def _subscribe(self, peer: bytes, request: Dict[str, Any]) -> None:
        known = self._visitors.get((peer, request["subscription"]))
        if known is not None:
            self._dismiss(known)
        error, topic = self._objection(peer, request), self._topics.get(request["topic"])
        declared = topic.declared if topic else None
        self._send([peer, *edge_frames(
            "Subscribed", subscription=request["subscription"], topic=request["topic"],
            type=declared.schema.name if declared else "", fingerprint=declared.schema.fingerprint if declared else 0,
            schema=declared.schema_text if declared else "", error=error)])
        if error or topic is None:
            return
        visitor = _Visitor(topic, request, peer, self)
        self._visitors[peer, request["subscription"]] = visitor
        topic.visitors.append(visitor)
        if request["topic"] == LOG_TOPIC:
            early, self._early = self._early or (), None
            for record in early:
                visitor.send(record)
        elif len(topic.visitors) == 1:
            # This is necessary even if `last` is set: a message that the component sent before it learned that the
            # previous visitor has left may have arrived since then. The component now sends its last message again.
            self._wanted(request["topic"], True)
        elif topic.last is not None:
            visitor.send(topic.last)

    def _dismiss(self, visitor: _Visitor) -> None:
        del self._visitors[visitor.peer, visitor.subscription]  # type: ignore[arg-type]
        visitor.topic.visitors.remove(visitor)
        if not visitor.topic.visitors and visitor.plan["topic"] != LOG_TOPIC:
            visitor.topic.last = None
            self._wanted(visitor.plan["topic"], False)

    def _dismiss_all(self, peer: bytes) -> None:
        for visitor in [visitor for (known, _), visitor in self._visitors.items() if known == peer]:
            self._dismiss(visitor)


def raise_unless_gone(error: zmq.ZMQError) -> None:
    if error.errno not in (zmq.EHOSTUNREACH, zmq.EAGAIN):
        raise error
