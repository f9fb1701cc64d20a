# SPDX-License-Identifier: Apache-2.0
"""Tensors in messages (docs/wire_format.md, section 6)."""
from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from .bounds import DIMENSIONS
from .errors import BadMessage, TrainyardError

if TYPE_CHECKING:
    import numpy

NO_PAYLOAD = 0xFFFFFFFF
# The types of elements in the order of their numbers in messages, each with the size of an element in bytes.
DTYPES = [("uint8", 1), ("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("float16", 2), ("bfloat16", 2),
          ("float32", 4), ("float64", 8), ("bool", 1)]
_NUMBERS = {name: number for number, (name, _) in enumerate(DTYPES)}
_START, _END, _SHAPES = struct.Struct("<BB"), struct.Struct("<IQ"), [f"<{rank}q" for rank in range(DIMENSIONS + 1)]


class Tensor:
    """A tensor in a message: its type, its shape, and its bytes if the subscription has requested them.
    `tensor["dtype"]` is the same as `tensor.dtype`."""

    __slots__ = ("dtype", "shape", "payload", "offset", "data")

    def __init__(self, dtype: str, shape: Sequence[int], data: Union[bytes, memoryview, None] = None,
                 payload: Optional[int] = None, offset: int = 0) -> None:
        self.dtype, self.shape, self.payload, self.offset = dtype, list(shape), payload, offset
        #: The elements, dense, in row-major order and little-endian; None if the message does not contain them.
        self.data = memoryview(data).cast("B") if isinstance(data, bytes) else data

    def keys(self) -> Tuple[str, ...]:
        return self.__slots__

    def __getitem__(self, name: str) -> Any:
        if name not in self.__slots__:
            raise KeyError(name)
        return getattr(self, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return (self.dtype, self.shape, self.data) == (other.dtype, other.shape, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tensor({self.dtype}, {self.shape}, {'no data' if self.data is None else f'{len(self.data)} bytes'})"

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """Returns the tensor as a NumPy array. The array is a read-only view of the message, without a copy; but NumPy
        has no bfloat16, so a tensor of this type is converted to float32, which represents all its values exactly.
        Raises TrainyardError if the message does not contain the elements."""
        import numpy as np
        # A tensor whose shape contains 0 is complete without bytes; C++ sends no payload for it.
        data = b"" if self.data is None and 0 in self.shape else self.data
        if data is None:
            raise TrainyardError(f"{self} has no elements; subscribe with payloads=\"inline\" to receive them")
        if self.dtype == "bfloat16":
            upper = np.frombuffer(data, "<u2").astype("<u4") << 16
            return upper.view("<f4").reshape(self.shape)
        return np.frombuffer(data, np.dtype(self.dtype).newbyteorder("<")).reshape(self.shape)


def read_tensor(body: bytes, payloads: Optional[Sequence[bytes]], at: int) -> Tuple[Tensor, int]:
    """Reads a tensor at the offset `at` of a body. Returns the tensor and the offset after it. If `payloads` is None,
    the tensor has no elements. Raises BadMessage, or struct.error if the body is too short."""
    dtype, rank = _START.unpack_from(body, at)
    if dtype >= len(DTYPES) or rank > DIMENSIONS:
        raise BadMessage(f"tensor of dtype {dtype} with {rank} dimensions; at most {len(DTYPES) - 1} and {DIMENSIONS}")
    shape: List[int] = list(struct.unpack_from(_SHAPES[rank], body, at + 2))
    at += 2 + 8 * rank
    payload, offset = _END.unpack_from(body, at)
    if shape and min(shape) < 0:
        raise BadMessage(f"tensor of the impossible shape {shape}")
    name, width = DTYPES[dtype]
    if payload == NO_PAYLOAD:
        if offset:
            raise BadMessage(f"tensor without a payload at offset {offset} of it")
        return Tensor(name, shape), at + 12
    if payloads is None:
        return Tensor(name, shape, None, payload, offset), at + 12
    if payload >= len(payloads):
        raise BadMessage(f"tensor in payload {payload}; the message has {len(payloads)}")
    data = _slice(payloads[payload], math.prod(shape) * width, payload, offset)
    return Tensor(name, shape, data, payload, offset), at + 12


def _slice(frame: bytes, size: int, payload: int, offset: int) -> Optional[memoryview]:
    if not frame:
        # Either the tensor needs no bytes, or the subscription has requested no elements (`payloads="none"`).
        return None if size else memoryview(b"")
    if offset + size > len(frame):
        raise BadMessage(f"tensor needs {size} bytes at {offset} of payload {payload}: it has {len(frame)}")
    return memoryview(frame)[offset:offset + size]


def write_tensor(tensor: Tensor, payloads: List[bytes]) -> bytes:
    """Returns the bytes of a tensor in a body, and appends its elements to the payloads."""
    if tensor.dtype not in _NUMBERS or len(tensor.shape) > DIMENSIONS or min(tensor.shape, default=0) < 0:
        raise TrainyardError(f"{tensor} cannot be sent; allowed are at most {DIMENSIONS} dimensions and the types "
                             f"{', '.join(_NUMBERS)}")
    number = _NUMBERS[tensor.dtype]
    start = _START.pack(number, len(tensor.shape)) + struct.pack(_SHAPES[len(tensor.shape)], *tensor.shape)
    if tensor.data is None:
        return start + _END.pack(NO_PAYLOAD, 0)
    if tensor.data.nbytes != math.prod(tensor.shape) * DTYPES[number][1]:
        raise TrainyardError(f"{tensor} needs {math.prod(tensor.shape) * DTYPES[number][1]} bytes")
    payloads.append(bytes(tensor.data))
    return start + _END.pack(len(payloads) - 1, 0)
