# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package. Their texts state what was expected and what was received."""
from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Returns the text without characters that could control a terminal, because text from a run may come from
    anyone."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def sendable(text: str) -> str:
    """Returns the text with a question mark for each character that UTF-8 cannot represent. Python puts such characters
    (lone surrogates) into file names that are not UTF-8."""
    return text.encode("utf-8", "replace").decode()


class TrainyardError(Exception):
    """The base class of all exceptions of this package."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))


class Timeout(TrainyardError, TimeoutError):
    """An answer or a message did not arrive in time."""


class RunEnded(TrainyardError):
    """The run ended while the program was waiting for an answer."""


class BadMessage(TrainyardError):
    """A message, a schema or an answer does not conform to docs/wire_format.md."""


class Refused(TrainyardError):
    """The run refused a request. `code` is the registry's error code, such as "not found". It is empty if a component
    or a process refused the request."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code
