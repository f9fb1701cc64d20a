# SPDX-License-Identifier: Apache-2.0
"""Generates Python source with dataclasses for a message type, so that a type checker knows the fields."""
from __future__ import annotations

import keyword
from typing import List

from .schema import NUMBERS, Type, parse_schema

_WORDS = {"bool": "bool", "string": "str", "Tensor": "Tensor"}


def dataclasses_of(text: str) -> str:
    """Returns a Python module with a dataclass for each struct of a schema, for `run.subscribe(topic, into=...)`. Fields
    whose names Python reserves are left out. Raises BadMessage."""
    structs = parse_schema(text)
    lines: List[str] = []
    # A class must precede the classes that use it.
    for name, fields in reversed(list(structs.items())):
        kept = [f"    {field}: {_word(kind)}" for field, kind in fields
                if not keyword.iskeyword(field) and not field.startswith("__")]
        lines += ["", "", "@dataclass", f"class {name}:", *(kept or ["    pass"])]
    imports = ["from __future__ import annotations", "", "from dataclasses import dataclass",
               "from typing import Dict, List, Optional"]
    if "Tensor" in text:
        imports += ["", "from trainyard import Tensor"]
    return "\n".join([*imports, *lines]) + "\n"


def _word(kind: Type) -> str:
    if kind.element:
        inner = _word(kind.element)
        return {"list": f"List[{inner}]", "map": f"Dict[str, {inner}]", "optional": f"Optional[{inner}]"}[kind.kind]
    if kind.kind in NUMBERS:
        return "float" if kind.kind in ("f32", "f64") else "int"
    return _WORDS.get(kind.kind, kind.name)
