# SPDX-License-Identifier: Apache-2.0
"""The protocol of subscriptions at one endpoint (docs/wire_format.md, section 3), without sockets: the caller passes
the frames that arrive to a Session, and sends the frames in its list `outgoing`. The synchronous and the asynchronous
class Subscription both use it."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from .bounds import TOPIC_BYTES, WINDOW_BYTES, WINDOW_MESSAGES
from .errors import BadMessage, Refused, TrainyardError
from .header import Header, read_header
from .messages import Schema

VISITOR = 0xFFFFFFFF  # The number that a subscriber gives instead of an edge of the plan, because it is a visitor.
Frames = List[bytes]

_SUBSCRIBE = Schema("Subscribe {\n  u32 subscription\n  string topic\n  u32 edge\n  u64 fingerprint\n  string policy\n"
                    "  u64 window_messages\n  u64 window_bytes\n  string payloads\n  u32 process_index\n}\n")
_SUBSCRIBED = Schema("Subscribed {\n  u32 subscription\n  string topic\n  string type\n  u64 fingerprint\n"
                     "  string schema\n  string error\n}\n")
_CREDIT, _NUMBER = struct.Struct("<IQQ"), struct.Struct("<I")


class Wish(NamedTuple):
    """The options of a subscription, which apply to each of its topics."""

    payloads: str = "none"
    window: int = 64
    window_bytes: int = WINDOW_BYTES
    policy: str = "drop_oldest"
    into: Any = dict


def check_wish(topics: Sequence[str], wish: Wish) -> None:
    """Raises TrainyardError if the options are not valid, so that a publisher would refuse the subscription."""
    for name, given, most in (("window", wish.window, WINDOW_MESSAGES), ("window_bytes", wish.window_bytes, WINDOW_BYTES)):
        if not 1 <= given <= most:
            raise TrainyardError(f"{name} = {given}; allowed are 1 to {most}")
    for name, word, allowed in (("payloads", wish.payloads, ("none", "inline")),
                                ("policy", wish.policy, ("drop_oldest", "latest"))):
        if word not in allowed:
            raise TrainyardError(f"{name} = {word!r}; allowed are {' and '.join(allowed)}")
    for topic in topics:
        if not 0 < len(topic.encode()) <= TOPIC_BYTES:
            raise TrainyardError(f"the name of a topic has {len(topic.encode())} bytes; allowed are 1 to {TOPIC_BYTES}")


class Feed:
    """The subscription to one topic in a session."""

    def __init__(self, session: Session, number: int, topic: str) -> None:
        self.session, self.number, self.topic = session, number, topic
        self.topic_frame = topic.encode()
        self.schema: Optional[Schema] = None
        self.schema_text = ""
        self.accepted = self.ended = self.flushing = False
        # The messages and bytes that were handled, but whose credit has not been returned yet.
        self.messages = self.bytes = 0
        self.missed = 0
        self.last: Dict[int, int] = {}  # The last sequence number of each sender.

    def begin(self) -> None:
        self.accepted = self.ended = self.flushing = False
        self.messages = self.bytes = 0

    def count(self, header: Header) -> None:
        """Counts the messages that were missed before this message, from the sequence numbers. The numbers of a
        publisher that was restarted begin again at 0."""
        last = self.last.get(header.source)
        if last is not None and header.sequence > last:
            self.missed += header.sequence - last - 1
        elif len(self.last) >= 65536:
            self.last.clear()  # No run has so many components, so the publisher is sending invalid numbers.
        self.last[header.source] = header.sequence


class Arrival(NamedTuple):
    """A message that has arrived but has not been decoded."""

    feed: Feed
    schema: Schema
    header: Header
    frames: Frames

    def open(self) -> Any:
        """Decodes the message and returns its credit. Raises BadMessage."""
        _, _, body, *payloads = self.frames
        self.feed.session.handled(self.feed, sum(map(len, payloads), len(body)))
        return self.schema._decode(body, payloads)


class Session:
    """The subscriptions at one endpoint, which share a connection."""

    def __init__(self, endpoint: str, topics: Sequence[str], wish: Wish) -> None:
        self.endpoint, self.wish, self.outgoing = endpoint, wish, []  # type: str, Wish, List[Frames]
        self.feeds = [Feed(self, number, topic) for number, topic in enumerate(topics)]

    def connected(self) -> None:
        """Must be called after the socket has connected or reconnected. Subscribes with the full window."""
        self.outgoing.clear()
        for feed in self.feeds:
            feed.begin()
            wish = self.wish
            body, _ = _SUBSCRIBE.encode({
                "subscription": feed.number, "topic": feed.topic, "edge": VISITOR, "fingerprint": 0,
                "policy": wish.policy, "window_messages": wish.window, "window_bytes": wish.window_bytes,
                "payloads": wish.payloads, "process_index": 0})
            self.outgoing.append([b"", b"Subscribe", body])

    def accepted(self) -> bool:
        """Returns True when the publisher has accepted every subscription."""
        return all(feed.accepted for feed in self.feeds)

    def ended(self) -> bool:
        """Returns True when the publisher has announced that no more messages follow."""
        return all(feed.ended for feed in self.feeds)

    def take(self, frames: Frames) -> Optional[Arrival]:
        """Handles frames that have arrived. If they contain a message, returns it. Raises BadMessage, or Refused if the
        publisher has refused a subscription."""
        if not frames[0]:
            if len(frames) == 3:
                self._control(frames[1], frames[2])
            return None
        if len(frames) < 3 or len(frames[1]) < 32:
            return None
        number, = _NUMBER.unpack_from(frames[1], 28)
        feed = self.feeds[number] if number < len(self.feeds) else None
        if feed is None or feed.schema is None or not feed.accepted or feed.topic_frame != frames[0]:
            return None  # The message belongs to an earlier connection.
        header = read_header(frames[1], feed.topic)
        if header.payloads != len(frames) - 3:
            raise BadMessage(f"a message on '{feed.topic}' has {len(frames)} frames; its header: {header}")
        if header.fingerprint != feed.schema.fingerprint:
            raise BadMessage(f"a message on '{feed.topic}' has fingerprint {header.fingerprint:016x}; "
                             f"{feed.schema.name} has {feed.schema.fingerprint:016x}")
        feed.count(header)
        return Arrival(feed, feed.schema, header, frames)

    def handled(self, feed: Feed, size: int) -> None:
        """Returns credit to the publisher when half of the window has been handled, or immediately if the publisher has
        requested that."""
        feed.messages += 1
        feed.bytes += size
        if feed.flushing or feed.messages * 2 >= self.wish.window or feed.bytes * 2 >= self.wish.window_bytes:
            self._return_credit(feed)

    def close(self) -> None:
        """Unsubscribes."""
        self.outgoing += [[b"", b"Unsubscribe", _NUMBER.pack(feed.number)] for feed in self.feeds]

    def _return_credit(self, feed: Feed) -> None:
        if feed.messages:
            self.outgoing.append([b"", b"Credit", _CREDIT.pack(feed.number, feed.messages, feed.bytes)])
        feed.messages = feed.bytes = 0

    def _control(self, kind: bytes, body: bytes) -> None:
        if kind == b"Subscribed":
            self._subscribed(_SUBSCRIBED.decode(body))
        elif kind in (b"Flush", b"Ended") and len(body) == _NUMBER.size:
            number, = _NUMBER.unpack(body)
            feed = self.feeds[number] if number < len(self.feeds) else None
            if feed and kind == b"Ended":
                feed.ended = True
            elif feed:
                feed.flushing = True
                self._return_credit(feed)

    def _subscribed(self, answer: Dict[str, Any]) -> None:
        if answer["subscription"] >= len(self.feeds):
            raise BadMessage(f"{self.endpoint} answered subscription {answer['subscription']}, which there is not")
        feed = self.feeds[answer["subscription"]]
        if answer["error"]:
            raise Refused(f"topic '{feed.topic}' at {self.endpoint}: {answer['error']}")
        # The schema is compiled only once, even if the connection is restored several times.
        if feed.schema_text != answer["schema"] or feed.schema is None:
            schema = Schema(answer["schema"], self.wish.into)
            if schema.fingerprint != answer["fingerprint"]:
                raise BadMessage(f"topic '{feed.topic}' at {self.endpoint}: the schema of {schema.name} has the fingerprint "
                                 f"{schema.fingerprint:016x}, not {answer['fingerprint']:016x}")
            feed.schema, feed.schema_text = schema, answer["schema"]
        feed.accepted = True
