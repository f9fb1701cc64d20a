# SPDX-License-Identifier: Apache-2.0
"""Shared memory between processes of one run. Messages contain handles, which describe where the bytes are
(docs/wire_format.md, section 6). Requires numpy."""
from __future__ import annotations

import collections
import fcntl
import mmap
import os
import struct
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

numpy: Any
try:
    import numpy
except ImportError:  # Without numpy, tensors are sent as bytes.
    numpy = None

from ..errors import BadMessage, TrainyardError

__all__ = ["HANDLE", "Imports", "PAGE", "PROCESSES", "Pool", "Segment", "numpy"]

HANDLE = struct.Struct("<iiQQQQQ")  # pid, fd, inode, segment_bytes, offset, bytes, counted
PAGE = 4096
PROCESSES = 256  # The number of processes for which a segment has counters; further processes receive copies.
_MOST_MAPPINGS = 128
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW if hasattr(fcntl, "F_SEAL_SHRINK") else 2 | 4
_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)


class _Mapped:
    """The mapped memory of another process: its bytes, and the counters at its beginning."""

    def __init__(self, fd: int, size: int) -> None:
        self.bytes = numpy.frombuffer(mmap.mmap(fd, size), numpy.uint8)
        counters = self.bytes[:2 * PROCESSES * 4].view("<u4") if size >= PAGE else None
        self.lent: Any = None if counters is None else counters[:PROCESSES]
        self.returned: Any = None if counters is None else counters[PROCESSES:]


class Imports:
    """The memory of other processes that this process uses. The garbage collector may free arrays at any time and on
    any thread; therefore their memory is only marked then, and release() returns it later, on the main thread."""

    def __init__(self, index: int, wake: Callable[[], None]) -> None:
        self.index, self._wake = index, wake
        self._mappings: collections.OrderedDict[int, _Mapped] = collections.OrderedDict()
        self._unused: Deque[_Mapped] = collections.deque()

    def open(self, frame: bytes) -> memoryview:
        """Returns the bytes of a payload that a frame with a handle describes. If the bytes are counted, they are
        read-only, and are returned to their owner when nothing refers to them any longer."""
        if len(frame) != HANDLE.size:
            raise BadMessage(f"a handle has {len(frame)} bytes; {HANDLE.size} expected")
        pid, fd, inode, size, offset, count, counted = HANDLE.unpack(frame)
        if offset > size or count > size - offset or (counted and offset < PAGE):
            raise BadMessage(f"shared memory of {count} bytes at {offset} is not in its segment of {size} bytes")
        mapped = self._map(pid, fd, inode, size, bool(counted))
        view = mapped.bytes[offset:offset + count]
        if counted:
            # All arrays of this payload are made from this array, so the payload is unused when this array is freed.
            view = numpy.frombuffer(memoryview(mapped.bytes), numpy.uint8, count, offset)
            view.flags.writeable = False
            weakref.finalize(view, self._drop, mapped).atexit = False
        return memoryview(view)

    def _map(self, pid: int, fd: int, inode: int, size: int, counted: bool) -> _Mapped:
        known = self._mappings.get(inode)
        if known is not None and len(known.bytes) == size:
            self._mappings.move_to_end(inode)
            return known
        path = f"/proc/{pid}/fd/{fd}"
        try:
            opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise BadMessage(f"cannot open shared memory {path}: {error.strerror}") from None
        try:
            status = os.fstat(opened)
            if (status.st_ino, status.st_size) != (inode, size):
                raise BadMessage(f"shared memory {path} is not what its handle says: its owner is gone")
            mapped = _Mapped(opened, size)
        finally:
            os.close(opened)
        if counted:
            self._mappings[inode] = mapped
            # Memory that is still in use stays mapped when it is removed from this table.
            while len(self._mappings) > _MOST_MAPPINGS:
                self._mappings.popitem(last=False)
        return mapped

    def _drop(self, mapped: _Mapped) -> None:
        self._unused.append(mapped)
        self._wake()

    def release(self) -> None:
        """Returns the memory that is no longer used to its owners. Only the main thread writes these counters, so no
        addition is lost."""
        while self._unused:
            returned = self._unused.popleft().returned
            returned[self.index] = (int(returned[self.index]) + 1) & 0xFFFFFFFF


