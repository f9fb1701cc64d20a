# SPDX-License-Identifier: Apache-2.0
"""Encodes messages according to their schema. The code is simple rather than fast, because a client sends only a few
small control messages."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Tuple

from .bounds import BODY_BYTES, PAYLOADS
from .errors import TrainyardError
from .schema import NUMBERS, Fields, Type
from .tensor import write_tensor

_U32 = struct.Struct("<I")


def encode(structs: Dict[str, Fields], message: Any) -> Tuple[bytes, List[bytes]]:
    """Returns the body and the payloads of a message, which is a dictionary or an object with a field for each field of
    the schema. Raises TrainyardError if a value does not fit its type."""
    writer = _Writer(structs)
    writer.value(Type("struct", None, next(iter(structs))), message, "")
    if len(writer.body) > BODY_BYTES or len(writer.payloads) > PAYLOADS:
        raise TrainyardError(f"message has {len(writer.body)} bytes and {len(writer.payloads)} payloads; at most "
                             f"{BODY_BYTES} and {PAYLOADS}")
    return bytes(writer.body), writer.payloads


class _Writer:
    def __init__(self, structs: Dict[str, Fields]) -> None:
        self.structs, self.body, self.payloads = structs, bytearray(), []  # type: Dict[str, Fields], bytearray, List[bytes]

    def value(self, kind: Type, value: Any, where: str) -> None:
        try:
            if kind.kind == "struct":
                for name, inner in self.structs[kind.name]:
                    field = value[name] if isinstance(value, dict) else getattr(value, name)
                    self.value(inner, field, f"{where}.{name}")
            elif kind.element:
                self.container(kind.kind, kind.element, value, where)
            else:
                self.simple(kind.kind, value)
        except (struct.error, KeyError, AttributeError, TypeError, ValueError, OverflowError) as error:
            raise TrainyardError(f"{where or 'message'}: {value!r:.80} does not fit {kind}: {error}") from None

    def simple(self, kind: str, value: Any) -> None:
        if kind in NUMBERS:
            self.body += struct.pack(f"<{NUMBERS[kind]}", value)
        elif kind == "bool":
            self.body.append(1 if value else 0)
        elif kind == "string":
            self.text(value)
        else:
            self.body += write_tensor(value, self.payloads)

    def text(self, value: str) -> None:
        data = value.encode()
        self.body += _U32.pack(len(data)) + data

    def container(self, kind: str, element: Type, value: Any, where: str) -> None:
        if kind == "optional":
            self.body.append(0 if value is None else 1)
            if value is not None:
                self.value(element, value, where)
            return
        self.body += _U32.pack(len(value))
        if kind == "list":
            for index, item in enumerate(value):
                self.value(element, item, f"{where}[{index}]")
            return
        # Keys are sorted by their bytes, as docs/wire_format.md requires.
        for key in sorted(value, key=lambda key: str(key).encode()):
            self.text(key)
            self.value(element, value[key], f"{where}[{key!r}]")
