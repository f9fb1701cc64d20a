# SPDX-License-Identifier: Apache-2.0
"""What a bridge needs of a tracking service, and what it tells the service about the run."""
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
    """What is known about a run when it begins."""

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
        """A name that no other run has, on any machine."""
        return f"{self.run}-{self.started_ns // 1_000_000:x}"


class Service(abc.ABC):
    """One run at a tracking service. One thread uses it. Every call may take as long as it likes and may raise anything:
    it is then repeated later."""

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
        """Begins a run at the service, or goes on with the run `known` if this is not empty. Returns its id. A call that
        was interrupted and is repeated must not make a second run."""

    @abc.abstractmethod
    def place(self) -> str:
        """Returns where users find the run, such as its address."""

    @abc.abstractmethod
    def send(self, records: List[Record]) -> List[str]:
        """Passes records on. Returns the reasons for which the service will never accept some of them."""

    @abc.abstractmethod
    def close(self, end: Record) -> None:
        """Ends the run at the service."""

    def undelivered_hint(self) -> str:
        """Returns what a user should do first if close() has not returned in time; empty if there is nothing."""
        return ""

    @classmethod
    def check_package(cls) -> None:
        """Raises TrainyardError if the package is not installed. Does not import it, which takes seconds."""
        found = importlib.util.find_spec(cls.package)
        if found is None or found.origin is None:  # A mere folder of this name in the working directory has no origin.
            raise TrainyardError(f"the package '{cls.package}' is not installed for {sys.executable}; install it with: "
                                 f"pip install {cls.extra}")
