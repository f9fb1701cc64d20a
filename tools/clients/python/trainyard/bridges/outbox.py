# SPDX-License-Identifier: Apache-2.0
"""A queue on disk between the run and a tracking service. It survives the death of the process and of the service."""
from __future__ import annotations

import collections
import fcntl
import json
import os
import threading
import time
from typing import Any, BinaryIO, Deque, Dict, List, Optional, Tuple

from ..errors import TrainyardError
from .records import Record

_MOST_WAITING = 10_000  # Records in memory, while the disk is busy.
_FILE_BYTES = 8 << 20
_READ_BYTES = 1 << 20


class Outbox:
    """A folder with files of records, `1.jsonl`, `2.jsonl`, ..., and `outbox.json`, which says how far they have been
    delivered. Files that were delivered are removed.

    put() never waits: a thread writes what it was given. If the disk is slow or full, or if more than `most_bytes` are
    undelivered, records are lost and counted. One other thread may call take() and confirm().

    Raises TrainyardError if another process uses the folder, and OSError if the folder cannot be made."""

    def __init__(self, folder: str, most_bytes: int) -> None:
        self.folder, self._most_bytes = folder, most_bytes
        os.makedirs(folder, exist_ok=True)
        self._lock_file = open(os.path.join(folder, "lock"), "wb")
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TrainyardError(f"{folder} is in use; its records are being delivered") from None
        #: What must be remembered: the position, the counts, and whatever the courier adds. Saved by confirm().
        self.state: Dict[str, Any] = {"file": 0, "offset": 0, "delivered": 0, "lost": 0, **self._read_state()}
        self._changed = threading.Condition()
        self._waiting: Deque[Record] = collections.deque()
        self._files = sorted(int(name[:-6]) for name in os.listdir(folder) if name.endswith(".jsonl"))
        #: True if the last record of an earlier process is the end of the run.
        self.has_end = False
        self._bytes, self.pending = self._measure()
        self._file: Optional[BinaryIO] = None
        self._file_bytes = 0
        self._ahead: Optional[Tuple[int, int, int]] = None  # The position after what take() has returned, and its count.
        self._closing = False
        #: Why records were lost; empty if none were.
        self.trouble = ""
        self._writer = threading.Thread(target=self._write_all, name="outbox", daemon=True)
        self._writer.start()

    def put(self, record: Record) -> None:
        """Adds a record. Any thread may call this."""
        with self._changed:
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.popleft()
                self._lose(1, "the disk is too slow")
            self._waiting.append(record)
            self._changed.notify_all()

    def close(self, seconds: float) -> None:
        """Writes what is in memory, and waits for that up to `seconds`. Nothing may be put after this."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._writer.join(seconds)

    def undelivered(self) -> int:
        """Returns the number of records that have been put and not confirmed."""
        with self._changed:
            return self.pending + len(self._waiting)

    def finished(self) -> bool:
        """Returns True if the outbox was closed and everything has been delivered."""
        with self._changed:
            return self._closing and not self._waiting and self.pending == 0

    def take(self, most: int, seconds: float) -> List[Record]:
        """Returns the oldest records that have not been confirmed, without removing them. Waits up to `seconds` for the
        first one."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self.pending == 0 and not (self._closing and not self._waiting):
                left = deadline - time.monotonic()
                if left <= 0:
                    return []
                self._changed.wait(left)
            files = list(self._files)
        return self._read(files, most)

    def confirm(self) -> None:
        """Forgets the records that the last take() returned."""
        if self._ahead is None:
            return
        self.state["file"], self.state["offset"], count = self._ahead
        self.state["delivered"] += count
        self._ahead = None
        self.save()
        with self._changed:
            self.pending -= count
            done = [number for number in self._files if number < self.state["file"]]
            self._files = [number for number in self._files if number >= self.state["file"]]
            self._changed.notify_all()
        for number in done:
            size = os.path.getsize(self._path(number))
            os.remove(self._path(number))
            with self._changed:
                self._bytes -= size

    def save(self) -> None:
        """Writes the state to disk."""
        path = os.path.join(self.folder, "outbox.json")
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(f"{path}.new", path)

    def clear(self) -> None:
        """Removes the files of records. Called when everything has been delivered and nothing more will come."""
        self._writer.join()
        for name in os.listdir(self.folder):
            if name.endswith(".jsonl"):
                os.remove(os.path.join(self.folder, name))

    def _path(self, number: int) -> str:
        return os.path.join(self.folder, f"{number}.jsonl")

    def _read_state(self) -> Dict[str, Any]:
        try:
            with open(os.path.join(self.folder, "outbox.json"), encoding="utf-8") as file:
                state = json.load(file)
            return state if isinstance(state, dict) else {}
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise TrainyardError(f"{self.folder}/outbox.json: {error}") from None

    def _measure(self) -> Tuple[int, int]:
        """Returns the bytes of all files, and the number of records that an earlier process left undelivered."""
        size = count = 0
        last = b""
        for number in self._files:
            size += os.path.getsize(self._path(number))
            with open(self._path(number), "rb") as file:
                if number == self.state["file"]:
                    file.seek(self.state["offset"])
                elif number < self.state["file"]:
                    continue
                for line in file:
                    if line.endswith(b"\n"):
                        count, last = count + 1, line
        self.has_end = b'"end"' in last and (self._parsed(last) or {}).get("kind") == "end"
        return size, count

    def _lose(self, count: int, why: str) -> None:
        self.state["lost"] += count
        self.trouble = why

    # The thread that writes.

    def _write_all(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    break
                records = list(self._waiting)
                full = self._bytes >= self._most_bytes and records[-1]["kind"] != "end"
            # They stay in the queue meanwhile, so that finished() and take() know that there are more to come.
            written, trouble = (0, f"{self._most_bytes >> 20} MiB are undelivered") if full else self._write(records)
            with self._changed:
                self.pending += written
                # put() may have dropped the oldest ones meanwhile, although they are on disk.
                kept = {id(record) for record in records}
                while self._waiting and id(self._waiting[0]) in kept:
                    self._waiting.popleft()
                if trouble:
                    self._lose(len(records) - written, trouble)
                self._changed.notify_all()
        if self._file is not None:
            self._file.close()

    def _write(self, records: List[Record]) -> Tuple[int, str]:
        """Returns how many records are on disk now, and why the others are not."""
        data = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)
        try:
            if self._file is None or self._file_bytes > _FILE_BYTES:
                self._next_file()
            assert self._file is not None
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            self._file = None  # Half a line may be at its end. The next record begins a new file.
            return 0, str(error)
        self._file_bytes += len(data)
        with self._changed:
            self._bytes += len(data)
        return len(records), ""

    def _next_file(self) -> None:
        if self._file is not None:
            self._file.close()
        number = max([self.state["file"], *self._files]) + 1
        self._file, self._file_bytes = open(self._path(number), "wb"), 0
        with self._changed:
            self._files.append(number)

    # The thread that delivers.

    def _read(self, files: List[int], most: int) -> List[Record]:
        number, offset = self.state["file"], self.state["offset"]
        for place, candidate in enumerate(files):
            if candidate < number:
                continue
            begin = offset if candidate == number else 0
            lines, end = self._lines(candidate, begin, most)
            if lines:
                self._ahead = (candidate, end, len(lines))
                return [record for record in map(self._parsed, lines) if record is not None]
        return []

    def _lines(self, number: int, offset: int, most: int) -> Tuple[List[bytes], int]:
        """Returns complete lines, and the position after them. A process that was killed may have left half a line."""
        with open(self._path(number), "rb") as file:
            file.seek(offset)
            lines: List[bytes] = []
            size = 0
            for line in file:
                if not line.endswith(b"\n") or len(lines) >= most or (lines and size + len(line) > _READ_BYTES):
                    break
                lines.append(line)
                size += len(line)
        return lines, offset + size

    def _parsed(self, line: bytes) -> Optional[Record]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            return record
        with self._changed:
            self._lose(1, "a line is damaged")
        return None
