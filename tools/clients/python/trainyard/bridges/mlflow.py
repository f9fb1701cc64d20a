# SPDX-License-Identifier: Apache-2.0
"""Carries the metrics of a run to MLflow: python3 -m trainyard.bridges.mlflow."""
from __future__ import annotations

import importlib
import json
import logging
import os
import re
from typing import Any, Dict, Iterable, List, Tuple

from ..member.parameters import Parameter
from .component import BridgeComponent
from .records import Record
from .service import Facts, Service

_MOST_IN_BATCH = {"metrics": 1000, "params": 100}  # The limits of MLflow's REST interface.
_MOST_VALUE, _MOST_TAG = 6000, 5000  # Characters.
_STATUS = {"ended": "FINISHED", "interrupted": "KILLED", "killed": "KILLED"}  # Otherwise FAILED.
_KEY = "trainyard.key"  # The tag that identifies the run of Trainyard, so that its run at MLflow can be found again.


class Mlflow(Service):
    """A run at an MLflow tracking server or in one of MLflow's local stores."""

    title, package, extra = "MLflow", "mlflow", "mlflow-skinny"

    def __init__(self, settings: Dict[str, Any]) -> None:
        self._settings, self._run, self._experiment = settings, "", ""

    def open(self, facts: Facts, known: str) -> str:
        # The courier repeats failed calls itself, so MLflow should soon report that a server is unreachable.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")  # The bridge logs the address itself.
        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.ERROR)
        self._entities: Any = importlib.import_module("mlflow.entities")
        self._errors: Any = importlib.import_module("mlflow.exceptions")
        tracking: Any = importlib.import_module("mlflow.tracking")
        self._client = tracking.MlflowClient(tracking_uri=self._settings["tracking_uri"] or None)
        self._uri = self._settings["tracking_uri"] or tracking.get_tracking_uri()
        self._experiment = self._experiment_id(self._settings["experiment"] or facts.name)
        self._run = known or self._settings["run_id"] or self._found(facts) or self._new(facts)
        self._client.update_run(self._run, status="RUNNING")
        for name, value in self._tags(facts):
            self._client.set_tag(self._run, name, value)
        self._send_parameters(facts.hyperparameters.items())
        return self._run

    def place(self) -> str:
        if re.match("https?:", self._uri):
            return f"{self._uri.rstrip('/')}/#/experiments/{self._experiment}/runs/{self._run}"
        return f"run {self._run} in {self._uri}"

    def send(self, records: List[Record]) -> List[str]:
        refused: List[str] = []
        metrics = [metric for record in records if record["kind"] == "metrics" for metric in self._metrics(record)]
        for begin in range(0, len(metrics), _MOST_IN_BATCH["metrics"]):
            refused += self._send_metrics(metrics[begin:begin + _MOST_IN_BATCH["metrics"]])
        for record in records:
            if record["kind"] == "text":
                self._client.log_text(self._run, record["text"], f"{_name(record['title'])}/step-{record['step']}.txt")
            elif record["kind"] == "facts":
                self._send_parameters(record["values"].items())
        return refused

    def close(self, end: Record) -> None:
        self._client.set_tag(self._run, "trainyard.end", f"{end['state']}: {end['reason']}"[:_MOST_TAG])
        self._client.set_terminated(self._run, _STATUS.get(end["state"], "FAILED"), end["time_ns"] // 1_000_000)

    def _experiment_id(self, name: str) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self._client.create_experiment(name))
            except self._errors.MlflowException:
                # Another run may have created the experiment in the meantime.
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        return str(found.experiment_id)

    def _found(self, facts: Facts) -> str:
        """Returns the id of MLflow's run if an earlier process created it but was killed before it could store the id.
        Otherwise returns an empty text."""
        runs = self._client.search_runs([self._experiment], f"tags.`{_KEY}` = '{facts.key}'", max_results=1)
        return str(runs[0].info.run_id) if runs else ""

    def _new(self, facts: Facts) -> str:
        run = self._client.create_run(self._experiment, start_time=facts.started_ns // 1_000_000, run_name=facts.run,
                                      tags={_KEY: facts.key})
        return str(run.info.run_id)

    def _tags(self, facts: Facts) -> List[Tuple[str, str]]:
        tags = {f"trainyard.{name}": value for name, value in facts.details.items()}
        tags.update({tag: "true" for tag in self._settings["tags"]})
        tags.update({"mlflow.source.type": "JOB", "mlflow.source.name": facts.details.get("launch_file", facts.name)})
        if self._settings["notes"]:
            tags["mlflow.note.content"] = self._settings["notes"]
        if "git_commit" in facts.details:
            tags["mlflow.source.git.commit"] = facts.details["git_commit"]
        return [(_name(name), value[:_MOST_TAG]) for name, value in tags.items()]

    def _send_parameters(self, parameters: Iterable[Tuple[str, Any]]) -> None:
        """Sends parameters. MLflow does not allow to change a parameter, so a parameter that already has another value
        is sent as a tag."""
        made = [self._entities.Param(_name(name), _text(value)) for name, value in parameters]
        for begin in range(0, len(made), _MOST_IN_BATCH["params"]):
            batch = made[begin:begin + _MOST_IN_BATCH["params"]]
            if not self._is_refused(params=batch):
                continue
            for one in batch:
                if self._is_refused(params=[one]):
                    self._client.set_tag(self._run, f"trainyard.changed.{one.key}", one.value[:_MOST_TAG])

    def _metrics(self, record: Record) -> List[Any]:
        return [self._entities.Metric(_name(f"{record['stage']}/{name}"), value, record["time_ns"] // 1_000_000,
                                      record["step"]) for name, value in record["values"].items()]

    def _send_metrics(self, metrics: List[Any]) -> List[str]:
        if not self._is_refused(metrics=metrics):
            return []
        reasons = [self._is_refused(metrics=[metric]) for metric in metrics]
        return [reason for reason in reasons if reason]

    def _is_refused(self, **batch: List[Any]) -> str:
        """Sends a batch. Returns an empty text if MLflow has accepted it, or the reason why MLflow will never accept
        it."""
        try:
            self._client.log_batch(self._run, **batch)
        except self._errors.MlflowException as error:
            if error.error_code != "INVALID_PARAMETER_VALUE":
                raise
            return str(error)
        return ""


def _name(text: str) -> str:
    """Returns a name in which characters that MLflow does not allow are replaced, cut to the length that it allows."""
    return re.sub(r"[^\w\-. /:]", "_", text, flags=re.ASCII)[:250] or "_"


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value))[:_MOST_VALUE]


class MlflowBridge(BridgeComponent):
    """Sends the metrics of the run to MLflow."""

    component_name, module, service_class = "mlflow", "trainyard.bridges.mlflow", Mlflow

    tracking_uri = Parameter("", "the server, such as http://127.0.0.1:5000, or a store, such as sqlite:///mlflow.db; "
                                 "empty uses MLFLOW_TRACKING_URI or what MLflow uses without it")
    experiment = Parameter("", "the experiment; empty uses the name of the run")

    @classmethod
    def make_service(cls, settings: Dict[str, Any], output_directory: str) -> Service:
        return Mlflow(settings)


if __name__ == "__main__":
    from .command import main
    main(MlflowBridge)
