# SPDX-License-Identifier: Apache-2.0
"""Runs one component: what the launcher asks for, messages, timers and calls, all on the main thread."""
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

from ..bounds import WINDOW_BYTES, WINDOW_MESSAGES
from ..errors import TrainyardError
from .component import Component
from .control import Control
from .inlet import Delivery, Inlet, InputPort
from .log import Log
from .memory import Imports, Pool, numpy
from .outlet import Outlet, OutputPort
from .parameters import Parameter, read_values
from .ports import Input, Output, Service
from .protocol import LOG_RECORD, LOG_TOPIC
from .sockets import Keys
from .wake import Wake

_VISITOR = 0xFFFFFFFF
_GIVE_UP_S = 60.0  # Without a plan or a launcher, this process has nothing to do.


def describe(error: BaseException) -> str:
    """Returns one sentence about an exception, with the place in the user's program. An error of this package says by
    itself what is wrong."""
    if isinstance(error, TrainyardError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(here)]
    return f"{text} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else text


class Host:
    """The process of one member."""

    def __init__(self, kind: Type[Component], process: str, endpoint: str, keys: Keys) -> None:
        self._kind, self._process = kind, process
        self._wake, self._tasks = Wake(), collections.deque()  # type: Wake, Deque[Callable[[], None]]
        self._timers: List[Tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._control = Control(process, endpoint, keys, self._received, self.post)
        self._handlers: Dict[str, Callable[[Dict[str, Any]], None]] = {
            "ProcessPlan": self._on_plan, "Connect": self._on_connect, "Transition": self._on_transition,
            "Request": self._on_request, "PeerGone": self._on_peer_gone}
        self._plan: Dict[str, Any] = {}
        self._me: Dict[str, Any] = {}
        self._component: Optional[Component] = None
        self._state, self._was_active, self._ended = "unconfigured", False, False
        self._inputs: Dict[str, InputPort] = {}
        self._outputs: Dict[str, OutputPort] = {}
        self._inlets: Dict[str, Inlet] = {}
        self._outlet: Optional[Outlet] = None
        self._held: Deque[Delivery] = collections.deque()
        self._announced = True  # False while a Connect has not been answered.
        self._poller = zmq.Poller()
        self._poller.register(self._wake.reader, zmq.POLLIN)
        self._thread = threading.get_ident()
        self._pool = Pool()
        self._imports = Imports(0, self._wake_from_elsewhere)
        self.trace = 0

    def run(self) -> int:
        """Returns the exit code."""
        self._control.start()
        while not self._ended:
            due = self._timers[0][0] - time.monotonic() if self._timers else 1.0
            self._poller.poll(0 if self._tasks else math.ceil(min(max(due, 0.0), 1.0) * 1000))
            self._wake.clear()
            for _ in range(len(self._tasks)):
                self._tasks.popleft()()
            self._run_timers()
            if self._outlet is not None:
                self._outlet.poll()
            for inlet in list(self._inlets.values()):
                inlet.poll()
            self._imports.release()
            self._announce_connected()
        self._control.end()
        return 1 if self._state == "error" else 0

    # What components use.

    def post(self, task: Callable[[], None]) -> None:
        self._tasks.append(task)
        self._wake.notify()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._numbers), lambda: self.guarded(action)))
        self._wake_from_elsewhere()

    def guarded(self, action: Callable[[], None]) -> None:
        """Runs an action of the component, which fails if the action raises an exception."""
        try:
            action()
        except Exception as error:  # Whatever the user's program raises.
            self._fail(error)

    def finish_run(self, reason: str, success: bool) -> None:
        self._control.send("RunFinished", component=self._me["name"], reason=reason, success=success)

    def allocate(self, shape: Any, dtype: Any, permanent: bool) -> Any:
        shape, kind = (shape,) if isinstance(shape, int) else tuple(shape), numpy.dtype(dtype)
        data = self._pool.allocate(max(math.prod(shape) * kind.itemsize, 1), permanent)
        return data[:math.prod(shape) * kind.itemsize].view(kind).reshape(shape)

    def take_settings(self, settings: List[Dict[str, str]]) -> None:
        prefix = f"rank{self._me['rank']}/"
        own = self._me["name"][len(prefix):] if self._me["name"].startswith(prefix) else self._me["name"]
        declared = {one.name: one for one in self._kind._declared(Parameter).values()}
        assert self._component is not None
        for setting in settings:
            if setting["component"] != own or setting["parameter"] not in declared:
                continue
            parameter = declared[setting["parameter"]]
            if json.dumps(self._component._values[parameter.name]) != json.dumps(json.loads(setting["instead_of"])):
                self._component.log.warning(f"{parameter.name} = {self._component._values[parameter.name]}, as the "
                                            f"launch file says now; the run that is continued had {setting['value']}, "
                                            "set while it ran")
                continue
            self._set(parameter, json.loads(setting["value"]))

    # What the launcher asks for.

    def _received(self, name: str, message: Dict[str, Any]) -> None:
        """Runs on the control thread."""
        if name == "ProcessPlan":
            try:
                self._open_gateway(message)
            except Exception as error:
                return self._control.send("StateChanged", component="", state="error", error=describe(error))
        if name in self._handlers:
            self.post(lambda: self._handlers[name](message))

    def _open_gateway(self, plan: Dict[str, Any]) -> None:
        me = next(one for one in plan["components"] if one["process"] == self._process)
        topics = {me["topics"][one.name]: one for one in self._kind._declared(Output).values()}
        file = f"{self._process}.gateway".replace("/", "~")
        self._control.open_gateway(f"ipc://{plan['run_directory']}/{file}", topics, self._want)

    def _want(self, topic: str, is_wanted: bool) -> None:
        self.post(lambda: self._tap(topic, is_wanted))

    def _tap(self, topic: str, is_wanted: bool) -> None:
        for port in self._outputs.values():
            if port.topic == topic:
                port.tap = (lambda message: self._control.tap(topic, message)) if is_wanted else None
                if is_wanted and port.last is not None:
                    self._control.tap(topic, port.last)

    def _on_plan(self, plan: Dict[str, Any]) -> None:
        self._plan = plan
        self._me = next(one for one in plan["components"] if one["process"] == self._process)
        self._imports.index = plan["process_index"]
        try:
            self._make_component()
            self._make_edges()
            assert self._component is not None
            self._component.on_configure()
        except Exception as error:
            return self._fail(error)
        self._state = "inactive"
        self._report("inactive")
        endpoints = {f"{self._process}/gateway": self._control.gateway.endpoint}  # type: ignore[union-attr]
        if self._outlet is not None:
            endpoints[f"{self._process}/{self._me['thread']}"] = self._outlet.endpoint
        self._control.send("Configured", process=self._process, endpoints=endpoints)

    def _make_component(self) -> None:
        kind, me = self._kind, self._me
        component = self._component = kind.__new__(kind)
        component.name, component.rank, component.world_size = me["name"], me["rank"], me["world_size"]
        component.seed, component.run = self._plan["seed"], self._plan["run"]
        component.run_directory = self._plan["run_directory"]
        component.output_directory, component.trace = self._plan["output_directory"], 0
        component._host = self
        component.log = Log(me["name"], self._plan["log_level"], self._control.tell)
        component._values = read_values(list(kind._declared(Parameter).values()), json.loads(me["parameters"]),
                                        me["places"])
        for input in kind._declared(Input).values():
            port = self._inputs[input.name] = InputPort(input)
            port.topic, port._resume = me["topics"].get(input.name, ""), self._resume
        for output in kind._declared(Output).values():
            sender = self._outputs[output.name] = OutputPort(output, me["index"], self._pool, lambda: component.trace,
                                                             self._release_held)
            sender.topic = me["topics"].get(output.name, "")
        component._ports = {**self._inputs, **self._outputs}
        component.__init__()  # type: ignore[misc]
        self._control.component = me["name"]

    def _make_edges(self) -> None:
        outgoing = [edge for edge in self._plan["edges"] if edge["from"] == self._me["index"]]
        for edge in self._plan["edges"]:
            if edge["to"] == self._me["index"]:
                self._port(self._inputs, edge["input"]).connections += 1
        for edge in self._log_edges():
            self._inputs[edge["input"]].connections += 1
        if outgoing:
            address = self._plan["bind"][self._me["thread"]]
            self._outlet = Outlet(self._control.sockets, address)
            self._poller.register(self._outlet.socket, zmq.POLLIN)
            for edge in outgoing:
                self._outlet.add(self._port(self._outputs, edge["output"]), edge)
        edges = self._outlet.edges if self._outlet else []
        names = {one["index"]: one["name"] for one in self._plan["components"]}
        self._control.edge_counters = lambda: [
            {"topic": edge.plan["topic"], "edge": edge.id, "from": self._me["name"], "to": names[edge.plan["to"]],
             "sent": edge.sent, "bytes": edge.bytes, "dropped": edge.dropped, "blocked": edge.blocked}
            for edge in edges]
        self._control.sent = lambda: {"sent": sum(edge.sent for edge in edges),
                                      "sent_blocking": sum(edge.sent for edge in edges if edge.policy == "block")}
        self._control.shared_bytes = self._pool.reserved_bytes

    def _port(self, ports: Dict[str, Any], name: str) -> Any:
        if name not in ports:
            raise TrainyardError(f"it has no port '{name}', which the plan connects; was the program changed?")
        return ports[name]

    def _log_edges(self) -> List[Dict[str, Any]]:
        """Inputs that listen to the log have no edges in the plan: they are visitors of every gateway."""
        return [{"id": _VISITOR, "topic": LOG_TOPIC, "input": port.name, "policy": "drop_oldest", "transport": "tcp",
                 "window_messages": min(port.declared.window_messages, WINDOW_MESSAGES),
                 "window_bytes": min(port.declared.window_bytes, WINDOW_BYTES)}
                for port in self._inputs.values()
                if port.topic == LOG_TOPIC and port.declared.schema.fingerprint == LOG_RECORD.fingerprint]

    def _on_connect(self, connect: Dict[str, Any]) -> None:
        wanted: Dict[str, List[Dict[str, Any]]] = {}
        for edge in self._plan["edges"]:
            if edge["to"] == self._me["index"]:
                sender = self._plan["components"][edge["from"]]
                wanted.setdefault(f"{sender['process']}/{sender['thread']}", []).append(edge)
        for edge in self._log_edges():
            for key in connect["endpoints"]:
                if key.endswith("/gateway"):
                    wanted.setdefault(key, []).append(edge)
        for key, edges in wanted.items():
            # A publisher that is not running has no address yet; a later Connect will have it.
            if key not in self._inlets and key in connect["endpoints"]:
                self._open_inlet(key, connect["endpoints"][key], edges)
        self._announced = False

    def _open_inlet(self, key: str, endpoint: str, edges: List[Dict[str, Any]]) -> None:
        inlet = self._inlets[key] = Inlet(self._control.sockets, endpoint, self._imports, self._plan["process_index"],
                                          key.endswith("/gateway"), self._deliver,
                                          lambda text: self._fail(TrainyardError(text)))
        for edge in edges:
            inlet.subscribe(self._inputs[edge["input"]], edge)
        self._poller.register(inlet.socket, zmq.POLLIN)

    def _announce_connected(self) -> None:
        if not self._announced and all(inlet.connected() for inlet in self._inlets.values()):
            self._announced = True
            self._control.send("Connected", process=self._process)

    def _on_peer_gone(self, peer: Dict[str, Any]) -> None:
        self._pool.forget(peer["process_index"])
        lost = {edge["id"] for edge in self._plan["edges"]
                if self._plan["components"][edge["to"]]["process"] == peer["process"]}
        for edge in self._outlet.edges if self._outlet else []:
            if edge.id in lost:
                edge.lose()
        for key in [key for key in self._inlets if key.rpartition("/")[0] == peer["process"]]:
            inlet = self._inlets.pop(key)
            self._poller.unregister(inlet.socket)
            inlet.close()

    def _on_transition(self, transition: Dict[str, Any]) -> None:
        target = transition["state"]
        if self._component is None or transition["component"] != self._me.get("name"):
            self._control.send("StateChanged", component=transition["component"], state="error",
                               error=f"process '{self._process}' has no such component")
        elif self._state == "error":
            self._settle(target)  # The failure has been reported.
        elif target != self._state:
            self._change(target)

    def _change(self, target: str) -> None:
        assert self._component is not None
        component, was = self._component, self._state
        hooks = {"active": [component.on_activate], "inactive": [component.on_deactivate],
                 "finalized": ([component.on_deactivate] if was == "active" else []) + [component.on_finalize]}
        try:
            for hook in hooks[target]:
                hook()
        except Exception as error:
            return self._fail(error)
        self._state = target
        if target == "inactive":
            if self._outlet is not None:
                self._outlet.request_flush()
            return self._report_when_drained()
        self._settle(target)
        if target == "active":
            self._was_active = True
            self._release_held()

    def _settle(self, state: str) -> None:
        """Reports a state. A process ends when its component is finalized."""
        self._report(state)
        self._ended = state == "finalized"

    def _report_when_drained(self) -> None:
        edges = self._outlet.edges if self._outlet else []
        if all(edge.policy != "block" or edge.drained() for edge in edges):
            self._report("inactive")
        else:
            heapq.heappush(self._timers, (time.monotonic() + 0.002, next(self._numbers), self._report_when_drained))

    def _report(self, state: str, error: str = "") -> None:
        self._control.send("StateChanged", component=self._me.get("name", ""), state=state, error=error)

    def _fail(self, error: BaseException) -> None:
        if os.environ.get("TRAINYARD_TRACEBACK"):
            traceback.print_exception(type(error), error, error.__traceback__)
        first, self._state, self._was_active = self._state != "error", "error", True
        if first:
            self._report("error", describe(error))
        for port in self._inputs.values():
            self._resume(port)
        self._release_held()

    # Messages.

    def _deliver(self, delivery: Delivery) -> None:
        if self._held or self._is_held():
            self._held.append(delivery)
        else:
            self._dispatch(delivery)

    def _is_held(self) -> bool:
        if self._state == "error":
            return False
        return not self._was_active or any(port.is_blocked() for port in self._outputs.values())

    def _release_held(self) -> None:
        while self._held and not self._is_held():
            self._dispatch(self._held.popleft())

    def _resume(self, port: InputPort) -> None:
        port.paused = False
        while port.aside and not port.paused:
            self._handle(port.aside.popleft())

    def _dispatch(self, delivery: Delivery) -> None:
        # A message that is put aside keeps its credit, and so holds its sender back.
        if delivery.port.paused or delivery.port.aside:
            delivery.port.aside.append(delivery)
        else:
            self._handle(delivery)

    def _handle(self, delivery: Delivery) -> None:
        method, component = delivery.port.declared.method, self._component
        if self._state in ("active", "inactive") and method is not None and component is not None:
            component.trace = delivery.header.trace
            self.guarded(lambda: method(component, delivery.message))
            component.trace = 0
        delivery.done()

    def _run_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    # Calls.

    def _on_request(self, request: Dict[str, Any]) -> None:
        try:
            body = json.loads(request["body"] or "{}")
            answer = {"ok": True, "body": json.dumps(self._perform(request["target"], request["method"], body))}
        except RecursionError:
            answer = {"ok": False, "body": "the body is nested too deeply"}
        except Exception as error:  # The caller's error, so the component does not fail.
            answer = {"ok": False, "body": describe(error)}
        self._control.send("Reply", id=request["id"], **answer)

    def _perform(self, target: str, method: str, body: Any) -> Any:
        component = self._component
        if component is None or target != self._me["name"]:
            raise TrainyardError(f"no component '{target}' in process '{self._process}'")
        parameters = {one.name: one for one in self._kind._declared(Parameter).values()}
        services = self._kind._declared(Service)
        if method == "param.list":
            return [one.description(component._values[one.name]) for one in parameters.values()]
        if method in ("param.get", "param.set"):
            name = body.get("name") if isinstance(body, dict) else None
            if not isinstance(name, str) or (method == "param.set" and "value" not in body):
                wanted = '{"name": ..., "value": ...}' if method == "param.set" else '{"name": ...}'
                raise TrainyardError(f"component '{target}': {method}: {json.dumps(body):.100} is not allowed; {wanted}")
            if name not in parameters:
                raise TrainyardError(f"component '{target}' has no parameter '{name}'; known: {', '.join(parameters)}")
            if method == "param.set":
                self._set(parameters[name], body["value"])
            return parameters[name].description(component._values[name])
        if method not in services:
            known = ", ".join(["param.get", "param.list", "param.set", *services])
            raise TrainyardError(f"component '{target}' has no service '{method}'; known: {known}")
        return services[method].serve(component, body)

    def _set(self, parameter: Parameter, value: Any) -> None:
        where = f"component '{self._me['name']}': "
        if not parameter.settable:
            raise TrainyardError(f"{where}{parameter.name} cannot be changed while the component runs")
        try:
            value = parameter.check(value)
        except TrainyardError as error:
            raise TrainyardError(f"{where}{error}") from None
        assert self._component is not None
        self._component._values[parameter.name] = value
        if parameter.on_change is not None:
            parameter.on_change(self._component, value)

    def _wake_from_elsewhere(self) -> None:
        if threading.get_ident() != self._thread:
            self._wake.notify()
