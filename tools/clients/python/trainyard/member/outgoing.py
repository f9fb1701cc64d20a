# SPDX-License-Identifier: Apache-2.0
"""Messages that are being sent. A message is encoded once, and every receiver gets the tensors in the way that it has
requested: as bytes, as handles, or not at all."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..bounds import BODY_BYTES, PAYLOADS
from ..encoder import _Writer
from ..errors import TrainyardError
from ..header import HEADER
from ..messages import Schema
from ..schema import Type
from ..tensor import DTYPES, NO_PAYLOAD, Tensor, write_tensor
from .memory import PROCESSES, Pool, Segment, numpy

_MAGIC, _VERSION = 0x44595254, 1
#: An array of at least so many bytes is copied into shared memory, which receivers read in place; a smaller one is sent
#: with the message.
_WORTHWHILE = 32 << 10
_DTYPE_NAMES = {name for name, _ in DTYPES}


class Payload(NamedTuple):
    """The bytes of one or more tensors, and the segment of shared memory that contains them, if any."""

    data: Any  # An array or bytes, which stay alive as long as this object.
    size: int
    segment: Optional[Segment] = None


class _Encoder(_Writer):
    """Encodes a message whose tensors may be numpy arrays."""

    def __init__(self, schema: Schema, pool: Pool, share: bool) -> None:
        super().__init__(schema.structs)
        self.pool, self.share = pool, share
        self.parts: List[Payload] = []
        self._known: Dict[int, int] = {}  # The numbers of the payloads, by the ids of their arrays.

    def simple(self, kind: str, value: Any) -> None:
        if kind != "Tensor":
            super().simple(kind, value)
        elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            self.array(numpy.asarray(value))
        elif isinstance(value, Tensor) and value.data is not None and numpy is not None and value.dtype != "bfloat16":
            self.array(numpy.frombuffer(value.data, value.dtype).reshape(value.shape))
        else:
            payloads: List[bytes] = []
            self.body += _shifted(write_tensor(value, payloads), len(self.parts))
            self.parts += [Payload(data, len(data)) for data in payloads]

    def message(self, schema: Schema, message: Any) -> None:
        """Encodes a message. Raises TrainyardError if a value does not fit its type, or the message is too large."""
        self.value(Type("struct", None, schema.name), message, "")
        if len(self.body) > BODY_BYTES or len(self.parts) > PAYLOADS:
            raise TrainyardError(f"message has {len(self.body)} bytes and {len(self.parts)} payloads; at most "
                                 f"{BODY_BYTES} and {PAYLOADS}")

    def array(self, array: Any) -> None:
        if array.dtype.name not in _DTYPE_NAMES:
            raise TrainyardError(f"an array of type {array.dtype} cannot be sent; allowed are "
                                 f"{', '.join(name for name, _ in DTYPES)}")
        array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        payload, offset = self.place(array)
        tensor = write_tensor(Tensor(array.dtype.name, array.shape), [])
        self.body += tensor[:-12] + payload.to_bytes(4, "little") + offset.to_bytes(8, "little")

    def place(self, array: Any) -> Tuple[int, int]:
        """Returns the number of the payload that contains the elements of an array, and the offset at which they
        begin."""
        found = self.pool.find(array)
        if found is None and self.share and array.nbytes >= _WORTHWHILE:
            copy = self.pool.allocate(array.nbytes)
            copy[:] = array.reshape(-1).view(numpy.uint8)
            found = self.pool.find(copy)
        if found is None:
            self.parts.append(Payload(array.tobytes(), array.nbytes))
            return len(self.parts) - 1, 0
        base, segment, size, offset = found
        if id(base) not in self._known:
            self._known[id(base)] = len(self.parts)
            self.parts.append(Payload(base, size, segment))
        return self._known[id(base)], offset


def _shifted(tensor: bytes, by: int) -> bytes:
    """Returns an encoded tensor whose payload number is increased by `by`, because the message already has other
    payloads."""
    payload = int.from_bytes(tensor[-12:-8], "little")
    return tensor if payload == NO_PAYLOAD else tensor[:-12] + (payload + by).to_bytes(4, "little") + tensor[-8:]


class _Checker(_Encoder):
    """Encodes a message only to check it, when it has no receiver. The elements of arrays are not copied."""

    def place(self, array: Any) -> Tuple[int, int]:
        if self.pool.find(array) is not None:
            return super().place(array)
        self.parts.append(Payload(b"", array.nbytes))
        return len(self.parts) - 1, 0


def check_message(schema: Schema, message: Any, pool: Pool) -> None:
    """Raises TrainyardError if the message could not be sent."""
    _Checker(schema, pool, share=False).message(schema, message)


class Outgoing:
    """An encoded message."""

    __slots__ = ("fingerprint", "sequence", "source", "trace", "time", "body", "payloads", "payload_bytes", "lent")

    def __init__(self, schema: Schema, message: Any, pool: Pool, share: bool) -> None:
        encoder = _Encoder(schema, pool, share)
        encoder.message(schema, message)
        self.fingerprint, self.body, self.payloads = schema.fingerprint, bytes(encoder.body), encoder.parts
        self.payload_bytes = sum(payload.size for payload in self.payloads)
        self.sequence = self.source = self.trace = self.time = 0
        # How often the segments were lent to each process before the first frame was sent.
        self.lent: Dict[int, int] = {}

    def lend_ahead(self, readers: List[int]) -> None:
        """Counts the segments as lent to all processes that are about to receive handles. No other process has the
        handles yet, so no other process changes these counters at the same time."""
        segments = [payload.segment for payload in self.payloads if payload.segment and payload.segment.counted]
        if not all(segment.free() for segment in segments):
            return
        for reader in readers:
            for segment in segments:
                segment.lend(reader)
            self.lent[reader] = self.lent.get(reader, 0) + 1

    def frames(self, topic: bytes, subscription: int, mode: str, reader: int) -> Tuple[List[Any], int]:
        """Returns the frames of the message for one receiver, and the number of bytes for which the receiver will
        return credit."""
        size = len(self.body) + (0 if mode == "none" else self.payload_bytes)
        handles, parts = 0, []
        may_lend = self._may_lend(mode, reader)
        for index, payload in enumerate(self.payloads):
            if may_lend and payload.segment is not None:
                parts.append(payload.segment.handle(payload.size))
                handles |= 1 << index
            else:
                parts.append(b"" if mode == "none" else payload.data)
        header = HEADER.pack(_MAGIC, _VERSION, len(parts), self.fingerprint, self.sequence, self.source, subscription,
                             self.time, self.trace, handles)
        return [topic, header, self.body, *parts], size

    def _may_lend(self, mode: str, reader: int) -> bool:
        if mode != "handle" or reader >= PROCESSES:
            return False
        segments = [payload.segment for payload in self.payloads if payload.segment and payload.segment.counted]
        if self.lent.get(reader, 0) > 0:
            self.lent[reader] -= 1
            return True
        # A process that has a handle may lend the segment further, and change the same counter. This program cannot
        # increment it atomically, so it then sends a copy.
        if not all(segment.free() for segment in segments):
            return False
        for segment in segments:
            segment.lend(reader)
        return True
