# SPDX-License-Identifier: Apache-2.0
"""Passes messages to the handlers of a component, or keeps them back while the component must not handle messages."""
from __future__ import annotations

import collections
from typing import Callable, Deque

from .inlet import Delivery, InputPort


class Mailbox:
    """`held` is a function that returns True while the component must not handle messages: before it is active, and
    while messages at one of its outputs wait for credit. `handle` calls the handler for a message."""

    def __init__(self, held: Callable[[], bool], handle: Callable[[Delivery], None]) -> None:
        self._is_held, self._handle = held, handle
        self._held: Deque[Delivery] = collections.deque()

    def deliver(self, delivery: Delivery) -> None:
        if self._held or self._is_held():
            self._held.append(delivery)
        else:
            self._dispatch(delivery)

    def release(self) -> None:
        """Passes on the messages that were kept back. `held` is checked before every message, because the handler may
        use up the credit of an output."""
        while self._held and not self._is_held():
            self._dispatch(self._held.popleft())

    def resume(self, port: InputPort) -> None:
        """Passes on the messages that a paused input has kept back."""
        port.paused = False
        while port.aside and not port.paused:
            self._handle(port.aside.popleft())

    def _dispatch(self, delivery: Delivery) -> None:
        # The credit for a message that is put aside is not returned, which makes the sender wait.
        if delivery.port.paused or delivery.port.aside:
            delivery.port.aside.append(delivery)
        else:
            self._handle(delivery)
