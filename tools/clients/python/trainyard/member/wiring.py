# SPDX-License-Identifier: Apache-2.0
"""The ends of edges that one component has: which there are, where they lead, and what happens when others end."""
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
        """The edges that begin at the component."""
        return self.outlet.edges if self.outlet is not None else []

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

    def connect(self, endpoints: Dict[str, str], deliver: Callable[[Delivery], None],
                failed: Callable[[str], None]) -> None:
        """Subscribes at all publishers that are new. One that is not running has no address yet; a later Connect has
        it."""
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
        """Returns True if every subscription has been answered."""
        return all(inlet.connected() for inlet in self._inlets.values())

    def poll(self) -> None:
        if self.outlet is not None:
            self.outlet.poll()
        for inlet in list(self._inlets.values()):
            inlet.poll()

    def peer_gone(self, peer: Dict[str, Any], pool: Pool) -> None:
        """Frees what a dead process held, no longer waits for it, and no longer listens to it."""
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
        """Returns True if everything that was sent on blocking edges has been handled."""
        return all(edge.policy != "block" or edge.drained() for edge in self.edges)

    def has_arrivals(self) -> bool:
        """Returns True if messages have arrived that have not been handled."""
        return any(inlet.socket.poll(0) for inlet in self._inlets.values())

    def endpoints(self, process: str) -> Dict[str, str]:
        """Returns the address at which others subscribe, by the name under which they look for it."""
        return {f"{process}/{self._me['thread']}": self.outlet.endpoint} if self.outlet is not None else {}

    def counters(self) -> List[Dict[str, Any]]:
        """The answer about edges to the call `counters`. Another thread may ask."""
        names = {one["index"]: one["name"] for one in self._plan["components"]}
        return [{"topic": edge.plan["topic"], "edge": edge.id, "from": self._me["name"], "to": names[edge.plan["to"]],
                 "policy": edge.policy, "window": edge.window_messages, "under_way": None, "sent": edge.sent,
                 "bytes": edge.bytes, "dropped": edge.dropped, "blocked": edge.blocked}
                for edge in self.edges]

    def sent(self) -> Dict[str, int]:
        """The answer about messages to the call `pulse`."""
        return {"sent": sum(edge.sent for edge in self.edges),
                "sent_blocking": sum(edge.sent for edge in self.edges if edge.policy == "block")}
