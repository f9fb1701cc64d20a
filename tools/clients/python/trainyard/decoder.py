# SPDX-License-Identifier: Apache-2.0
"""Compiles a schema into a function that decodes the bodies of messages.

The function is Python source that is generated from the parsed schema. Consecutive fields of fixed size are read by one
call of struct.Struct. The source contains nothing from the schema except the names of fields, which parse_schema() has
checked, and the format letters of numbers, so a hostile schema cannot inject code. No count in a message is trusted:
before elements are read, the remaining bytes must be enough for them. """
from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple

from .bounds import BODY_BYTES, OBJECTS
from .errors import BadMessage
from .record import Record, check_class
from .schema import NUMBERS, Fields, Type
from .tensor import read_tensor

Decode = Callable[[bytes, Optional[Sequence[bytes]]], Any]


def _short(count: int, size: int, left: int) -> NoReturn:
    raise BadMessage(f"message claims {count} elements of {size} bytes or more; {left} bytes remain")


def _bad_bool(value: int) -> NoReturn:
    raise BadMessage(f"message has {value} for a bool; 0 or 1")


def _repeated(key: str) -> NoReturn:
    raise BadMessage(f"message has the key {key[:80]!r} a second time in a map")


class _Total:
    """Counts the objects in the lists and maps of the message that is being decoded."""

    def __init__(self) -> None:
        self.objects = 0

    def add(self, count: int) -> None:
        self.objects += count
        if self.objects > OBJECTS:
            raise BadMessage(f"message contains more than {OBJECTS} objects in lists and maps")


def compile_decoder(structs: Dict[str, Fields], into: Any = dict) -> Decode:
    """Returns a function that decodes messages of the type `structs` from a body and its payloads. If the payloads are
    None, tensors have no elements. `into` is the class of the result: dict, Record or a dataclass."""
    name = next(iter(structs))
    source = _Source(structs, into)
    function = source.function(Type("struct", None, name), None if into in (dict, Record) else into)
    decode_value = source.compile(function)

    def decode(body: bytes, payloads: Optional[Sequence[bytes]] = None) -> Any:
        size = len(body)
        if size > BODY_BYTES:
            raise BadMessage(f"message has {size} bytes; at most {BODY_BYTES}")
        source.total.objects = 0
        try:
            value, end = decode_value(body, size, payloads, 0)
        except struct.error:
            raise BadMessage(f"message of type {name} ends too early, after {size} bytes") from None
        if end != size:
            raise BadMessage(f"message of type {name} has {size - end} bytes after its last field")
        return value

    return decode


