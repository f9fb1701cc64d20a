# SPDX-License-Identifier: Apache-2.0
"""The parameters of a member. They have the same kinds and rules as the parameters of a plugin in C++."""
from __future__ import annotations

import json
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..errors import TrainyardError

#: The default of a parameter that the launch file must give.
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()

_KINDS = {bool: "bool", int: "integer", float: "number", str: "string"}
_LISTS = {int: "list of integers", float: "list of numbers", str: "list of strings"}


def _is(kind: str, value: Any) -> bool:
    if kind.startswith("list of "):
        inner = {"integers": "integer", "numbers": "number", "strings": "string"}[kind[8:]]
        return isinstance(value, list) and all(_is(inner, element) for element in value)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return kind == "any" or isinstance(value, {"bool": bool, "string": str}[kind])


class Parameter:
    """A parameter, declared in the class of a component. `self.NAME` is its value.

    `default` also determines the kind, unless `kind` is given: bool, int, float or str, or a list with one of them. A
    number may be `at_least` a value, `positive`, or `between` two values, and a string may be `one_of` some words. Only
    a `settable` parameter can be changed during the run. When it is changed, the method that is decorated with
    `@NAME.changed`, if there is one, is called with the new value. `name` is the name of the parameter in launch files,
    by default the name of the attribute."""

    def __init__(self, default: Any = REQUIRED, help: str = "", *, kind: Any = None, at_least: Optional[float] = None,
                 positive: bool = False, between: Optional[Tuple[float, float]] = None, one_of: Sequence[str] = (),
                 unit: str = "", settable: bool = False, name: str = "") -> None:
        self.default, self.help, self.unit, self.settable = default, help, unit, settable
        self.kind = self._kind(default, kind)
        self.minimum: Optional[float] = 0 if positive else between[0] if between else at_least
        self.maximum: Optional[float] = between[1] if between else None
        self.positive, self.choices = positive, list(one_of)
        self.name = name
        self.on_change: Optional[Callable[[Any, Any], None]] = None

    @staticmethod
    def _kind(default: Any, kind: Any) -> str:
        if isinstance(kind, str):
            return kind
        if isinstance(kind, list) or (kind is None and isinstance(default, list) and default):
            element = kind[0] if isinstance(kind, list) else type(default[0])
            return _LISTS.get(element, "any")
        return _KINDS.get(kind or type(default), "any")

    def changed(self, method: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """A decorator for the method that is called with the new value when the parameter has been set during the
        run."""
        self.on_change = method
        return method

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name
        if self.default is not REQUIRED:
            self.default = self.check(self.default)

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        return self if instance is None else instance._values[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        raise TrainyardError(f"{self.name} is a parameter; only the launch file and `trainyard param set` change it")

    def allowed(self) -> str:
        """Returns a description of the allowed values, in the same words as for parameters of plugins in C++."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        text = "an integer" if self.kind == "integer" else f"a {self.kind}"
        if self.minimum is not None:
            text += f" {'>' if self.positive else '>='} {self.minimum:g}"
        if self.maximum is not None:
            text += f"{' and' if self.minimum is not None else ''} <= {self.maximum:g}"
        return text + (f" ({self.unit})" if self.unit else "")

    def check(self, value: Any) -> Any:
        """Checks a value, and converts it to the type of the parameter. Raises TrainyardError if the value is not
        allowed."""
        elements = value if isinstance(value, list) else [value]
        fits = _is(self.kind, value) and all(self._fits(element) for element in elements)
        if not fits:
            raise TrainyardError(f"{self.name}: {json.dumps(value, default=repr):.200} is not allowed; {self.allowed()}")
        if self.kind == "number":
            return float(value)
        return [float(element) for element in value] if self.kind == "list of numbers" else value

    def _fits(self, element: Any) -> bool:
        if self.choices and element not in self.choices:
            return False
        if isinstance(element, bool) or not isinstance(element, (int, float)):
            return True
        if self.minimum is not None and (element < self.minimum or (self.positive and element == self.minimum)):
            return False
        return self.maximum is None or element <= self.maximum

    def declaration(self) -> Dict[str, Any]:
        out: Dict[str, Any] = {"name": self.name, "kind": self.kind, "required": self.default is REQUIRED,
                               "help": self.help, "unit": self.unit, "settable": self.settable,
                               "minimum_excluded": self.positive, "choices": self.choices}
        if self.default is not REQUIRED:
            out["default"] = json.dumps(self.default)
        for name in ("minimum", "maximum"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        return out

    def description(self, value: Any) -> Dict[str, Any]:
        """Returns the answer to the call param.get: the declaration of the parameter, and its value."""
        default = None if self.default is REQUIRED else self.default
        return {**self.declaration(), "default": default, "plugin_kind": "", "allowed": self.allowed(), "value": value}


def read_values(declared: List[Parameter], given: Dict[str, Any], places: Dict[str, str]) -> Dict[str, Any]:
    """Returns the values of all parameters. The launcher has already checked the values in the launch file, but its
    copy of the declaration may be older than the class, so they are checked again. Raises TrainyardError if a value is
    not allowed."""
    known = {parameter.name for parameter in declared}
    for name in given:
        if name not in known:
            raise TrainyardError(f"{places.get(name, name)}: unknown parameter '{name}'; was the program changed?")
    values = {}
    for parameter in declared:
        if parameter.name in given:
            values[parameter.name] = parameter.check(given[parameter.name])
        elif parameter.default is REQUIRED:
            raise TrainyardError(f"{parameter.name}: must be given; {parameter.allowed()}")
        else:
            values[parameter.name] = parameter.default
    return values
