# SPDX-License-Identifier: Apache-2.0
"""Passes messages to the handlers of a component, or keeps them back while it may not handle any."""
from __future__ import annotations

import collections
from typing import Callable, Deque

from .inlet import Delivery, InputPort


class Mailbox:
    """`held` returns True while the component must not be given messages: before it is active, and while messages wait
    for room at one of its outputs. `handle` calls the handler."""

    def __init__(self, held: Callable[[], bool], handle: Callable[[Delivery], None]) -> None:
        self._is_held, self._handle = held, handle
        self._held: Deque[Delivery] = collections.deque()

    def deliver(self, delivery: Delivery) -> None:
        if self._held or self._is_held():
            self._held.append(delivery)
        else:
            self._dispatch(delivery)

    def release(self) -> None:
        """Passes on what was kept back. This is asked again for every message, since each may fill an output."""
        while self._held and not self._is_held():
            self._dispatch(self._held.popleft())

    def resume(self, port: InputPort) -> None:
        """Passes on what a paused input has kept back."""
        port.paused = False
        while port.aside and not port.paused:
            self._handle(port.aside.popleft())

    def _dispatch(self, delivery: Delivery) -> None:
        # A message that is put aside keeps its credit, and so holds its sender back.
        if delivery.port.paused or delivery.port.aside:
            delivery.port.aside.append(delivery)
        else:
            self._handle(delivery)
