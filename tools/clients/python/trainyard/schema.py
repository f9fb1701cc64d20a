# SPDX-License-Identifier: Apache-2.0
"""The types of messages, from their schema texts (docs/wire_format.md, section 5)."""
from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from .bounds import NESTING, SCHEMA_BYTES
from .errors import BadMessage

# The kinds of numbers, with their format letters for the module struct.
NUMBERS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "f",
           "f64": "d"}
SIMPLE = {*NUMBERS, "bool", "string", "Tensor"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIELD = re.compile(r"  ([A-Za-z0-9_<>]+) ([A-Za-z_][A-Za-z0-9_]*)")
_CONTAINER = re.compile(r"(list|map|optional)<(.*)>")


class Type(NamedTuple):
    """The type of a value. `kind` is a simple kind such as "u32", "list", "map" or "optional", or "struct"."""

    kind: str
    element: Optional[Type] = None  # The type of the elements of a list, a map or an optional.
    name: str = ""  # The name of a struct.

    def __str__(self) -> str:
        return f"{self.kind}<{self.element}>" if self.element else self.name or self.kind


Fields = List[Tuple[str, Type]]


def fingerprint(text: str) -> int:
    """Returns the 64-bit FNV-1a hash of a schema text."""
    value = 14695981039346656037
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return value


def parse_type(word: str, depth: int = 0) -> Type:
    """Returns the type that a word such as "list<u8>" describes. Raises BadMessage."""
    container = _CONTAINER.fullmatch(word)
    if container and depth < NESTING:
        return Type(container[1], parse_type(container[2], depth + 1))
    if not _NAME.fullmatch(word):
        raise BadMessage(f"schema has no type {word[:80]!r}, or nests it too deeply")
    return Type(word) if word in SIMPLE else Type("struct", None, word)


def parse_schema(text: str) -> Dict[str, Fields]:
    """Returns the structs of a schema text, beginning with the message. Raises BadMessage if the text does not follow
    the grammar, a struct contains itself, or structs are nested too deeply."""
    if len(text) > SCHEMA_BYTES:
        raise BadMessage(f"schema text has {len(text)} characters; at most {SCHEMA_BYTES}")
    if not text.endswith("}\n"):
        raise BadMessage(f"schema text must end with a closing brace: {text[-80:]!r}")
    structs: Dict[str, Fields] = {}
    lines = iter(text[:-1].split("\n"))
    for line in lines:
        name = line[:-2]
        if line[-2:] != " {" or not _NAME.fullmatch(name) or name in SIMPLE or name in structs:
            raise BadMessage(f"schema: {line[:80]!r} must begin a new struct")
        structs[name] = _parse_fields(lines)
    _Check(structs)
    return structs


def _parse_fields(lines: Iterator[str]) -> Fields:
    fields: Dict[str, Type] = {}
    for line in lines:
        if line == "}":
            return list(fields.items())
        field = _FIELD.fullmatch(line)
        if not field or field[2] in fields:
            raise BadMessage(f"schema: {line[:80]!r} must be a new field, or end the struct")
        fields[field[2]] = parse_type(field[1])
    raise BadMessage("schema: a struct does not end")


class _Check:
    """Checks the nesting of structs, beginning with the message. Heights are stored, so the time is proportional to the
    length of the text."""

    def __init__(self, structs: Dict[str, Fields]) -> None:
        self.structs, self.heights = structs, {}  # type: Dict[str, Fields], Dict[str, Optional[int]]
        first = next(iter(structs))
        self.height(Type("struct", None, first), 0)
        for name, fields in structs.items():
            if name not in self.heights:
                raise BadMessage(f"schema: struct '{name}' is in no field of the message")
            # An empty struct is refused, because a list of structs without bytes could have any number of elements.
            if not fields and name != first:
                raise BadMessage(f"schema: struct '{name}' has no fields")

    def height(self, kind: Type, depth: int) -> int:
        """Returns how many types are nested in a type that is itself nested in `depth` types."""
        if kind.element:
            return 1 + self.height(kind.element, depth + 1)
        if kind.kind != "struct":
            return 0
        if kind.name not in self.structs:
            raise BadMessage(f"schema has no type '{kind.name}'")
        if kind.name not in self.heights:
            if depth > NESTING:
                raise BadMessage(f"schema: struct '{kind.name}' is nested too deeply")
            self.heights[kind.name] = None
            below = [self.height(inner, depth + 1) for _, inner in self.structs[kind.name]]
            self.heights[kind.name] = 1 + max(below, default=0)
        height = self.heights[kind.name]
        if height is None:
            raise BadMessage(f"schema: struct '{kind.name}' contains itself")
        if depth + height > NESTING + 1:
            raise BadMessage(f"schema: struct '{kind.name}' is nested too deeply")
        return height
