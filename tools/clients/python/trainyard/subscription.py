# SPDX-License-Identifier: Apache-2.0
"""The class Subscription for synchronous programs; aio.py has the asynchronous class."""
from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Deque, Generic, List, Optional, Sequence, Tuple, TypeVar

import zmq

from .bounds import SUBSCRIPTIONS
from .errors import Timeout
from .header import Header
from .link import Link
from .session import Arrival, Session, Wish, check_wish

if TYPE_CHECKING:
    from types import TracebackType

    from .run import Run

M = TypeVar("M")
ANSWER_SECONDS = 10.0  # How long a publisher may take to accept a subscription.
# A process that has ended for good remains in the registry's list. After this number of seconds, it is enough if the
# other publishers have accepted.
GONE_SECONDS = 2.0
LOOK_SECONDS = 0.2  # How often a subscription that receives no messages checks whether the run is alive.


def sessions_of(topics_at: Sequence[Tuple[str, Sequence[str]]], wish: Wish) -> List[Session]:
    """Returns the sessions for the topics at each endpoint. No session has more subscriptions than docs/wire_format.md
    allows."""
    return [Session(endpoint, topics[first:first + SUBSCRIPTIONS], wish) for endpoint, topics in topics_at
            for first in range(0, len(topics), SUBSCRIPTIONS)]


def quoted(topics: Sequence[str]) -> str:
    return ", ".join(f"'{topic}'" for topic in topics)


class Counts:
    """The counters of a subscription, synchronous or asynchronous."""

    _links: List[Link] = []
    #: The messages that the program has received.
    received = 0

    def _unanswered(self, began: float) -> List[str]:
        """Returns the endpoints for whose answer the program must still wait. `began` is the time at which it began to
        wait."""
        missing = [link.session.endpoint for link in self._links if not link.session.accepted()]
        return missing if len(missing) == len(self._links) or time.monotonic() - began < GONE_SECONDS else []

    @property
    def missed(self) -> int:
        """The number of messages that were sent but did not arrive, because this program did not read fast enough or,
        with the policy "latest", because a newer message replaced them."""
        return sum(feed.missed for link in self._links for feed in link.session.feeds)


class Subscription(Counts, Generic[M]):
    """An iterator over the messages of one or several topics, from all of their publishers. It ends when the run or all
    publishers end. Use it in a `with` statement, or call close(), to unsubscribe earlier."""

    def __init__(self, run: Run, topics: Sequence[str], wish: Wish, timeout: Optional[float]) -> None:
        check_wish(topics, wish)
        self.run, self.topics, self.timeout = run, list(topics), timeout
        self._arrivals: Deque[Arrival] = deque()
        self._poller = zmq.Poller()
        self._closed = False
        self._links = [Link(session) for session in sessions_of(run._topics_at(topics), wish)]
        for link in self._links:
            self._poller.register(link.monitor, zmq.POLLIN)
            self._poller.register(link.socket, zmq.POLLIN)
        try:
            self._wait_until_accepted()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Subscription[M]:
        return self

    def __next__(self) -> Tuple[Header, M]:
        if not self._arrivals and (self._closed or not self._wait(self.timeout)):
            raise StopIteration
        return self._open()

    def receive(self, timeout: Optional[float] = 60.0) -> Optional[Tuple[Header, M]]:
        """Returns the next header and message, or None when the run has ended. Raises Timeout if no message arrives
        within `timeout` seconds; with None, waits as long as the run lives."""
        if not self._arrivals and (self._closed or not self._wait(timeout)):
            return None
        return self._open()

    def close(self) -> None:
        """Unsubscribes, and drops the messages that have not been read."""
        if not self._closed:
            self._closed = True
            self._arrivals.clear()
            for link in self._links:
                link.close()

    def __enter__(self) -> Subscription[M]:
        return self

    def __exit__(self, kind: Optional[type], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self.close()

    def _open(self) -> Tuple[Header, M]:
        arrival = self._arrivals.popleft()
        message: M = arrival.open()
        self.received += 1
        if arrival.feed.session.outgoing:
            for link in self._links:
                link.flush()
        return arrival.header, message

    def _wait(self, timeout: Optional[float]) -> bool:
        """Waits until a message has arrived. Returns False if the subscription has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._arrivals:
            if self._poll(0):
                continue
            if all(link.session.ended() for link in self._links) or not self.run.alive():
                # The last messages may have arrived after the check whether the run is alive.
                if not self._poll(0):
                    return False
                continue
            left = LOOK_SECONDS if deadline is None else min(LOOK_SECONDS, deadline - time.monotonic())
            if left <= 0:
                raise Timeout(f"no message on {quoted(self.topics)} within {timeout:g} s")
            self._poll(left)
        return True

    def _poll(self, seconds: float) -> bool:
        """Waits up to `seconds` for messages, and handles them. Returns False if nothing has arrived."""
        events = dict(self._poller.poll(int(seconds * 1000)))
        for link in self._links if events else ():
            if link.monitor in events:
                link.watch()
            if link.socket in events:
                link.drain(self._arrivals)
        return bool(events)

    def _wait_until_accepted(self) -> None:
        began = time.monotonic()
        while missing := self._unanswered(began):
            if time.monotonic() > began + ANSWER_SECONDS or not self.run.alive():
                raise Timeout(f"{quoted(self.topics)} was not acknowledged by {', '.join(missing)}")
            self._poll(0.1)
