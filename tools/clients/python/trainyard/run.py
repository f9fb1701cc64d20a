# SPDX-License-Identifier: Apache-2.0
"""The class Run for synchronous programs; aio.py has the asynchronous class."""
from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union, cast, overload

import zmq

from .bounds import WINDOW_BYTES
from .door import run_at_door
from .errors import RunEnded, Timeout
from .link import registry_socket
from .registry import Node, Questions, Topic, call_arguments, endpoints_of
from .finder import RunInfo, list_runs, names_door, own_directory, pick_run, read_run
from .session import Wish
from .subscription import Subscription

M = TypeVar("M")
CALL_SECONDS = 12.0  # The registry gives up after 10 s, so its error arrives first.


def runs() -> List[Run]:
    """Returns the active runs of this user on this host, newest first."""
    return [Run(info) for info in list_runs()]


def find_run(name: Optional[str] = None, timeout: float = 10.0) -> Run:
    """Returns the newest active run, or the newest active run whose name or full name is `name`. A program that was
    started by a launch file finds its own run by default, and waits until the run can be reached. For a run on another
    host, `name` is the address of its front door, such as "laptop@tcp://node7:7401" (docs/keys.md). Raises
    TrainyardError if there is no such run, or Timeout if it cannot be reached within `timeout` seconds."""
    if name is not None and names_door(name):
        return Run(run_at_door(name))
    directory, deadline = own_directory(name), time.monotonic() + timeout
    if directory is None:
        return Run(pick_run(name))
    while not (info := read_run(directory)):
        if time.monotonic() > deadline:
            raise Timeout(f"no run announced itself in {directory} within {timeout:g} s")
        time.sleep(0.02)
    return Run(info)


def several(topics: Union[str, Sequence[str]]) -> List[str]:
    """Returns the topics without repetitions."""
    return [topics] if isinstance(topics, str) else list(dict.fromkeys(topics))


class Run:
    """A connection to an active run. Only one thread may use an object; a program with several threads calls find_run()
    in each thread."""

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.run, self.name, self.file, self.directory = info.run, info.name, info.file, info.directory
        self.pid, self.start_ticks, self.registry = info.pid, info.start_ticks, info.registry
        self._socket: Optional[zmq.Socket[bytes]] = None
        self._questions = Questions()

    def __repr__(self) -> str:
        return f"Run({self.run!r}, file={self.file!r})"

    def alive(self) -> bool:
        """Returns True as long as the run has not ended."""
        return self.info.alive()

    def request(self, op: str, timeout: float = CALL_SECONDS, **arguments: Any) -> Any:
        """Sends a question to the registry of the run (docs/wire_format.md, section 2) and returns the answer. Raises
        Refused, with the reason, if the registry refuses the question; Timeout; or RunEnded."""
        number, question = self._questions.ask(op, arguments)
        if self._socket is None:
            self._socket = registry_socket(self.registry)
        deadline = time.monotonic() + timeout
        try:
            self._socket.send(question, zmq.NOBLOCK)
            while (left := deadline - time.monotonic()) > 0 and self.alive():
                if self._socket.poll(int(min(left, 0.2) * 1000)):
                    answered, answer = self._questions.number(self._socket.recv_multipart()[-1])
                    # Any other number belongs to the late answer to a question that has timed out.
                    if answered in (number, None):
                        return self._questions.result(op, answer)
        except zmq.Again:
            pass  # The registry does not read; the deadline will report this.
        if not self.alive():
            raise RunEnded(f"{op}: run {self.run} has ended")
        raise Timeout(f"run {self.run} did not answer '{op}' within {timeout:g} s")

    def topics(self) -> List[Topic]:
        """Returns every topic: its name, type, fingerprint, schema, publishers and subscribers."""
        return cast(List[Topic], self.request("topics"))

    def nodes(self) -> List[Node]:
        """Returns every component: its name, plugin, process, pid, state and ports."""
        return cast(List[Node], self.request("nodes"))

    def call(self, target: str, method: str, body: Any = None, timeout: float = CALL_SECONDS) -> Any:
        """Calls a method of a component and returns the answer. `method` is the name of a service, or "param.list",
        "param.get" or "param.set"."""
        return self.request("call", timeout, **call_arguments(target, method, body))

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
        """Returns an iterator over the messages of one or several topics, as pairs of a header and a message. It ends
        when the run ends.

        payloads      "none", or "inline" for the elements of tensors
        window        the most messages of a topic that may be under way, up to 1024
        timeout       the seconds of silence that raise Timeout; None waits as long as the run lives
        window_bytes  the most bytes of a topic that may be under way, up to 64 MiB
        policy        what waits while the window is full: "drop_oldest" messages as the window allows, or the "latest"
        into          what a message is: dict, trainyard.Record, or a dataclass, whose fields are checked
        """
        return Subscription(self, several(topic), Wish(payloads, int(window), window_bytes, policy, into), timeout)

    def endpoints(self, topic: str, timeout: float = 10.0) -> List[str]:
        """Returns the addresses at which a topic is published. If the run is still starting, waits until its processes
        have addresses."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if found := endpoints_of(self.topics(), topic, self.run, self.registry):
                return found
            time.sleep(0.02)
        raise Timeout(f"not every publisher of '{topic}' came up within {timeout:g} s")

    def close(self) -> None:
        """Closes the connection to the registry. The next question opens a new connection."""
        if self._socket is not None:
            self._socket.close(0)
            self._socket = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _topics_at(self, topics: Sequence[str]) -> List[Tuple[str, List[str]]]:
        found: Dict[str, List[str]] = {}
        for topic in topics:
            for endpoint in self.endpoints(topic):
                found.setdefault(endpoint, []).append(topic)
        return list(found.items())
