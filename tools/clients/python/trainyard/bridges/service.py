# SPDX-License-Identifier: Apache-2.0
"""The interface of a tracking service for bridges, and the facts about a run that a service receives."""
from __future__ import annotations

import abc
import dataclasses
import importlib.util
import sys
from typing import Any, Dict, List

from ..errors import TrainyardError
from .records import Record


@dataclasses.dataclass
class Facts:
    """The facts about a run that are known when it begins."""

    run: str  #: The full name, such as "mnist-9ix".
    name: str  #: The name without the suffix.
    started_ns: int
    output_directory: str
    #: All parameters of all components, by names such as "optimizer.lr", and "seed" and "ranks".
    hyperparameters: Dict[str, Any]
    #: Where the run comes from, such as "launch_file" and "git_commit".
    details: Dict[str, str]

    @property
    def key(self) -> str:
        """Returns a name that no other run on any machine has."""
        return f"{self.run}-{self.started_ns // 1_000_000:x}"


class Service(abc.ABC):
    """The base class for one run at a tracking service. Only the thread of the courier uses it. A call may take any
    time. If it raises an exception, the courier repeats the call later."""

    #: The name for users.
    title: str
    #: The package that must be installed.
    package: str
    #: How many of the records that it has accepted last the service may lose if its process is killed.
    uncertain = 0
    #: The name of the extra of the package `trainyard` that installs it.
    extra: str

    @abc.abstractmethod
    def open(self, facts: Facts, known: str) -> str:
        """Begins a run at the service, or continues the run with the id `known` if it is not empty. Returns the id. If
        a call is interrupted and repeated, it must not create a second run."""

    @abc.abstractmethod
    def place(self) -> str:
        """Returns where users can find the run, such as a web address."""

    @abc.abstractmethod
    def send(self, records: List[Record]) -> List[str]:
        """Sends records to the service. If the service will never accept some of them, returns the reasons; these
        records are dropped."""

    @abc.abstractmethod
    def close(self, end: Record) -> None:
        """Ends the run at the service."""

    def undelivered_hint(self) -> str:
        """Returns what a user must do if close() has not returned in time, or an empty text."""
        return ""

    @classmethod
    def check_package(cls) -> None:
        """Raises TrainyardError if the package is not installed. Does not import it, which takes seconds."""
        found = importlib.util.find_spec(cls.package)
        # If the working directory contains a folder with this name, it is found as a package without an origin.
        if found is None or found.origin is None:
            raise TrainyardError(f"the package '{cls.package}' is not installed for {sys.executable}; install it with: "
                                 f"pip install {cls.extra}")
