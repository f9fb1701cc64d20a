# SPDX-License-Identifier: Apache-2.0
"""Carries the metrics of a run to Weights & Biases: python3 -m trainyard.bridges.wandb."""
from __future__ import annotations

import html
import importlib
import os
import shlex
from typing import Any, Dict, List

from ..member.parameters import Parameter
from .component import BridgeComponent
from .records import Record
from .service import Facts, Service

_INIT_S = 30  # How many seconds the server may take to accept a run.
_EXIT_CODES = {"ended": 0, "interrupted": 255, "killed": 255}  # 255 is Ctrl-C for W&B. Otherwise 1.


class Wandb(Service):
    """A run at Weights & Biases. The package `wandb` first writes everything to a folder, from which a separate process
    sends it."""

    title, package, extra = "Weights & Biases", "wandb", "wandb"
    # The number of records that may be lost if the process of the package is killed. It writes to disk in blocks of 32
    # KiB, which is about a hundred records.
    uncertain = 500

    def __init__(self, settings: Dict[str, Any], output_directory: str) -> None:
        self._settings, self._folder = settings, os.path.abspath(output_directory)
        self._run: Any = None

    def open(self, facts: Facts, known: str) -> str:
        self._wandb: Any = importlib.import_module("wandb")
        chosen = self._settings
        # In offline mode, a run that is resumed gets an additional folder, and keeps its id.
        self._run = self._wandb.init(
            id=known or chosen["run_id"] or facts.key, resume="allow", name=facts.run,
            project=chosen["project"] or facts.name, entity=chosen["entity"] or None, group=chosen["group"] or None,
            notes=chosen["notes"] or None, tags=chosen["tags"] or None, dir=self._folder,
            mode="offline" if chosen["offline"] else None, config={**facts.hyperparameters, "run": facts.details},
            settings=self._wandb.Settings(console="off", silent=True, disable_git=True, save_code=False,
                                          init_timeout=_INIT_S, x_disable_stats=not chosen["system_metrics"]))
        # The step is sent as a metric, because W&B's own step cannot decrease, as it must when a run resumes from a
        # checkpoint.
        self._run.define_metric("step", hidden=True)
        self._run.define_metric("*", step_metric="step")
        return str(self._run.id)

    def place(self) -> str:
        return self._run_folder() if self._run.offline else str(self._run.url)

    def send(self, records: List[Record]) -> List[str]:
        for record in records:
            if record["kind"] == "metrics":
                named = {f"{record['stage']}/{name}": value for name, value in record["values"].items()}
                self._log(record, {**named, "epoch": record["epoch"], "samples": record["samples"]})
            elif record["kind"] == "text":
                self._log(record, {record["title"]: self._wandb.Html(f"<pre>{html.escape(record['text'])}</pre>")})
            elif record["kind"] == "facts":
                self._run.config.update(record["values"], allow_val_change=True)
        return []

    def close(self, end: Record) -> None:
        self._run.summary.update({"end": end["state"], "reason": end["reason"]})
        self._run.finish(exit_code=_EXIT_CODES.get(end["state"], 1))

    def undelivered_hint(self) -> str:
        return f"First send what W&B has taken over: wandb sync {shlex.quote(self._run_folder())}."

    def _log(self, record: Record, values: Dict[str, Any]) -> None:
        self._run.log({**values, "step": record["step"], "_timestamp": record["time_ns"] / 1e9})

    def _run_folder(self) -> str:
        return os.path.dirname(str(self._run.dir))


class WandbBridge(BridgeComponent):
    """Sends the metrics of the run to Weights & Biases."""

    component_name, module, service_class = "wandb", "trainyard.bridges.wandb", Wandb

    project = Parameter("", "the project; empty uses the name of the run")
    entity = Parameter("", "the user or team; empty uses your default")
    group = Parameter("", "the group of runs")
    offline = Parameter(False, "only write files, which `wandb sync` sends later")
    system_metrics = Parameter(False, "let W&B measure the load of the machine, too")

    @classmethod
    def make_service(cls, settings: Dict[str, Any], output_directory: str) -> Service:
        return Wandb(settings, output_directory)


if __name__ == "__main__":
    from .command import main
    main(WandbBridge)
