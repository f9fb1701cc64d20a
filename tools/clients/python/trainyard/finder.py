# SPDX-License-Identifier: Apache-2.0
"""Finds the runs of this user (docs/wire_format.md, section 1)."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import List, Optional

from .errors import TrainyardError

_INFO_BYTES = 65536  # The largest run.json that is read; normally it has a few hundred bytes.
# The endpoint of all publishers behind a front door: the client must subscribe at the front door itself.
SAME_DOOR = "door"


def is_door(address: str) -> bool:
    """Returns True for the address of a front door with a key, such as "laptop@tcp://node7:7401"."""
    return "@tcp://" in address


def names_door(name: str) -> bool:
    """Returns True if `name` is the address of a front door, with or without the name of a key."""
    return "tcp://" in name


def runs_directory() -> str:
    """Returns the directory that contains the run directories of this user."""
    parent = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(parent if os.path.isdir(parent) else "/tmp", f"trainyard-{os.getuid()}")


def start_ticks(pid: int) -> int:
    """Returns when a process started, in clock ticks since boot, or 0 if it does not exist. With this number, another
    process that has got the same pid can be recognised."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except OSError:
        return 0


@dataclass(frozen=True)
class RunInfo:
    """The content of a run.json, with which a launcher announces its run."""

    run: str  # The full name, such as "mnist-9ix".
    name: str  # The name without the suffix.
    file: str  # The launch file.
    directory: str
    pid: int  # The pid of the launcher.
    start_ticks: int
    registry: str  # The address of the registry.

    def alive(self) -> bool:
        """Returns True as long as the launcher of this run is alive and has not removed its run.json. For a run on
        another host, always returns True."""
        if not self.directory:
            # The run is on another host. Its end is noticed from its messages, or from the loss of the connection.
            return True
        return os.path.exists(f"{self.directory}/run.json") and start_ticks(self.pid) == self.start_ticks != 0


def read_run(directory: str) -> Optional[RunInfo]:
    """Returns the run whose run directory is `directory`, or None if there is none or its launcher is dead."""
    try:
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            told = json.loads(file.read(_INFO_BYTES))
        run = RunInfo(str(told["run"]), str(told["name"]), str(told["file"]), directory, int(told["pid"]),
                      int(told["start_ticks"]), check_address(told["registry"]))
        return run if run.alive() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, TrainyardError):
        return None


def check_address(address: object) -> str:
    """Returns `address` if it is on this machine. Otherwise raises TrainyardError."""
    if isinstance(address, str) and address.startswith(("ipc://", "tcp://127.0.0.1:", "tcp://localhost:", "tcp://[::1]:")):
        return address
    raise TrainyardError(f"address {address!r:.200} is refused; allowed are ipc and tcp on 127.0.0.1")


def list_runs() -> List[RunInfo]:
    """Returns the active runs of this user on this host, newest first. Raises TrainyardError if another user could have
    created entries in the directory."""
    base = runs_directory()
    if not os.path.isdir(base):
        return []
    status = os.lstat(base)
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise TrainyardError(f"{base} belongs to somebody else or others may write to it; its runs are not trusted")
    found = [read_run(entry.path) for entry in os.scandir(base) if entry.is_dir(follow_symlinks=False)]
    return sorted((run for run in found if run), key=lambda run: -run.start_ticks)


def pick_run(name: Optional[str]) -> RunInfo:
    """Returns the newest active run, or the newest active run with this name or full name. Raises TrainyardError if
    there is none."""
    known = list_runs()
    found = [run for run in known if name in (None, run.name, run.run)]
    if not found:
        names = ", ".join(run.run for run in known) or "none"
        raise TrainyardError(f"no run{f' named {name!r}' if name else ''} in {runs_directory()}; running: {names}")
    return found[0]


def own_directory(name: Optional[str]) -> Optional[str]:
    """Returns the run directory of the run that has started this program, if there is one and `name` does not select
    another run."""
    return os.environ.get("TRAINYARD_RUN_DIRECTORY") if name is None else None
