# SPDX-License-Identifier: Apache-2.0
"""A client for Trainyard runs: programs can receive messages of a run, and call its components. It needs only pyzmq.

    import trainyard
    run = trainyard.find_run()                                # the newest run, or find_run("mnist")
    for header, message in run.subscribe("/metrics"):         # ends when the run ends
        print(header.sequence, message["step"])
    run.call("optimizer", "param.set", {"name": "lr", "value": 0.01})

trainyard.aio has the same names for programs that use asyncio. No function waits forever: if an answer or a message
does not arrive in time, it raises Timeout. A program cannot slow a run down: if it reads too slowly, it misses
messages. docs/wire_format.md describes the protocol. """
from typing import Any

from .errors import BadMessage, Refused, RunEnded, Timeout, TrainyardError
from .header import Header, read_header
from .messages import Schema
from .record import Record
from .registry import Node, Publisher, Subscriber, Topic
from .finder import RunInfo, runs_directory
from .run import Run, find_run, runs
from .subscription import Subscription
from .tensor import DTYPES, Tensor
from .version import __version__

__all__ = ["BadMessage", "DTYPES", "Header", "Node", "Publisher", "Record", "Refused", "Run", "RunEnded", "RunInfo",
           "Schema", "Subscriber", "Subscription", "Tensor", "Timeout", "Topic", "TrainyardError",
           "__version__", "aio", "find_run", "read_header", "runs", "runs_directory"]

# The names for writing a component of a run in Python (docs/write_a_member_in_python.md).
_MEMBER = ("Component", "Input", "Output", "Parameter", "REQUIRED", "StateReader", "StateWriter", "run_member", "schema_of",
           "service")
__all__ += _MEMBER


def __getattr__(name: str) -> Any:
    """Imports trainyard.aio and trainyard.member only when they are first used, because importing them takes longer
    than importing the rest of the package."""
    import importlib
    if name in ("aio", "member"):
        return importlib.import_module(f".{name}", __name__)
    if name in _MEMBER:
        return getattr(importlib.import_module(".member", __name__), name)
    raise AttributeError(f"module 'trainyard' has no attribute {name!r}")
