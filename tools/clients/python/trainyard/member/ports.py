# SPDX-License-Identifier: Apache-2.0
"""The declarations of inputs, outputs and services in the class of a component. The code that sends and receives
messages in a run is in inlet.py and outlet.py."""
from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional

from ..errors import TrainyardError
from ..messages import Schema
from .types import schema_of

_POLICIES = ("block", "latest", "drop_oldest")


class _Port:
    def __init__(self, topic: str, type: str, help: str, name: str) -> None:
        self.topic, self.help, self.name = topic, help, name
        self._type = type

    @functools.cached_property
    def schema_text(self) -> str:
        return schema_of(self._type)

    @functools.cached_property
    def schema(self) -> Schema:
        return Schema(self.schema_text)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        return self if instance is None else instance._ports[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        raise TrainyardError(f"{self.name} is a port; it cannot be replaced")

    def declaration(self) -> Dict[str, Any]:
        return {"name": self.name, "topic": self.topic, "schema": self.schema_text, "help": self.help}


class Input(_Port):
    """An input, declared in the class of a component. If `topic` is empty, the topic is the name of the input. `type`
    is the name of a standard message type or a schema text. `name` is the name of the port, by default the name of the
    attribute. Messages are passed to the method that is decorated with `@NAME.handler`, as dictionaries. The options
    are those of an input of a plugin (docs/adding_a_component.md)."""

    def __init__(self, topic: str, type: str, help: str = "", *, optional: bool = False, every_rank: bool = False,
                 policy: str = "block", window_messages: int = 64, window_bytes: int = 256 << 20,
                 name: str = "") -> None:
        super().__init__(topic, type, help, name)
        if policy not in _POLICIES:
            raise TrainyardError(f"policy = {policy!r}; allowed are {', '.join(_POLICIES)}")
        self.optional, self.every_rank, self.policy = optional, every_rank, policy
        self.window_messages, self.window_bytes = window_messages, window_bytes
        self.method: Optional[Callable[[Any, Any], None]] = None

    def handler(self, method: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """A decorator for the method that handles the messages of this input."""
        self.method = method
        return method

    def declaration(self) -> Dict[str, Any]:
        return {**super().declaration(), "optional": self.optional, "every_rank": self.every_rank,
                "policy": self.policy, "window_messages": self.window_messages, "window_bytes": self.window_bytes}


class Output(_Port):
    """An output, declared in the class of a component. `self.NAME.send(message)` sends a dictionary with the fields of
    the type; a tensor is a numpy array. A `latched` output keeps its last message for visitors that attach later."""

    def __init__(self, topic: str, type: str, help: str = "", *, latched: bool = False, name: str = "") -> None:
        super().__init__(topic, type, help, name)
        self.latched = latched

    def declaration(self) -> Dict[str, Any]:
        return {**super().declaration(), "latched": self.latched}


class Service:
    """A service, which the decorator service() declares."""

    def __init__(self, method: Callable[[Any, Any], Any], request: str, reply: str) -> None:
        self.method, self.name = method, method.__name__
        self.help = (method.__doc__ or "").strip().split("\n\n")[0]
        camel = "".join(word.capitalize() for word in self.name.split("_"))
        self.request_text = schema_of(request) if request else f"{camel}Request {{\n}}\n"
        self.reply_text = schema_of(reply) if reply else f"{camel}Reply {{\n}}\n"
        self.request, self.reply = Schema(self.request_text), Schema(self.reply_text)

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        return self if instance is None else functools.partial(self.method, instance)

    def declaration(self) -> Dict[str, Any]:
        return {"name": self.name, "request": self.request_text, "reply": self.reply_text, "help": self.help}

    def serve(self, component: Any, body: Any) -> Any:
        """Calls the method of the service with the request, and returns the reply. Raises TrainyardError if the request
        or the reply does not match its schema."""
        fields = [name for name, _ in self.request.structs[self.request.name]]
        if not isinstance(body, dict) or set(body) - set(fields):
            raise TrainyardError(f"the request of {self.name} has the fields: {', '.join(fields) or 'none'}")
        self.request.encode(body)
        answer = self.method(component, body)
        answer = {} if answer is None else answer
        self.reply.encode(answer)
        return answer


def service(method: Optional[Callable[[Any, Any], Any]] = None, *, request: str = "", reply: str = "") -> Any:
    """A decorator that makes a method a service of the component. The method is called with the request, a dictionary,
    and returns the reply, a dictionary or None. `request` and `reply` are schema texts; by default both have no
    fields."""
    if method is None:
        return lambda method: Service(method, request, reply)
    return Service(method, request, reply)
