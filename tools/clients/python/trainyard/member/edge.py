# SPDX-License-Identifier: Apache-2.0
"""The sending end of an edge of the plan: its policy and its credit, without sockets."""
from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Dict, Optional

from .outgoing import Outgoing


class Edge:
    """Messages are passed to `transmit`, with their receiver, as long as it has credit; the others wait or are dropped,
    as the policy says. Without a receiver there is no credit. `transmit` returns the size that the receiver will count,
    or None if the message had to be dropped."""

    def __init__(self, plan: Dict[str, Any], transmit: Callable[[Edge, Outgoing], Optional[int]],
                 changed: Callable[[], None]) -> None:
        self.plan, self.id, self.policy = plan, plan["id"], plan["policy"]
        self._transmit, self._changed = transmit, changed
        self.window_messages, self.window_bytes = plan["window_messages"], plan["window_bytes"]
        self.peer: Optional[bytes] = None
        self.subscription = self.reader = 0
        self.reader_pid = 0  # 0 if it is unknown.
        self.payloads = "none"
        self.waiting: Deque[Outgoing] = collections.deque()
        self.waiting_bytes = 0
        self.receiver_gone = False
        self._reset()
        # Counters for users.
        self.sent = self.dropped = self.bytes = self.blocked = 0

    def _reset(self) -> None:
        self.under_way = self.bytes_under_way = 0

    def has_room(self) -> bool:
        return self.peer is not None and (self.under_way == 0 or (
            self.under_way < self.window_messages and self.bytes_under_way < self.window_bytes))

    def ready(self) -> bool:
        return self.receiver_gone or (not self.waiting and self.has_room())

    def is_blocked(self) -> bool:
        """Returns True if messages wait that may not be dropped, so the component must wait, too."""
        return self.policy == "block" and bool(self.waiting)

    def drained(self) -> bool:
        return self.peer is None or (not self.waiting and self.under_way == 0)

    def send(self, message: Outgoing) -> None:
        if not self.waiting and self.has_room():
            self.receiver_gone = False
            self._carry(message)
        elif self.receiver_gone:
            self.dropped += 1
        else:
            self._keep_back(message)

    def _carry(self, message: Outgoing) -> None:
        size = self._transmit(self, message)
        if size is None:
            self.dropped += 1
            return
        self.sent, self.bytes = self.sent + 1, self.bytes + message.payload_bytes
        self.under_way, self.bytes_under_way = self.under_way + 1, self.bytes_under_way + size

    def _keep_back(self, message: Outgoing) -> None:
        self.blocked += 1
        if self.policy != "block":
            keep = 1 if self.policy == "latest" else self.window_messages
            while self.waiting and (len(self.waiting) >= keep or
                                    self.waiting_bytes + message.payload_bytes > self.window_bytes):
                self._take_oldest()
                self.dropped += 1
        self.waiting.append(message)
        self.waiting_bytes += message.payload_bytes

    def _take_oldest(self) -> Outgoing:
        message = self.waiting.popleft()
        self.waiting_bytes -= message.payload_bytes
        return message

    def on_room(self) -> None:
        """Sends what waits, as far as there is credit."""
        while self.waiting:
            room = self.has_room()
            if not room and not self.receiver_gone:
                return
            message = self._take_oldest()
            if room:
                self.receiver_gone = False
                self._carry(message)
            else:
                self.dropped += 1
        self._changed()

    def attach(self, peer: bytes, request: Dict[str, Any], pid: int = 0) -> None:
        """Connects the receiver, for the first time or again. `pid` is its process, if it has said so."""
        self.reader_pid = pid
        self.peer, self.subscription, self.reader = peer, request["subscription"], request["process_index"]
        self.payloads = request["payloads"]
        self.window_messages, self.window_bytes = max(request["window_messages"], 1), max(request["window_bytes"], 1)
        self._reset()

    def detach(self) -> None:
        """Messages under way count as handled."""
        self.peer = None
        self._reset()

    def has_successor_of(self, dead: int) -> bool:
        """Returns True if the receiver has said which process it is, and it is another one than `dead`: a process that
        was started again may subscribe before its death is known. Both pids are those on the receiver's own host."""
        return self.peer is not None and dead > 0 and self.reader_pid > 0 and self.reader_pid != dead

    def lose(self) -> None:
        """The receiver's process has died: messages are dropped until it has subscribed again."""
        self.detach()
        self.receiver_gone = True
        self.on_room()

    def credit(self, messages: int, size: int) -> None:
        # Never more than was sent, whatever the receiver says.
        self.under_way = max(self.under_way - messages, 0)
        self.bytes_under_way = max(self.bytes_under_way - size, 0)
        self.on_room()
