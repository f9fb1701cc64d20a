#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random message types and messages, with which the codecs of the clients are compared.

    python3 random_messages.py COUNT    # prints messages, one JSON object per line, as the Python codec encodes them
    python3 random_messages.py --check  # reads lines of the same form, and checks that the Python codec agrees with them
"""
import json
import random
import string
import struct
import sys

import trainyard
from trainyard.schema import NUMBERS
from trainyard.tensor import DTYPES

RANGES = {kind: (-(1 << int(kind[1:]) - 1), (1 << int(kind[1:]) - 1) - 1) if kind[0] == "i" else (0, (1 << int(kind[1:])) - 1)
          for kind in NUMBERS if kind[0] != "f"}
# Names with a special meaning in Python or JavaScript. In a schema, they are ordinary names.
AWKWARD = ["class", "lambda", "from", "values", "keys", "__class__", "__proto__", "constructor", "toString", "o", "b"]
TEXTS = ["", "loss", "ä€😀", "\0", "a\nb", "__proto__"]


class Maker:
    """Makes a random type, and random messages of it."""

    def __init__(self, seed):
        self.random, self.structs = random.Random(seed), {}
        self.struct(0)

    def text(self):
        return "".join(f"{name} {{\n" + "".join(f"  {kind} {field}\n" for field, kind in fields) + "}\n"
                       for name, fields in self.structs.items())

    def struct(self, depth):
        name = f"S{len(self.structs)}"
        self.structs[name] = fields = []
        for index in range(self.random.randint(1, 6)):
            field = self.random.choice(AWKWARD) if self.random.random() < 0.2 else f"{self.random.choice(string.ascii_letters)}{index}"
            if field not in [known for known, _ in fields]:
                fields.append((field, self.type(depth + 1)))
        return name

    def type(self, depth):
        word = self.random.choice([*NUMBERS, "bool", "string", "Tensor", "list", "list", "map", "optional", "struct", "again"])
        if word in ("list", "map", "optional"):
            return f"{word}<{self.type(depth + 1)}>" if depth < 5 else "u8"
        if word == "struct":
            return self.struct(depth) if depth < 4 else "f64"
        # A struct that is already complete may be used as a type again.
        return self.random.choice(list(self.structs)[1:] or ["u16"]) if word == "again" and depth == 1 else \
            "i32" if word == "again" else word

    def message(self):
        schema = trainyard.Schema(self.text())
        return self.value(schema.structs, trainyard.schema.Type("struct", None, schema.name))

    def value(self, structs, kind):
        if kind.kind == "struct":
            return {name: self.value(structs, inner) for name, inner in structs[kind.name]}
        if kind.kind in ("list", "map"):
            values = [self.value(structs, kind.element) for _ in range(self.random.randint(0, 3))]
            return values if kind.kind == "list" else dict(zip(self.random.sample(TEXTS, 3), values))
        if kind.kind == "optional":
            return self.value(structs, kind.element) if self.random.random() < 0.5 else None
        return self.simple(kind.kind)

    def simple(self, kind):
        if kind in RANGES:
            low, high = RANGES[kind]
            return self.random.choice([low, high, 0, self.random.randint(low, high), min(high, 9007199254740993)])
        if kind in ("f32", "f64"):
            return self.random.choice([0.0, -0.0, 1.5, -(2.0 ** 100), float("inf"), float("nan"), 2.0 ** -20])
        if kind == "Tensor":
            return self.tensor()
        return self.random.random() < 0.5 if kind == "bool" else self.random.choice(TEXTS)

    def tensor(self):
        dtype, width = self.random.choice(DTYPES)
        shape = [self.random.randint(0, 3) for _ in range(self.random.randint(0, 3))]
        size = width
        for extent in shape:
            size *= extent
        data = bytes(self.random.randint(0, 1) if dtype == "bool" else self.random.randint(0, 255) for _ in range(size))
        return trainyard.Tensor(dtype, shape, data if size and self.random.random() < 0.7 else None)


def canonical(structs, kind, value):
    """Returns a message as text, so that programs in different languages can compare messages."""
    if kind.kind == "struct":
        return [[name, canonical(structs, inner, value[name])] for name, inner in structs[kind.name]]
    if kind.kind == "list":
        return [canonical(structs, kind.element, one) for one in value]
    if kind.kind == "map":
        return [[key, canonical(structs, kind.element, value[key])] for key in sorted(value, key=str.encode)]
    if kind.kind == "optional":
        return [] if value is None else [canonical(structs, kind.element, value)]
    if kind.kind in ("f32", "f64"):
        return "nan" if value != value else struct.pack(">d", value).hex()
    if kind.kind == "Tensor":
        return [value.dtype, [str(extent) for extent in value.shape], None if value.data is None else value.data.hex()]
    return str(value).lower() if kind.kind == "bool" else str(value)


def line(schema, message, body, payloads, text):
    root = trainyard.schema.Type("struct", None, schema.name)
    return {"schema": text, "fingerprint": f"{schema.fingerprint:016x}", "body": body.hex(),
            "payloads": [payload.hex() for payload in payloads], "message": canonical(schema.structs, root, message)}


def samples(count):
    for seed in range(count):
        maker = Maker(seed)
        text = maker.text()
        schema, message = trainyard.Schema(text), maker.message()
        yield line(schema, message, *schema.encode(message), text)


def check(lines):
    """Decodes messages that another codec has encoded, encodes them again, and compares the results."""
    count = 0
    for count, text in enumerate(lines, 1):
        given = json.loads(text)
        schema, payloads = trainyard.Schema(given["schema"]), [bytes.fromhex(each) for each in given["payloads"]]
        message = schema.decode(bytes.fromhex(given["body"]), payloads)
        assert line(schema, message, *schema.encode(message), given["schema"]) == given, given
    print(count)


def main():
    if sys.argv[1:] == ["--check"]:
        return check(sys.stdin)
    for sample in samples(int(sys.argv[1])):
        print(json.dumps(sample))
    return None


if __name__ == "__main__":
    main()