class Segment:
    """A piece of shared memory of this process that is used repeatedly."""

    def __init__(self, size: int, counted: bool) -> None:
        self.counted = counted
        self.start = PAGE if counted else 0
        self.size = self.start + max(-(-size // PAGE) * PAGE, PAGE)
        self.fd = os.memfd_create("trainyard", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.size)
        fcntl.fcntl(self.fd, _ADD_SEALS, _SEALS)
        self.mapped = _Mapped(self.fd, self.size)
        self.inode = os.fstat(self.fd).st_ino
        self.in_use = False

    def free(self) -> bool:
        """Returns True if no other process is using the segment."""
        return not self.counted or bool((self.mapped.lent == self.mapped.returned).all())

    def lend(self, reader: int) -> None:
        lent = self.mapped.lent
        lent[reader] = (int(lent[reader]) + 1) & 0xFFFFFFFF

    def handle(self, count: int) -> bytes:
        return HANDLE.pack(os.getpid(), self.fd, self.inode, self.size, self.start, count, 1 if self.counted else 0)


class Loan:
    """The use of a segment by arrays of this process."""

    def __init__(self, segment: Segment, count: int) -> None:
        self.segment, self.count = segment, count
        self.array = numpy.frombuffer(memoryview(segment.mapped.bytes), numpy.uint8, count, segment.start)
        segment.in_use = True
        weakref.finalize(self.array, setattr, segment, "in_use", False).atexit = False


class Pool:
    """The segments of this process. A segment is used again as soon as neither this process nor another process uses
    it."""

    def __init__(self) -> None:
        self._segments: Dict[int, List[Segment]] = {}
        self._permanent: List[Segment] = []
        self._loans: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._counts: Dict[int, Tuple[Segment, int]] = {}

    def allocate(self, count: int, permanent: bool = False) -> Any:
        """Returns an array of bytes in shared memory."""
        if numpy is None:
            raise TrainyardError("shared memory needs numpy (Debian: python3-numpy)")
        if permanent:
            segment = Segment(count, counted=False)
            self._permanent.append(segment)
        else:
            size = 1 << max(count - 1, PAGE - 1).bit_length()
            known = self._segments.setdefault(size, [])
            segment = next((one for one in known if not one.in_use and one.free()), None) or Segment(size, counted=True)
            if segment not in known:
                known.append(segment)
        loan = Loan(segment, count)
        key = loan.array.__array_interface__["data"][0]
        self._loans[key] = loan.array
        self._counts[key] = (segment, count)
        return loan.array

    def find(self, array: Any) -> Optional[Tuple[Any, Segment, int, int]]:
        """If `array` is in shared memory of this pool, returns the array that allocate() returned, its segment, the
        size in bytes, and the offset at which `array` begins. Otherwise returns None."""
        base = array
        while base is not None:
            key = base.__array_interface__["data"][0] if isinstance(base, numpy.ndarray) else 0
            if key in self._loans and self._loans[key] is base:
                segment, count = self._counts[key]
                return base, segment, count, array.__array_interface__["data"][0] - key
            base = getattr(base, "base", None)
        return None

    def forget(self, reader: int) -> None:
        """Called when the process `reader` has died. Memory that was lent to it counts as returned."""
        for segments in self._segments.values():
            for segment in segments:
                segment.mapped.returned[reader] = segment.mapped.lent[reader]

    def reserved_bytes(self) -> int:
        counted = sum(segment.size for segments in self._segments.values() for segment in segments)
        return counted + sum(segment.size for segment in self._permanent)
