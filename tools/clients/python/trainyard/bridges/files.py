# SPDX-License-Identifier: Apache-2.0
"""A sequence of lines in numbered files. One thread appends lines; another thread reads lines and removes files."""
from __future__ import annotations

import contextlib
import os
import threading
from typing import BinaryIO, List, NamedTuple, Optional, Tuple

_FILE_BYTES = 8 << 20
_READ_BYTES = 1 << 20


class Position(NamedTuple):
    """A position between two lines."""

    file: int
    offset: int


class LineFiles:
    """The files `1.jsonl`, `2.jsonl`, ... in a folder. A process that was killed may have left an incomplete line at
    the end of a file. Such a line is never read, because every process begins a new file."""

    def __init__(self, folder: str) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._numbers = sorted(int(name[:-6]) for name in os.listdir(folder) if name.endswith(".jsonl"))
        self._file: Optional[BinaryIO] = None
        self._newest_bytes = 0
        #: The size of all files together.
        self.bytes = sum(os.path.getsize(self._path(number)) for number in self._numbers)

    def append(self, lines: bytes, after: int) -> None:
        """Adds complete lines. If this raises OSError, for instance because the disk is full, nothing has been added. A
        new file gets a larger number than `after`, the file that was read last."""
        if self._file is None or self._newest_bytes > _FILE_BYTES:
            self._begin_file(after)
        assert self._file is not None
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[self._file.write(rest):]
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(self._newest_bytes)
            raise
        self._newest_bytes += len(lines)
        with self._lock:
            self.bytes += len(lines)

    def read(self, position: Position, most: int) -> Tuple[List[bytes], Position]:
        """Returns the lines from `position` on, at most `most` of them, and the position after them."""
        with self._lock:
            numbers = [number for number in self._numbers if number >= position.file]
        for number in numbers:
            begin = position.offset if number == position.file else 0
            lines = self._lines(number, begin, most)
            if lines:
                return lines, Position(number, begin + sum(map(len, lines)))
        return [], position

    def remove_before(self, position: Position) -> None:
        """Removes the files that lie completely before a position."""
        with self._lock:
            done = [number for number in self._numbers if number < position.file]
            self._numbers = [number for number in self._numbers if number >= position.file]
        for number in done:
            size = os.path.getsize(self._path(number))
            os.remove(self._path(number))
            with self._lock:
                self.bytes -= size

    def remove_all(self) -> None:
        """Removes all files."""
        with self._lock:
            newest = max(self._numbers, default=0)
        self.remove_before(Position(newest + 1, 0))

    def close(self) -> None:
        """Closes the file. After this, no lines may be appended."""
        if self._file is not None:
            self._file.close()

    def _path(self, number: int) -> str:
        return os.path.join(self._folder, f"{number}.jsonl")

    def _begin_file(self, after: int) -> None:
        with self._lock:
            number = max([after, *self._numbers]) + 1
        file = open(self._path(number), "ab", buffering=0)
        if self._file is not None:
            self._file.close()
        self._file, self._newest_bytes = file, 0
        with self._lock:
            self._numbers.append(number)

    def _lines(self, number: int, begin: int, most: int) -> List[bytes]:
        lines: List[bytes] = []
        size = 0
        with open(self._path(number), "rb") as file:
            file.seek(begin)
            for line in file:
                if not line.endswith(b"\n") or len(lines) >= most or (lines and size + len(line) > _READ_BYTES):
                    break
                lines.append(line)
                size += len(line)
        return lines
