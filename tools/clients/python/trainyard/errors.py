# SPDX-License-Identifier: Apache-2.0
"""The errors of this package. Every text says what was expected and what was received."""
from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Returns the text without characters that could control a terminal; text of a run may come from anybody."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class TrainyardError(Exception):
    """Any error of this package."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))


class Timeout(TrainyardError, TimeoutError):
    """Something did not arrive in time."""


class RunEnded(TrainyardError):
    """The run ended while an answer was awaited."""


class BadMessage(TrainyardError):
    """The bytes of a message, of a schema or of an answer are not what docs/wire_format.md allows."""


class Refused(TrainyardError):
    """The run refused a request. `code` is the fixed text of the registry, such as "not found"; it is empty if a
    component or a process refused the request."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code
