# SPDX-License-Identifier: Apache-2.0
"""A queue on disk between a run and a tracking service. Its records are not lost if the process or the service dies."""
from __future__ import annotations

import collections
import contextlib
import fcntl
import json
import os
import threading
import time
from typing import Any, Deque, Dict, List, Optional, Tuple

from ..errors import TrainyardError
from .files import LineFiles, Position
from .records import Record

_MOST_WAITING = 10_000  # The largest number of records in memory while the disk is busy.
_COUNT_AT_ONCE = 10_000


class Outbox:
    """A folder with files of records, and the file `outbox.json`, which contains the position up to which records have
    been delivered. Files whose records have all been delivered are removed.

    put() never waits, because a separate thread writes the records. If the disk is slow or full, or if more than
    `most_bytes` bytes are undelivered, records are dropped and counted. One other thread may call take() and confirm().
    If this process dies, the next process delivers the last `keep` confirmed records again, because the service may not
    have stored them yet.

    Raises TrainyardError if another process uses the folder, and OSError if the folder cannot be made."""

    def __init__(self, folder: str, most_bytes: int, keep: int = 0) -> None:
        self.folder, self._most_bytes, self._keep = folder, most_bytes, keep
        os.makedirs(folder, exist_ok=True)
        self._lock_file = open(os.path.join(folder, "lock"), "wb")
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock_file.close()
            raise TrainyardError(f"{folder} is in use; its records are being delivered") from None
        #: What must be remembered: the position, the counts, and whatever the courier adds. Saved by confirm().
        self.state: Dict[str, Any] = {"file": 0, "offset": 0, "delivered": 0, "lost": 0, **self._read_state()}
        self._files = LineFiles(folder)
        self._changed = threading.Condition()
        self._waiting: Deque[Record] = collections.deque()
        #: Why records were lost; empty if none were.
        self.trouble = ""
        #: The number of records on disk that are not delivered. `has_end` is True if the last one is the end of the run.
        self.pending, self.has_end = self._count()
        # The position after the records that take() has returned, and their number.
        self._taken: Optional[Tuple[Position, int]] = None
        # The same for records that were confirmed but are kept.
        self._kept: Deque[Tuple[Position, int]] = collections.deque()
        self._next = self._position()
        self._closing = False
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
        """Writes the records that are still in memory, and waits up to `seconds` until they are on disk. put() must not
        be called afterwards."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._writer.join(seconds)

    def undelivered(self) -> int:
        """Returns the number of records that have been put but not confirmed."""
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
        lines, after = self._files.read(self._next, most)
        self._taken = (after, len(lines))
        return [record for record in map(self._parsed, lines) if record is not None]

    def delivered(self) -> int:
        """Returns the number of records that have been confirmed."""
        return int(self.state["delivered"]) + sum(count for _, count in self._kept)

    def confirm(self, keep: bool = True) -> None:
        """Marks the records that the last take() returned as delivered. With `keep` = False, the next process does not
        deliver any confirmed records again."""
        if self._taken is None:
            return
        self._kept.append(self._taken)
        (self._next, count), self._taken = self._taken, None
        with self._changed:
            self.pending -= count
            self._changed.notify_all()
        kept = sum(count for _, count in self._kept)
        while self._kept and (not keep or kept - self._kept[0][1] >= self._keep):
            (self.state["file"], self.state["offset"]), count = self._kept.popleft()
            self.state["delivered"], kept = self.state["delivered"] + count, kept - count
        # If the disk is full and the state cannot be saved, a later process delivers some records again.
        with contextlib.suppress(OSError):
            self.save()
            self._files.remove_before(self._position())

    def save(self) -> None:
        """Writes the state to disk."""
        path = os.path.join(self.folder, "outbox.json")
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(f"{path}.new", path)

    def clear(self) -> None:
        """Removes the files with records. Called when everything has been delivered and no more records will be put."""
        self._writer.join()
        self._files.remove_all()

    def _position(self) -> Position:
        return Position(self.state["file"], self.state["offset"])

    def _read_state(self) -> Dict[str, Any]:
        try:
            with open(os.path.join(self.folder, "outbox.json"), encoding="utf-8") as file:
                state = json.load(file)
            return state if isinstance(state, dict) else {}
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise TrainyardError(f"{self.folder}/outbox.json: {error}") from None

    def _count(self) -> Tuple[int, bool]:
        """Returns how many records an earlier process has left, and whether the last one is the end of the run."""
        count, last, position = 0, b"", self._position()
        while True:
            lines, position = self._files.read(position, _COUNT_AT_ONCE)
            if not lines:
                break
            count, last = count + len(lines), lines[-1]
        return count, bool(last) and (self._parsed(last) or {}).get("kind") == "end"

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

    def _lose(self, count: int, why: str) -> None:
        self.state["lost"] += count
        self.trouble = why

    def _write_all(self) -> None:
        """Writes records until the outbox is closed. This is the main function of the writing thread."""
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return self._files.close()
                # The records stay in the queue while they are written, so that finished() and take() know about them.
                records = list(self._waiting)
            trouble = self._write(records)
            with self._changed:
                # While the lock was released, put() may have dropped the oldest records from the queue, although they
                # are now on disk.
                written = {id(record) for record in records}
                while self._waiting and id(self._waiting[0]) in written:
                    self._waiting.popleft()
                if trouble:
                    self._lose(len(records), trouble)
                else:
                    self.pending += len(records)
                self._changed.notify_all()

    def _write(self, records: List[Record]) -> str:
        """Writes records to the disk. Returns an empty text, or the reason if they could not be written."""
        if self._files.bytes >= self._most_bytes and records[-1]["kind"] != "end":
            return f"{self._most_bytes >> 20} MiB are undelivered"
        lines = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)
        try:
            self._files.append(lines, self._next.file)
        except OSError as error:
            return str(error)
        return ""
