# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes messages of types that are known only by their schema."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from .decoder import compile_decoder
from .encoder import encode
from .schema import fingerprint, parse_schema


class Schema:
    """A message type that is described by a schema text. `into` is the class of decoded messages: dict, Record, or a
    dataclass. Raises BadMessage if the text is not a schema."""

    def __init__(self, text: str, into: Any = dict) -> None:
        self.structs = parse_schema(text)
        self.name = next(iter(self.structs))
        self.fingerprint = fingerprint(text)
        self._decode = compile_decoder(self.structs, into)

    def decode(self, body: bytes, payloads: Optional[Sequence[bytes]] = None) -> Any:
        """Decodes a message. Tensors have elements only if `payloads` contains them. Raises BadMessage if the bytes do
        not match the schema."""
        return self._decode(body, payloads)

    def encode(self, message: Any) -> Tuple[bytes, List[bytes]]:
        """Encodes a message: returns its body and its payloads. Raises TrainyardError if a value does not fit its
        type."""
        return encode(self.structs, message)
