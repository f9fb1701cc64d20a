# SPDX-License-Identifier: Apache-2.0
"""Wakes a thread that is waiting for sockets."""
from __future__ import annotations

import os


class Wake:
    """A pipe with which a waiting thread can be woken. Any thread may call notify(), even during garbage collection."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)

    def notify(self) -> None:
        try:
            os.write(self._writer, b"!")
        except BlockingIOError:
            pass  # The pipe is full, so the thread will wake up.

    def clear(self) -> None:
        try:
            while len(os.read(self.reader, 4096)) == 4096:
                pass
        except BlockingIOError:
            pass
