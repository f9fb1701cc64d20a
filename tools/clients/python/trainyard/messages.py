# SPDX-License-Identifier: Apache-2.0
"""Message types known by their schema: Schema decodes and encodes any of them."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from .decoder import compile_decoder
from .encoder import encode
from .schema import fingerprint, parse_schema


class Schema:
    """A message type, from its schema text alone. Decodes messages into dictionaries, or into what `into` names: dict,
    Record, or a dataclass. Raises BadMessage if the text is not a schema."""

    def __init__(self, text: str, into: Any = dict) -> None:
        self.structs = parse_schema(text)
        self.name = next(iter(self.structs))
        self.fingerprint = fingerprint(text)
        self._decode = compile_decoder(self.structs, into)

    def decode(self, body: bytes, payloads: Optional[Sequence[bytes]] = None) -> Any:
        """Returns a message. Tensors have their elements only if `payloads` has them. Raises BadMessage."""
        return self._decode(body, payloads)

    def encode(self, message: Any) -> Tuple[bytes, List[bytes]]:
        """Returns the body and the payloads of a message. Raises TrainyardError if a value does not fit its type."""
        return encode(self.structs, message)
