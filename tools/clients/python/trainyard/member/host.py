# SPDX-License-Identifier: Apache-2.0
"""Runs one component on the main thread: handles the launcher's requests, messages, timers and calls."""
from __future__ import annotations

import collections
import heapq
import itertools
import json
import math
import os
import threading
import time
import traceback
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, Type

import zmq

from ..errors import TrainyardError, sendable
from .calls import Calls
from .component import Component
from .control import Control
from .inlet import Delivery, InputPort
from .log import Log
from .mailbox import Mailbox
from .memory import Imports, Pool, numpy
from .outlet import OutputPort
from .parameters import Parameter, read_values
from .ports import Input, Output
from .sockets import Keys
from .wake import Wake
from .wiring import Wiring

_DRAIN_INTERVAL_S = 0.002
# The longest time for which messages are still handled after deactivation, because senders that do not wait for this
# member may never stop.
_LONGEST_REST_S = 1.0


def describe(error: BaseException) -> str:
    """Returns an exception as one sentence, with the file and line in the user's program. The texts of this package's
    own exceptions are returned unchanged."""
    if isinstance(error, TrainyardError):
        return sendable(str(error))
    text = sendable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(here)]
    return f"{text} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else text


class Host:
    """The process of one member."""

    def __init__(self, kind: Type[Component], process: str, endpoint: str, keys: Keys) -> None:
        self._kind, self._process = kind, process
        self._wake, self._thread = Wake(), threading.get_ident()
        self._tasks: Deque[Callable[[], None]] = collections.deque()
        self._timers: List[Tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._control = Control(process, endpoint, keys, self._received, self.post)
        self._poller = zmq.Poller()
        self._poller.register(self._wake.reader, zmq.POLLIN)
        self._mailbox = Mailbox(self._is_held, self._handle)
        self._inputs: Dict[str, InputPort] = {}
        self._outputs: Dict[str, OutputPort] = {}
        self._state, self._was_active, self._ended = "unconfigured", False, False
        self._announced = True  # False until the request Connect of the launcher has been answered.
        # These are set when the plan has arrived.
        self._me: Dict[str, Any] = {}
        self._component: Optional[Component] = None
        self._calls: Optional[Calls] = None
        self._wiring: Optional[Wiring] = None
        self._pool, self._imports = Pool(), Imports(0, self._wake_from_elsewhere)

    def run(self) -> None:
        """Runs the component, and returns when it is finalized. A failure has then been reported to the launcher."""
        self._control.start()
        while not self._ended:
            due = self._timers[0][0] - time.monotonic() if self._timers else 1.0
            self._poller.poll(0 if self._tasks else math.ceil(min(max(due, 0.0), 1.0) * 1000))
            self._wake.clear()
            for _ in range(len(self._tasks)):
                self._tasks.popleft()()
            while self._timers and self._timers[0][0] <= time.monotonic():
                heapq.heappop(self._timers)[2]()
            if self._wiring is not None:
                self._wiring.poll()
                self._announce_connected(self._wiring)
            self._imports.release()
        self._control.end()

    # Functions that components use.

    def post(self, task: Callable[[], None]) -> None:
        self._tasks.append(task)
        self._wake.notify()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        # Other threads may call this function, so the timer is added by a task on the main thread.
        due = time.monotonic() + seconds
        self.post(lambda: self._add_timer(due, lambda: self.guarded(action)))

    def guarded(self, action: Callable[[], None]) -> None:
        """Calls a function of the component. If it raises an exception, the component fails."""
        try:
            action()
        except Exception as error:  # The user's program may raise any exception.
            self._fail(error)

    def finish_run(self, reason: str, success: bool) -> None:
        self._control.send("RunFinished", component=self._me["name"], reason=sendable(reason), success=success)

    def allocate(self, shape: Any, dtype: Any, permanent: bool) -> Any:
        if numpy is None:
            raise TrainyardError("shared memory needs numpy (Debian: python3-numpy)")
        shape, kind = (shape,) if isinstance(shape, int) else tuple(shape), numpy.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        return self._pool.allocate(max(size, 1), permanent)[:size].view(kind).reshape(shape)

    def take_settings(self, settings: List[Dict[str, str]]) -> None:
        assert self._calls is not None
        self._calls.take_settings(settings)

    # Requests of the launcher.

    def _received(self, name: str, message: Dict[str, Any]) -> None:
        """Runs on the control thread."""
        if name == "ProcessPlan":
            try:
                self._open_gateway(message)
            except Exception as error:
                return self._control.send("StateChanged", component="", state="error", error=describe(error))
        handlers = {"ProcessPlan": self._on_plan, "Connect": self._on_connect, "Transition": self._on_transition,
                    "Request": self._on_request, "PeerGone": self._on_peer_gone}
        if name in handlers:
            self.post(lambda: handlers[name](message))

    def _open_gateway(self, plan: Dict[str, Any]) -> None:
        me = next(one for one in plan["components"] if one["process"] == self._process)
        topics = {me["topics"][one.name]: one for one in self._kind._declared(Output).values()}
        file = f"{self._process}.gateway".replace("/", "~")
        self._control.open_gateway(f"ipc://{plan['run_directory']}/{file}", topics,
                                   lambda topic, is_wanted: self.post(lambda: self._tap(topic, is_wanted)))

    def _tap(self, topic: str, is_wanted: bool) -> None:
        for port in self._outputs.values():
            if port.topic == topic:
                port.tap = (lambda message: self._control.tap(topic, message)) if is_wanted else None
                if is_wanted and port.last is not None:
                    self._control.tap(topic, port.last)

    def _on_plan(self, plan: Dict[str, Any]) -> None:
        self._me = next(one for one in plan["components"] if one["process"] == self._process)
        self._imports.index = plan["process_index"]
        try:
            component = self._make_component(plan)
            wiring = self._wiring = Wiring(plan, self._me, self._control.sockets, self._poller, self._imports,
                                           self._inputs, self._outputs)
            self._control.edge_counters, self._control.sent = wiring.counters, wiring.sent
            self._control.shared_bytes, self._control.component = self._pool.reserved_bytes, component.name
            component.on_configure()
        except Exception as error:
            return self._fail(error)
        self._state = "inactive"
        self._report("inactive")
        assert self._control.gateway is not None
        self._control.send("Configured", process=self._process, endpoints={
            f"{self._process}/gateway": self._control.gateway.endpoint, **wiring.endpoints(self._process)})

    def _make_component(self, plan: Dict[str, Any]) -> Component:
        kind, me = self._kind, self._me
        component = self._component = kind.__new__(kind)
        component.name, component.rank, component.world_size = me["name"], me["rank"], me["world_size"]
        component.seed, component.run_directory = plan["seed"], plan["run_directory"]
        component.run = os.path.basename(component.run_directory)
        component.output_directory, component.trace, component._host = plan["output_directory"], 0, self
        component.log = Log(me["name"], plan["log_level"], self._control.tell)
        component._values = read_values(list(kind._declared(Parameter).values()), json.loads(me["parameters"]),
                                        me["places"])
        for input in kind._declared(Input).values():
            port = self._inputs[input.name] = InputPort(input)
            port.topic, port._resume = me["topics"].get(input.name, ""), self._mailbox.resume
        for output in kind._declared(Output).values():
            sender = self._outputs[output.name] = OutputPort(output, me["index"], self._pool, lambda: component.trace,
                                                             self._mailbox.release, self.guarded, self.after)
            sender.topic = me["topics"].get(output.name, "")
        component._ports = {**self._inputs, **self._outputs}
        component.__init__()  # type: ignore[misc]
        self._calls = Calls(component)
        return component

    def _on_connect(self, connect: Dict[str, Any]) -> None:
        if self._wiring is not None:
            self._wiring.connect(connect["endpoints"], self._mailbox.deliver,
                                 lambda text: self._fail(TrainyardError(text)))
            self._announced = False

    def _announce_connected(self, wiring: Wiring) -> None:
        if not self._announced and wiring.connected():
            self._announced = True
            self._control.send("Connected", process=self._process)

    def _on_peer_gone(self, peer: Dict[str, Any]) -> None:
        if self._wiring is not None:
            self._wiring.peer_gone(peer, self._pool)

    def _on_request(self, request: Dict[str, Any]) -> None:
        try:
            if self._calls is None or request["target"] != self._me["name"]:
                raise TrainyardError(f"no component '{request['target']}' in process '{self._process}'")
            answer = self._calls.perform(request["method"], json.loads(request["body"] or "{}"))
            ok, body = True, json.dumps(answer)
        except Exception as error:  # The error is returned to the caller; the component does not fail.
            ok, body = False, describe(error)
        self._control.send("Reply", id=request["id"], ok=ok, body=body)

    # The life cycle of the component.

    def _on_transition(self, transition: Dict[str, Any]) -> None:
        target = transition["state"]
        if transition["component"] != self._me.get("name"):
            self._control.send("StateChanged", component=transition["component"], state="error",
                               error=f"process '{self._process}' has no such component")
        elif self._state == "error":
            self._settle(target)  # The failure has been reported.
        elif self._component is not None and self._wiring is not None and target != self._state:
            self._change(self._component, self._wiring, target)

    def _change(self, component: Component, wiring: Wiring, target: str) -> None:
        # After a failure of another component, a component may be finalized while it is still active.
        first = [component.on_deactivate] if self._state == "active" else []
        hooks = {"active": [component.on_activate], "inactive": [component.on_deactivate],
                 "finalized": [*first, component.on_finalize]}
        try:
            for hook in hooks[target]:
                hook()
        except Exception as error:
            return self._fail(error)
        self._state = target
        if target == "inactive":
            wiring.begin_to_drain()
            return self._report_when_drained(wiring, time.monotonic() + _LONGEST_REST_S)
        self._settle(target)
        if target == "active":
            self._was_active = True
            self._mailbox.release()

    def _settle(self, state: str) -> None:
        """Reports the new state to the launcher. When the component is finalized, also tells its visitors, and ends the
        process."""
        self._ended = state == "finalized"
        if self._ended:
            self._control.say_ended()
        self._report(state)

    def _report_when_drained(self, wiring: Wiring, rest_until: float) -> None:
        """Reports to the launcher as soon as all receivers have handled the messages that were sent to them, and this
        component has handled the messages that have arrived. Those may come from senders that do not wait, because
        their edges drop messages."""
        if wiring.drained() and (not wiring.has_arrivals() or time.monotonic() > rest_until):
            self._report("inactive")
        else:
            self._add_timer(time.monotonic() + _DRAIN_INTERVAL_S, lambda: self._report_when_drained(wiring, rest_until))

    def _report(self, state: str, error: str = "") -> None:
        self._control.send("StateChanged", component=self._me.get("name", ""), state=state, error=error)

    def _fail(self, error: BaseException) -> None:
        if os.environ.get("TRAINYARD_TRACEBACK"):
            traceback.print_exception(type(error), error, error.__traceback__)
        first, self._state = self._state != "error", "error"
        if first:
            self._report("error", describe(error))
        # Messages that were kept back are discarded, so that their senders do not wait.
        for port in self._inputs.values():
            self._mailbox.resume(port)
        self._mailbox.release()

    def _is_held(self) -> bool:
        if self._state == "error":
            return False
        return not self._was_active or any(port.is_blocked() for port in self._outputs.values())

    def _handle(self, delivery: Delivery) -> None:
        method, component = delivery.port.declared.method, self._component
        if self._state in ("active", "inactive") and method is not None and component is not None:
            component.trace = delivery.header.trace
            self.guarded(lambda: method(component, delivery.message))
            component.trace = 0
        delivery.done()

    def _add_timer(self, due: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (due, next(self._numbers), action))

    def _wake_from_elsewhere(self) -> None:
        if threading.get_ident() != self._thread:
            self._wake.notify()
