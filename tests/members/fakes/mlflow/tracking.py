# SPDX-License-Identifier: Apache-2.0
"""Replaces mlflow.tracking in tests. The data of a run is read back from the recorded calls."""
import types

import fake_service

from .exceptions import MlflowException


def get_tracking_uri():
    return "http://fake/"


class MlflowClient:
    def __init__(self, *, tracking_uri):
        pass

    def get_experiment_by_name(self, name):
        fake_service.call("get_experiment_by_name", name=name)
        made = [one["name"] for one in fake_service.calls() if one["call"] == "create_experiment"]
        return types.SimpleNamespace(experiment_id=str(made.index(name))) if name in made else None

    def create_experiment(self, name):
        fake_service.call("create_experiment", name=name)
        return self.get_experiment_by_name(name).experiment_id

    def search_runs(self, experiments, filter, *, max_results):
        fake_service.call("search_runs", filter=filter)
        made = [one for one in fake_service.calls() if one["call"] == "create_run"]
        key = filter.split("'")[1]
        return [types.SimpleNamespace(info=types.SimpleNamespace(run_id=one["id"])) for one in made
                if one["tags"]["trainyard.key"] == key]

    def create_run(self, experiment, *, start_time, run_name, tags):
        number = sum(one["call"] == "create_run" for one in fake_service.calls())
        fake_service.call("create_run", id=f"run{number}", start_time=start_time, run_name=run_name, tags=tags)
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id=f"run{number}"))

    def update_run(self, run, *, status):
        fake_service.call("update_run", run=run, status=status)

    def set_tag(self, run, name, value):
        fake_service.call("set_tag", run=run, name=name, value=value)

    def log_text(self, run, text, path):
        fake_service.call("log_text", run=run, text=text, path=path)

    def log_batch(self, run, metrics=(), params=()):
        if any(param.value == "refused" for param in params) or any(metric.key == "refused" for metric in metrics):
            raise MlflowException("not this one", "INVALID_PARAMETER_VALUE")
        fake_service.call("log_batch", run=run, metrics=[list(one) for one in metrics],
                          params={param.key: param.value for param in params})

    def set_terminated(self, run, status, end_time):
        fake_service.call("set_terminated", run=run, status=status, end_time=end_time)
