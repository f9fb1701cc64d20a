# SPDX-License-Identifier: Apache-2.0
"""The sending end of an edge, that is, of the connection from an output to one input: its policy and its credit,
without sockets."""
from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Dict, Optional

from .outgoing import Outgoing


class Edge:
    """Decides when messages are sent. The receiver gives credit for a number of messages and bytes. As long as there is
    credit, messages are passed to `transmit`; further messages wait or are dropped, as the policy requires. While no
    receiver is connected, there is no credit. `transmit` returns the number of bytes for which the receiver will return
    credit, or None if it had to drop the message."""

    def __init__(self, plan: Dict[str, Any], transmit: Callable[[Edge, Outgoing], Optional[int]],
                 changed: Callable[[], None]) -> None:
        self.plan, self.id, self.policy = plan, plan["id"], plan["policy"]
        self._transmit, self._changed = transmit, changed
        self.window_messages, self.window_bytes = plan["window_messages"], plan["window_bytes"]
        self.peer: Optional[bytes] = None
        self.subscription = self.reader = 0
        self.reader_pid = 0  # The pid of the receiver; 0 if it is unknown.
        self.payloads = "none"
        self.waiting: Deque[Outgoing] = collections.deque()
        self.waiting_bytes = 0
        self.receiver_gone = False
        self._reset()
        # Counters for `trainyard topic info`.
        self.sent = self.dropped = self.bytes = self.blocked = 0

    def _reset(self) -> None:
        self.under_way = self.bytes_under_way = 0

    def has_room(self) -> bool:
        return self.peer is not None and (self.under_way == 0 or (
            self.under_way < self.window_messages and self.bytes_under_way < self.window_bytes))

    def ready(self) -> bool:
        return self.receiver_gone or (not self.waiting and self.has_room())

    def is_blocked(self) -> bool:
        """Returns True if messages are waiting that must not be dropped. The component must then wait, too."""
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
        """Sends the waiting messages for which there is credit."""
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
        """Connects the receiver, for the first time or again. `pid` is the pid of its process, or 0 if it has not sent
        it."""
        self.reader_pid = pid
        self.peer, self.subscription, self.reader = peer, request["subscription"], request["process_index"]
        self.payloads = request["payloads"]
        self.window_messages, self.window_bytes = max(request["window_messages"], 1), max(request["window_bytes"], 1)
        self._reset()

    def detach(self) -> None:
        """Disconnects the receiver. Messages in flight count as handled."""
        self.peer = None
        self._reset()

    def has_successor_of(self, dead: int) -> bool:
        """Returns True if the receiver is known to be another process than `dead`. This happens if a process is started
        again and subscribes before the death of its predecessor has been reported. Both pids are valid on the
        receiver's host."""
        return self.peer is not None and dead > 0 and self.reader_pid > 0 and self.reader_pid != dead

    def lose(self) -> None:
        """Called when the process of the receiver has died. Messages are dropped until it has subscribed again."""
        self.detach()
        self.receiver_gone = True
        self.on_room()

    def credit(self, messages: int, size: int) -> None:
        # The receiver cannot return more credit than was used.
        self.under_way = max(self.under_way - messages, 0)
        self.bytes_under_way = max(self.bytes_under_way - size, 0)
        self.on_room()
