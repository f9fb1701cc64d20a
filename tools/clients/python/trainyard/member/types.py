# SPDX-License-Identifier: Apache-2.0
"""The message types of the standard components, by their names. The schemas are in the file schemas.txt, which
tools/clients/python/member_types.py generates. A test compares them with the declarations of the components."""
from __future__ import annotations

import difflib
import functools
import pathlib
from typing import Dict

from ..errors import TrainyardError
from ..schema import parse_schema


@functools.lru_cache(maxsize=None)
def _standard() -> Dict[str, str]:
    text = pathlib.Path(__file__).with_name("schemas.txt").read_text(encoding="utf-8")
    schemas = [part.strip("\n") + "\n" for part in text.split("\n\n")]
    return {schema.split(" ", 1)[0]: schema for schema in schemas}


def schema_of(type_or_text: str) -> str:
    """Returns the schema text of a standard message type, such as "Metrics". If the argument is itself a schema text,
    returns it unchanged. Raises TrainyardError for any other text."""
    if "{" in type_or_text:
        parse_schema(type_or_text)
        return type_or_text
    known = _standard()
    if type_or_text in known:
        return known[type_or_text]
    near = difflib.get_close_matches(type_or_text, known, 1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    raise TrainyardError(f"no message type '{type_or_text:.80}'; {meant}known: {', '.join(sorted(known))}. A type of your "
                         "own is given by its schema text")
