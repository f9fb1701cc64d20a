# SPDX-License-Identifier: Apache-2.0
"""The header of 56 bytes that precedes the body of every message (docs/wire_format.md, section 4)."""
from __future__ import annotations

import struct
from typing import NamedTuple

from .bounds import PAYLOADS
from .errors import BadMessage

HEADER = struct.Struct("<IHHQQIIqQQ")
START = b"TRYD\1\0"  # The magic and the version.


class Header(NamedTuple):
    """The fields of the header, and the topic on which the message arrived."""

    magic: int
    version: int
    payloads: int
    fingerprint: int
    sequence: int  # The number of the message among those of its sender: 0, 1, 2, ...
    source: int  # The number of the sending component; always 0 on /log.
    subscription: int
    send_time_ns: int  # Nanoseconds since 1970.
    trace: int  # The number of the batch that caused this message, or 0.
    handles: int
    topic: str = ""


def read_header(frame: bytes, topic: str = "") -> Header:
    """Returns the header in a frame. Raises BadMessage if the frame is not a header of wire version 1."""
    if len(frame) != HEADER.size or frame[:6] != START:
        raise BadMessage(f"not a header of wire version 1: {len(frame)} bytes, {frame[:8].hex()}...")
    header = Header._make((*HEADER.unpack(frame), topic))
    if header.payloads > PAYLOADS or header.handles:
        raise BadMessage(f"a message has {header.payloads} payloads and the handles {header.handles:#x}; "
                         f"allowed are at most {PAYLOADS} payloads and no handles")
    return header