class _Source:
    """Generates the functions for one schema, one for each type that needs its own function. A function f0(b, n, p, o)
    reads a value at the offset o of the body b, which has n bytes and the payloads p. It returns the value and the
    offset after it."""

    def __init__(self, structs: Dict[str, Fields], into: Any) -> None:
        self.structs, self.into = structs, into
        self.total = _Total()
        self.names: Dict[str, Any] = {
            "add": self.total.add, "u32": struct.Struct("<I").unpack_from, "u8": struct.Struct("<B").unpack_from, "R": Record,
            "tensor": read_tensor, "unpack": struct.unpack_from, "short": _short, "bad_bool": _bad_bool,
            "repeated": _repeated}
        self.functions: Dict[Tuple[Type, Optional[type]], str] = {}
        self.text: List[str] = []

    def compile(self, function: str) -> Callable[[bytes, int, Optional[Sequence[bytes]], int], Tuple[Any, int]]:
        exec("\n".join(self.text), self.names)
        result: Callable[[bytes, int, Optional[Sequence[bytes]], int], Tuple[Any, int]] = self.names[function]
        return result

    def function(self, kind: Type, wanted: Optional[type]) -> str:
        """Returns the name of the function that reads values of type `kind` into objects of the class `wanted`.
        Generates the function if necessary."""
        if (kind, wanted) not in self.functions:
            name = self.functions[kind, wanted] = f"f{len(self.functions)}"
            body = _Body(self)
            if kind.kind == "struct":
                result = body.struct(kind.name, wanted)
            else:
                result = body.value(kind, wanted)
                body.flush()
            self.text += [f"def {name}(b, n, p, o):", *body.lines, f"    return {result}, o"]
        return self.functions[kind, wanted]

    def constant(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def built(self, struct_name: str, wanted: Optional[type], values: Dict[str, str]) -> str:
        """Returns the expression that constructs a struct from the values of its fields."""
        if wanted:
            known = check_class(wanted, self.structs[struct_name], struct_name, self.structs)
            return f"{self.constant(wanted)}({', '.join(f'{name}={values[name]}' for name in known)})"
        fields = ", ".join(f"{name!r}: {value}" for name, value in values.items())
        return f"R({{{fields}}})" if self.into is Record else f"{{{fields}}}"

    def classes(self, struct_name: str, wanted: Optional[type]) -> Dict[str, Any]:
        return check_class(wanted, self.structs[struct_name], struct_name, self.structs) if wanted else {}

    def numbers(self, kind: Type) -> Optional[str]:
        """Returns the format letters of a struct that consists only of numbers; otherwise None."""
        fields = self.structs.get(kind.name, [])
        return "".join(NUMBERS[inner.kind] for _, inner in fields) if fields and all(
            inner.kind in NUMBERS for _, inner in fields) else None


class _Body:
    """Generates the lines of one function."""

    def __init__(self, source: _Source) -> None:
        self.source, self.lines, self.count = source, [], 0  # type: _Source, List[str], int
        # The values of fixed size that the next call of struct.Struct will read, and the checks that follow it.
        self.letters, self.targets, self.checks = "", [], []  # type: str, List[str], List[str]

    def add(self, *lines: str) -> None:
        self.lines += [f"    {line}" for line in lines]

    def variable(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def fixed(self, letter: str) -> str:
        """Adds a number to the next call of struct.Struct, and returns the variable that will contain its value."""
        name = self.variable()
        self.letters += letter
        self.targets.append(name)
        return name

    def flush(self) -> None:
        if self.letters:
            reader = struct.Struct(f"<{self.letters}")
            self.add(f"{', '.join(self.targets)}, = {self.source.constant(reader.unpack_from)}(b, o)",
                     f"o += {reader.size}", *self.checks)
        self.letters, self.targets, self.checks = "", [], []

    def struct(self, name: str, wanted: Optional[type]) -> str:
        classes = self.source.classes(name, wanted)
        values = {field: self.value(kind, classes.get(field)) for field, kind in self.source.structs[name]}
        self.flush()
        return self.source.built(name, wanted, values)

    def value(self, kind: Type, wanted: Optional[type]) -> str:
        """Adds the lines that read a value. Returns the variable that contains the value, at the latest after
        flush()."""
        if kind.kind in NUMBERS:
            return self.fixed(NUMBERS[kind.kind])
        if kind.kind == "bool":
            name = self.fixed("B")
            self.checks += [f"if {name} > 1: bad_bool({name})", f"{name} = {name} == 1"]
            return name
        if kind.kind == "string":
            return self.string()
        if kind.element:
            return getattr(self, kind.kind)(kind.element, wanted)  # type: ignore[no-any-return]
        self.flush()
        name = self.variable()
        call = "tensor(b, p, o)" if kind.kind == "Tensor" else f"{self.source.function(kind, wanted)}(b, n, p, o)"
        self.add(f"{name}, o = {call}")
        return name

    def counted(self, size: int) -> str:
        """Reads a count of elements that take at least `size` bytes each."""
        count = self.fixed("I")
        self.flush()
        bytes_of = f"{count} * {size}" if size > 1 else count
        self.add(f"e = o + {bytes_of}", f"if e > n: short({count}, {size}, n - o)")
        return count

    def string(self) -> str:
        self.counted(1)
        name = self.variable()
        self.add(f"{name} = b[o:e].decode('utf-8', 'replace')", "o = e")
        return name

    def optional(self, element: Type, wanted: Optional[type]) -> str:
        present = self.value(Type("bool"), None)
        self.flush()
        name, function = self.variable(), self.source.function(element, wanted)
        self.add(f"{name} = None", f"if {present}: {name}, o = {function}(b, n, p, o)")
        return name

    def map(self, element: Type, wanted: Optional[type]) -> str:
        count = self.counted(4)
        name, key, function = self.variable(), self.source.function(Type("string"), None), self.source.function(
            element, wanted)
        self.add(f"add({count})", f"{name} = {{}}", f"for _ in range({count}):", f"    k, o = {key}(b, n, p, o)",
                 f"    if k in {name}: repeated(k)", f"    {name}[k], o = {function}(b, n, p, o)")
        return name

    def list(self, element: Type, wanted: Optional[type]) -> str:
        if element.kind in NUMBERS:
            return self.list_of_numbers(NUMBERS[element.kind])
        letters = self.source.numbers(element)
        if letters:
            return self.list_of_plain(letters, element.name, wanted)
        count = self.counted(1)
        name, function = self.variable(), self.source.function(element, wanted)
        self.add(f"add({count})", f"{name} = []", f"for _ in range({count}):", f"    x, o = {function}(b, n, p, o)",
                 f"    {name}.append(x)")
        return name

    def list_of_numbers(self, letter: str) -> str:
        count = self.counted(struct.calcsize(f"<{letter}"))
        name = self.variable()
        self.add(f"{name} = list(unpack(f'<{{{count}}}{letter}', b, o))", "o = e")
        return name

    def list_of_plain(self, letters: str, struct_name: str, wanted: Optional[type]) -> str:
        """Adds the lines that read a list of structs that consist only of numbers, and thus all have the same size."""
        reader = struct.Struct(f"<{letters}")
        self.add(f"add({self.counted(reader.size)})")
        name, fields = self.variable(), [field for field, _ in self.source.structs[struct_name]]
        values = {field: f"w{index}" for index, field in enumerate(fields)}
        made = self.source.built(struct_name, wanted, values)
        self.add(f"{name} = [{made} for {', '.join(values.values())}, in "
                 f"{self.source.constant(reader.iter_unpack)}(b[o:e])]", "o = e")
        return name
