# SPDX-License-Identifier: Apache-2.0
"""Manages the ends of all edges (connections between an output and an input) of one component: creates them, connects
them, and handles the end of other processes."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import zmq

from ..bounds import WINDOW_BYTES, WINDOW_MESSAGES
from ..errors import TrainyardError
from .edge import Edge
from .inlet import Delivery, Inlet, InputPort
from .memory import Imports, Pool
from .outlet import Outlet, OutputPort
from .protocol import LOG_RECORD, LOG_TOPIC
from .sockets import Sockets

_VISITOR = 0xFFFFFFFF


class Wiring:
    """Makes the sockets that the plan requires, and registers them with `poller`."""

    def __init__(self, plan: Dict[str, Any], me: Dict[str, Any], sockets: Sockets, poller: zmq.Poller, imports: Imports,
                 inputs: Dict[str, InputPort], outputs: Dict[str, OutputPort]) -> None:
        self._plan, self._me, self._sockets, self._poller, self._imports = plan, me, sockets, poller, imports
        self._inputs, self._outputs = inputs, outputs
        self._inlets: Dict[str, Inlet] = {}
        self.outlet: Optional[Outlet] = None
        for edge in [*self._edges("to"), *self._log_edges()]:
            self._port(inputs, edge["input"]).connections += 1
        outgoing = self._edges("from")
        if outgoing:
            self.outlet = Outlet(sockets, plan["bind"][me["thread"]])
            poller.register(self.outlet.socket, zmq.POLLIN)
        for edge in outgoing:
            self.outlet.add(self._port(outputs, edge["output"]), edge)  # type: ignore[union-attr]

    def _edges(self, end: str) -> List[Dict[str, Any]]:
        return [edge for edge in self._plan["edges"] if edge[end] == self._me["index"]]

    @property
    def edges(self) -> List[Edge]:
        """Returns the edges that begin at the outputs of the component."""
        return self.outlet.edges if self.outlet is not None else []

    def _port(self, ports: Dict[str, Any], name: str) -> Any:
        if name not in ports:
            raise TrainyardError(f"it has no port '{name}', which the plan connects; was the program changed?")
        return ports[name]

    def _log_edges(self) -> List[Dict[str, Any]]:
        """Returns edges for inputs that receive the log. The plan contains no edges for the log, so these inputs
        subscribe at the gateways of all processes, as visitors do."""
        return [{"id": _VISITOR, "topic": LOG_TOPIC, "input": port.name, "policy": "drop_oldest", "transport": "tcp",
                 "window_messages": min(port.declared.window_messages, WINDOW_MESSAGES),
                 "window_bytes": min(port.declared.window_bytes, WINDOW_BYTES)}
                for port in self._inputs.values()
                if port.topic == LOG_TOPIC and port.declared.schema.fingerprint == LOG_RECORD.fingerprint]

    def connect(self, endpoints: Dict[str, str], deliver: Callable[[Delivery], None],
                failed: Callable[[str], None]) -> None:
        """Subscribes at all publishers that are not connected yet. A publisher that is not running has no address yet;
        a later message Connect will contain it."""
        wanted: Dict[str, List[Dict[str, Any]]] = {}
        for edge in self._edges("to"):
            sender = self._plan["components"][edge["from"]]
            wanted.setdefault(f"{sender['process']}/{sender['thread']}", []).append(edge)
        for edge in self._log_edges():
            for key in endpoints:
                if key.endswith("/gateway"):
                    wanted.setdefault(key, []).append(edge)
        for key, edges in wanted.items():
            if key in self._inlets or key not in endpoints:
                continue
            inlet = self._inlets[key] = Inlet(self._sockets, endpoints[key], self._imports,
                                              self._plan["process_index"], key.endswith("/gateway"), deliver, failed)
            for edge in edges:
                inlet.subscribe(self._inputs[edge["input"]], edge)
            self._poller.register(inlet.socket, zmq.POLLIN)

    def connected(self) -> bool:
        """Returns True if all subscriptions have been answered."""
        return all(inlet.connected() for inlet in self._inlets.values())

    def poll(self) -> None:
        if self.outlet is not None:
            self.outlet.poll()
        for inlet in list(self._inlets.values()):
            inlet.poll()

    def peer_gone(self, peer: Dict[str, Any], pool: Pool) -> None:
        """Called when the process of another component has ended. Frees the memory that was lent to it, no longer waits
        for it, and closes the connection to it."""
        edges = [edge for edge in self.edges
                 if self._plan["components"][edge.plan["to"]]["process"] == peer["process"]]
        if not any(edge.has_successor_of(peer["pid"]) for edge in edges):
            pool.forget(peer["process_index"])
        for edge in edges:
            if not edge.has_successor_of(peer["pid"]):
                edge.lose()
        for key in [key for key in self._inlets if key.rpartition("/")[0] == peer["process"]]:
            inlet = self._inlets.pop(key)
            self._poller.unregister(inlet.socket)
            inlet.close()

    def begin_to_drain(self) -> None:
        """Asks the receivers to return all credit without delay."""
        if self.outlet is not None:
            self.outlet.request_flush()

    def drained(self) -> bool:
        """Returns True if all messages that were sent over edges with the policy `block` have been handled."""
        return all(edge.policy != "block" or edge.drained() for edge in self.edges)

    def has_arrivals(self) -> bool:
        """Returns True if messages have arrived that have not been handled yet."""
        return any(inlet.socket.poll(0) for inlet in self._inlets.values())

    def endpoints(self, process: str) -> Dict[str, str]:
        """Returns the address at which other members subscribe to this component, by the name under which the launcher
        announces it to them."""
        return {f"{process}/{self._me['thread']}": self.outlet.endpoint} if self.outlet is not None else {}

    def counters(self) -> List[Dict[str, Any]]:
        """Returns the counters of all edges, for the answer to the call `counters`. Other threads may call this."""
        names = {one["index"]: one["name"] for one in self._plan["components"]}
        return [{"topic": edge.plan["topic"], "edge": edge.id, "from": self._me["name"], "to": names[edge.plan["to"]],
                 "policy": edge.policy, "window": edge.window_messages, "under_way": None, "sent": edge.sent,
                 "bytes": edge.bytes, "dropped": edge.dropped, "blocked": edge.blocked}
                for edge in self.edges]

    def sent(self) -> Dict[str, int]:
        """Returns the numbers of sent messages, for the answer to the call `pulse`, with which the launcher checks
        whether the run makes progress."""
        return {"sent": sum(edge.sent for edge in self.edges),
                "sent_blocking": sum(edge.sent for edge in self.edges if edge.policy == "block")}
