# SPDX-License-Identifier: Apache-2.0
"""Messages as objects: of the class Record, whose attributes are the fields, or of dataclasses that the user
defines."""
from __future__ import annotations

import dataclasses
import typing
from typing import Any, Dict, Iterator, Optional

from .errors import TrainyardError
from .schema import NUMBERS, Fields, Type
from .tensor import Tensor


class Record:
    """A message, or a struct inside a message. `record.step` and `record["step"]` are its field `step`."""

    __slots__ = ("__fields",)

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.__fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__fields[name]
        except KeyError:
            raise AttributeError(f"no field '{name}'; there are: {', '.join(self.__fields)}") from None

    def __getitem__(self, name: str) -> Any:
        return self.__fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__fields)

    def __dir__(self) -> typing.List[str]:
        return list(self.__fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.__fields == other.__fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={value!r}' for name, value in self.__fields.items())})"


def check_class(wanted: Any, fields: Fields, struct: str, structs: Dict[str, Fields]) -> Dict[str, Any]:
    """Checks the dataclass `wanted` against a struct, and returns the class for each of its fields, or None for a field
    whose value is not a struct. Raises TrainyardError if a field of the dataclass is not in the struct, or has another
    type there. The dataclass may lack fields of the struct; its objects then do not contain them."""
    if not dataclasses.is_dataclass(wanted) or not isinstance(wanted, type):
        raise TrainyardError(f"into = {wanted!r}; allowed are dict, trainyard.Record and dataclasses")
    hints, known = typing.get_type_hints(wanted), dict(fields)
    found: Dict[str, Any] = {}
    for field in dataclasses.fields(wanted):
        if not field.init:
            continue
        if field.name not in known:
            raise TrainyardError(f"{wanted.__name__}.{field.name}: {struct} has no such field; it has: "
                                 f"{', '.join(known)}")
        found[field.name] = _check(hints[field.name], known[field.name], f"{wanted.__name__}.{field.name}", structs)
    return found


def _check(hint: Any, kind: Type, where: str, structs: Dict[str, Fields]) -> Optional[type]:
    """Returns the class of the struct in `kind`, or None. Raises TrainyardError if the hint does not fit."""
    if hint is Any:
        return None
    arguments = typing.get_args(hint)
    if kind.kind == "list" and kind.element and typing.get_origin(hint) is list:
        return _check(arguments[0], kind.element, where, structs)
    if kind.kind == "map" and kind.element and typing.get_origin(hint) is dict and arguments[0] is str:
        return _check(arguments[1], kind.element, where, structs)
    if kind.kind == "optional" and kind.element and type(None) in arguments and len(arguments) == 2:
        inner = next(argument for argument in arguments if argument is not type(None))
        return _check(inner, kind.element, where, structs)
    if kind.kind == "struct" and dataclasses.is_dataclass(hint) and isinstance(hint, type):
        check_class(hint, structs[kind.name], kind.name, structs)
        return hint
    if hint is python_type(kind):
        return None
    raise TrainyardError(f"{where}: the type {getattr(hint, '__name__', hint)} does not fit {kind}")


def python_type(kind: Type) -> Any:
    """Returns the Python type of a value of a simple type, or of a struct in a dictionary; otherwise None."""
    if kind.kind in NUMBERS:
        return float if kind.kind in ("f32", "f64") else int
    return {"bool": bool, "string": str, "Tensor": Tensor, "struct": dict}.get(kind.kind)
