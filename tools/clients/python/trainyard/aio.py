# SPDX-License-Identifier: Apache-2.0
"""The same names as in the package trainyard, for programs that use asyncio.

    run = await trainyard.aio.find_run()
    async for header, message in run.subscribe("/metrics"):
        print(header.sequence, message["step"])
    await run.call("optimizer", "param.set", {"name": "lr", "value": 0.01})
"""
from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Deque, Dict, Generic, List, Optional, Sequence, Tuple, Type, TypeVar, Union, cast, overload

import zmq

from .bounds import WINDOW_BYTES
from .door import run_at_door
from .errors import RunEnded, Timeout
from .finder import RunInfo, list_runs, names_door, own_directory, pick_run, read_run
from .header import Header
from .link import Link, registry_socket
from .registry import Node, Questions, Topic, call_arguments, endpoints_of
from .run import CALL_SECONDS, several
from .session import Arrival, Wish, check_wish
from .subscription import ANSWER_SECONDS, LOOK_SECONDS, Counts, quoted, sessions_of

M = TypeVar("M")


def runs() -> List[Run]:
    """Returns the active runs of this user on this host, newest first."""
    return [Run(info) for info in list_runs()]


async def find_run(name: Optional[str] = None, timeout: float = 10.0) -> Run:
    """Returns a run; see trainyard.find_run()."""
    if name is not None and names_door(name):
        return Run(await asyncio.to_thread(run_at_door, name))
    directory, deadline = own_directory(name), time.monotonic() + timeout
    if directory is None:
        return Run(pick_run(name))
    while not (info := read_run(directory)):
        if time.monotonic() > deadline:
            raise Timeout(f"no run announced itself in {directory} within {timeout:g} s")
        await asyncio.sleep(0.02)
    return Run(info)


