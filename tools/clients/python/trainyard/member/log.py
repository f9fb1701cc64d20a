# SPDX-License-Identifier: Apache-2.0
"""The log of a member: lines on stderr, in the same format as in the other processes of a run, and records on the topic
/log."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict

from ..errors import printable, sendable

_LEVELS = ("trace", "debug", "info", "warning", "error", "critical", "off")
# Longer texts are cut in records, which are kept in memory. On stderr, they are complete.
_MOST_CHARACTERS = 1 << 16


class Log:
    """Writes log records. Any thread may use it."""

    def __init__(self, component: str, level: str, publish: Callable[[Dict[str, Any]], None]) -> None:
        self._component, self._publish = component, publish
        self._level = _LEVELS.index(level) if level in _LEVELS else 2

    def debug(self, text: str) -> None:
        self._tell("debug", text)

    def info(self, text: str) -> None:
        self._tell("info", text)

    def warning(self, text: str) -> None:
        self._tell("warning", text)

    def error(self, text: str) -> None:
        self._tell("error", text)

    def _tell(self, level: str, text: str) -> None:
        now = time.time_ns()
        if _LEVELS.index(level) >= self._level:
            clock = time.strftime("%H:%M:%S", time.localtime(now // 10**9))
            line = f"{clock}.{now // 10**6 % 1000:03d} {level} [{self._component}] {printable(str(text))}\n"
            sys.stderr.write(line)
            sys.stderr.flush()
        self._publish({"time_ns": now, "level": level, "component": self._component,
                       "text": sendable(str(text)[:_MOST_CHARACTERS])})
