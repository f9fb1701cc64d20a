# SPDX-License-Identifier: Apache-2.0
"""The core of a bridge between one run and one tracking service. It does not depend on the way in which messages
arrive: a component and a program that attaches to a run both use it."""
from __future__ import annotations

import os
import shlex
from typing import Any, Callable, Dict

from .courier import Courier
from .outbox import Outbox
from .records import Record, metrics_record, model_record, text_record
from .service import Facts, Service


def outbox_folder(output_directory: str, name: str, run: str) -> str:
    """Returns the folder of a bridge's outbox in the output directory of the run."""
    return os.path.join(os.path.abspath(output_directory), "outbox", name.replace("/", "~"), run)


def left_behind(folder: str) -> int:
    """Returns how many other runs of the same output directory have left records in their outboxes."""
    parent, own = os.path.split(folder)
    return sum(any(name.endswith(".jsonl") for name in os.listdir(entry.path))
               for entry in os.scandir(parent) if entry.is_dir() and entry.name != own)


class Bridge:
    """Accepts messages on one thread, and never waits. `settings` contains the parameters of the bridge by their names;
    they are also stored in the outbox, so that undelivered records can be delivered after the run. `facts` is a
    function that returns the facts about the run."""

    def __init__(self, folder: str, module: str, service: Service, settings: Dict[str, Any],
                 facts: Callable[[], Facts], log: Any) -> None:
        self._outbox = Outbox(folder, settings["outbox_mib"] << 20, service.uncertain)
        self._outbox.state.update(module=module, settings=settings)
        self._outbox.save()
        self._courier = Courier(self._outbox, service, facts, log, settings["interval_s"],
                                f"python3 -m {module} deliver {shlex.quote(folder)}")
        left = left_behind(folder)
        if left:
            log.warning(f"{left} earlier {'run has' if left == 1 else 'runs have'} left records that were not delivered; "
                        f"deliver them with: python3 -m {module} deliver {shlex.quote(os.path.dirname(folder))}")
        self._courier.start()

    def metrics(self, message: Dict[str, Any], every_steps: int) -> None:
        if message["stage"] != "train" or message["step"] % every_steps == 0:
            self._outbox.put(metrics_record(message))

    def prediction(self, message: Dict[str, Any]) -> None:
        if message["text"]:
            self._outbox.put(text_record(message))

    def model(self, message: Dict[str, Any]) -> None:
        if message["rank"] == 0:
            self._outbox.put(model_record(message))

    def watch(self) -> None:
        """Logs problems with the service. The caller must call this every few seconds."""
        self._courier.watch()

    def finish(self, end: Record, seconds: float) -> bool:
        """Delivers the remaining records, for at most `seconds` seconds. Returns True if everything was delivered."""
        return self._courier.finish(end, seconds)