class Run:
    """A run, for programs that use asyncio. An object belongs to the event loop on which it is first used; several
    tasks may use it at the same time."""

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.run, self.name, self.file, self.directory = info.run, info.name, info.file, info.directory
        self.pid, self.start_ticks, self.registry = info.pid, info.start_ticks, info.registry
        self._socket: Optional[zmq.Socket[bytes]] = None
        self._questions = Questions()
        self._open: Dict[int, asyncio.Future[Dict[str, Any]]] = {}

    def __repr__(self) -> str:
        return f"Run({self.run!r}, file={self.file!r})"

    def alive(self) -> bool:
        """Returns True as long as the run has not ended."""
        return self.info.alive()

    async def request(self, op: str, timeout: float = CALL_SECONDS, **arguments: Any) -> Any:
        """Sends a question to the registry of the run (docs/wire_format.md, section 2) and returns the answer. Raises
        Refused, with the reason, if the registry refuses the question; Timeout; or RunEnded."""
        number, question = self._questions.ask(op, arguments)
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        deadline = time.monotonic() + timeout
        try:
            self._send(question)
            while (left := deadline - time.monotonic()) > 0 and self.alive():
                if (await asyncio.wait({answer}, timeout=min(left, LOOK_SECONDS)))[0]:
                    return self._questions.result(op, answer.result())
        except zmq.Again:
            pass  # The registry does not read; the deadline will report this.
        finally:
            self._forget(number)
        if not self.alive():
            raise RunEnded(f"{op}: run {self.run} has ended")
        raise Timeout(f"run {self.run} did not answer '{op}' within {timeout:g} s")

    async def topics(self) -> List[Topic]:
        """Returns every topic: its name, type, fingerprint, schema, publishers and subscribers."""
        return cast(List[Topic], await self.request("topics"))

    async def nodes(self) -> List[Node]:
        """Returns every component: its name, plugin, process, pid, state and ports."""
        return cast(List[Node], await self.request("nodes"))

    async def call(self, target: str, method: str, body: Any = None, timeout: float = CALL_SECONDS) -> Any:
        """Calls a method of a component and returns the answer. `method` is the name of a service, or "param.list",
        "param.get" or "param.set"."""
        return await self.request("call", timeout, **call_arguments(target, method, body))

    @overload
    def subscribe(self, topic: Union[str, Sequence[str]], payloads: str = ..., window: int = ...,
                  timeout: Optional[float] = ..., window_bytes: int = ..., policy: str = ...
                  ) -> Subscription[Dict[str, Any]]: ...

    @overload
    def subscribe(self, topic: Union[str, Sequence[str]], payloads: str = ..., window: int = ...,
                  timeout: Optional[float] = ..., window_bytes: int = ..., policy: str = ..., *, into: Type[M]
                  ) -> Subscription[M]: ...

    def subscribe(self, topic: Union[str, Sequence[str]], payloads: str = "none", window: int = 64,
                  timeout: Optional[float] = 60.0, window_bytes: int = WINDOW_BYTES, policy: str = "drop_oldest",
                  into: Any = dict) -> Subscription[Any]:
        """Returns an asynchronous iterator over the messages of a topic, or of several. trainyard.Run.subscribe()
        describes the arguments. `async for` and `async with` subscribe."""
        return Subscription(self, several(topic), Wish(payloads, int(window), window_bytes, policy, into), timeout)

    async def endpoints(self, topic: str, timeout: float = 10.0) -> List[str]:
        """Returns the addresses at which a topic is published. If the run is still starting, waits until its processes
        have addresses."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if found := endpoints_of(await self.topics(), topic, self.run, self.registry):
                return found
            await asyncio.sleep(0.02)
        raise Timeout(f"not every publisher of '{topic}' came up within {timeout:g} s")

    def close(self) -> None:
        """Closes the connection to the registry. The next question opens a new connection."""
        if self._socket is not None:
            self._socket.close(0)
            self._socket = None

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _send(self, question: bytes) -> None:
        if self._socket is None:
            self._socket = registry_socket(self.registry)
        asyncio.get_running_loop().add_reader(self._socket.FD, self._read)
        self._socket.send(question, zmq.NOBLOCK)
        # The signal that an answer has arrived may have been consumed while sending, so this checks once more.
        self._read()

    def _read(self) -> None:
        """Passes the answers that have arrived to the tasks that wait for them. Late answers to questions that have
        timed out are dropped."""
        try:
            while self._socket is not None:
                number, answer = self._questions.number(self._socket.recv_multipart(zmq.NOBLOCK)[-1])
                future = self._open.get(number) if number is not None else None
                if future is not None and not future.done():
                    future.set_result(answer)
        except zmq.Again:
            pass

    def _forget(self, number: int) -> None:
        del self._open[number]
        if not self._open and self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.FD)


class Subscription(Counts, Generic[M]):
    """An asynchronous iterator over the messages of one or several topics, from all of their publishers. It ends when
    the run or all publishers end. Use it in an `async with` statement, or call close(), to unsubscribe earlier."""

    def __init__(self, run: Run, topics: Sequence[str], wish: Wish, timeout: Optional[float]) -> None:
        check_wish(topics, wish)
        self.run, self.topics, self.timeout, self._wish = run, list(topics), timeout, wish
        self._arrivals: Deque[Arrival] = deque()
        self._begun = self._closed = False

    def __aiter__(self) -> Subscription[M]:
        return self

    async def __anext__(self) -> Tuple[Header, M]:
        if not self._arrivals and not await self._wait(self.timeout):
            raise StopAsyncIteration
        return self._take()

    async def receive(self, timeout: Optional[float] = 60.0) -> Optional[Tuple[Header, M]]:
        """Returns the next header and message, or None when the run has ended. Raises Timeout if no message arrives
        within `timeout` seconds; with None, waits as long as the run lives."""
        if not self._arrivals and not await self._wait(timeout):
            return None
        return self._take()

    def close(self) -> None:
        """Unsubscribes, and drops the messages that have not been read."""
        if not self._closed:
            self._closed = True
            self._arrivals.clear()
            for link in self._links:
                link.close()

    async def __aenter__(self) -> Subscription[M]:
        await self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self.close()

    async def _begin(self) -> None:
        """Subscribes, and waits until every publisher has accepted."""
        if self._begun:
            return
        self._begun = True
        found: Dict[str, List[str]] = {}
        for topic in self.topics:
            for endpoint in await self.run.endpoints(topic):
                found.setdefault(endpoint, []).append(topic)
        self._links = [Link(session) for session in sessions_of(list(found.items()), self._wish)]
        began = time.monotonic()
        try:
            while missing := self._unanswered(began):
                if time.monotonic() > began + ANSWER_SECONDS or not self.run.alive():
                    raise Timeout(f"{quoted(self.topics)} was not acknowledged by {', '.join(missing)}")
                if not self._drain():
                    await self._readable(0.1)
        except BaseException:
            self.close()
            raise

    def _take(self) -> Tuple[Header, M]:
        arrival = self._arrivals.popleft()
        message: M = arrival.open()
        self.received += 1
        if arrival.feed.session.outgoing:
            for link in self._links:
                link.flush()
        return arrival.header, message

    async def _wait(self, timeout: Optional[float]) -> bool:
        """Waits until a message has arrived. Returns False if the subscription has ended."""
        await self._begin()
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._arrivals and not self._closed:
            if self._drain():
                await asyncio.sleep(0)  # This lets other tasks run, even if messages arrive without a break.
                continue
            if all(link.session.ended() for link in self._links) or not self.run.alive():
                # The last messages may have arrived after the check whether the run is alive.
                if not self._drain():
                    return False
                continue
            left = LOOK_SECONDS if deadline is None else min(LOOK_SECONDS, deadline - time.monotonic())
            if left <= 0:
                raise Timeout(f"no message on {quoted(self.topics)} within {timeout:g} s")
            await self._readable(left)
        return bool(self._arrivals)

    def _drain(self) -> bool:
        """Handles the messages that have arrived. Returns False if there are none."""
        busy = [link for link in self._links if link.ready()]
        for link in busy:
            link.watch()
            link.drain(self._arrivals)
        return bool(busy)

    async def _readable(self, seconds: float) -> None:
        """Waits until libzmq signals that something may have arrived. The event loop watches the sockets only during
        this call, because libzmq's signal remains set until the socket is read, and would keep the loop busy."""
        loop = asyncio.get_running_loop()
        signal: asyncio.Future[None] = loop.create_future()
        numbers = [number for link in self._links for number in (link.socket.FD, link.monitor.FD)]
        try:
            for number in numbers:
                loop.add_reader(number, _set, signal)
            # Messages that arrived before the event loop began to watch give no further signal, so they are checked for
            # here.
            if not any(link.ready() for link in self._links):
                await asyncio.wait({signal}, timeout=seconds)
        finally:
            for number in numbers:
                loop.remove_reader(number)


def _set(signal: asyncio.Future[None]) -> None:
    if not signal.done():
        signal.set_result(None)


__all__ = ["Run", "Subscription", "find_run", "runs"]
