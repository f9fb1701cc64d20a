# SPDX-License-Identifier: Apache-2.0
"""The bridges with the real packages of Weights & Biases and MLflow, which tools/stages/clients.sh installs:

TRAINYARD_TRACKERS_PYTHON  an interpreter with the newest wandb and mlflow-skinny, and the package trainyard
TRAINYARD_WANDB_READER     an interpreter with a wandb that can read its own files in Python (0.23)
"""
import collections
import json
import os
import signal
import socket
import sys
import unittest

if "TRAINYARD_TRACKERS_PYTHON" not in os.environ:
    print("skipped: TRAINYARD_TRACKERS_PYTHON is not set")
    sys.exit(77)

from bridges_test import ENDLESS, FINISH, BridgesTest
from wandb_server import WandbServer

TRACKERS, READER = os.environ["TRAINYARD_TRACKERS_PYTHON"], os.environ["TRAINYARD_WANDB_READER"]
PATIENT = (f"{FINISH}=50",)

READ_WANDB = """
import json, sys
from wandb.proto import wandb_internal_pb2
from wandb.sdk.internal.datastore import DataStore
for path in sys.argv[1:]:
    file = DataStore()
    file.open_for_scan(path)
    while (data := file.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "history":
            found = {"/".join(one.nested_key) or one.key: json.loads(one.value_json) for one in record.history.item}
        elif kind == "run":
            found = {"id": record.run.run_id, "project": record.run.project, "name": record.run.display_name,
                     "notes": record.run.notes, "tags": list(record.run.tags),
                     "config": {one.key: json.loads(one.value_json) for one in record.run.config.update}}
        elif kind == "exit":
            found = record.exit.exit_code
        else:
            continue
        print(json.dumps([kind, found]))
"""
READ_MLFLOW = """
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri=sys.argv[1])
experiment = client.get_experiment_by_name("small")
for run in client.search_runs([experiment.experiment_id]):
    metrics = {key: [[one.step, one.value] for one in client.get_metric_history(run.info.run_id, key)]
               for key in run.data.metrics}
    print(json.dumps({"name": run.info.run_name, "status": run.info.status, "params": run.data.params,
                      "tags": run.data.tags, "metrics": metrics}))
"""


class TrackersTest(BridgesTest):
    python = TRACKERS

    def setUp(self):
        super().setUp()
        for name in ("PYTHONPATH", "FAKE_SERVICE"):
            del self.environment[name]
        self.environment.update(WANDB_API_KEY="0" * 40, WANDB_BASE_URL="http://127.0.0.1:9",
                                MLFLOW_TRACKING_URI=f"sqlite:///{self.folder}/mlflow.db")

    def path(self, service):
        path = super().path(service)
        text = (self.folder / f"{service}.toml").read_text(encoding="utf-8")
        (self.folder / f"{service}.toml").write_text(text.replace('"/usr/bin/python3"', f'"{TRACKERS}"'), encoding="utf-8")
        return path

    def read(self, python, program, *words):
        done = self.completed(python, "-c", program, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def read_wandb(self):
        """Returns what all files of W&B contain, by the kind of the record, the oldest first."""
        found = collections.defaultdict(list)
        for kind, record in self.read(READER, READ_WANDB, *sorted(self.folder.rglob("*.wandb"))):
            found[kind].append(record)
        return found

    def assert_same(self, arrived, logged):
        """The standard logger writes fewer digits into its tables."""
        self.assertEqual([(step, f"{loss:.6g}") for step, loss in arrived],
                         [(step, f"{loss:.6g}") for step, loss in logged])

    def losses(self, history, stage="train"):
        return [(one["step"], one[f"{stage}/loss"]) for one in history if f"{stage}/loss" in one]


class WandbTest(TrackersTest):
    def test_files_of_the_offline_mode_contain_the_run(self):
        self.finish(self.path("wandb"), "component.tracker.params.offline=true", *PATIENT)
        found = self.read_wandb()
        for stage in ("train", "validate"):
            self.assert_same(self.losses(found["history"], stage), self.rows(stage))
        run = found["run"][0]
        self.assertEqual((run["project"], run["notes"], run["tags"]), ("small", "to see", ["first", "small"]))
        self.assertEqual(run["config"]["optimizer.lr"], 0.002)
        self.assertEqual(found["exit"], [0])
        times = [one["_timestamp"] for one in found["history"]]
        self.assertEqual(times, sorted(times))

    def test_a_server_is_told_everything(self):
        with WandbServer() as server:
            self.environment["WANDB_BASE_URL"] = server.url
            text = self.finish(self.path("wandb"), *PATIENT)
        self.assertIn(f"the metrics go to {server.url}/me/small/runs/small-", text)
        for stage in ("train", "validate"):
            self.assert_same(self.losses(server.history, stage), self.rows(stage))
        bucket, = server.buckets.values()
        self.assertEqual((bucket["project"], bucket["notes"]), ("small", "to see"))
        self.assertEqual(json.loads(bucket["config"])["optimizer.lr"]["value"], 0.002)
        self.assertEqual(server.exit_codes, [0])

    def test_a_server_that_goes_away_holds_nothing_up(self):
        """W&B keeps what it has taken over, and says where."""
        with WandbServer() as server:
            self.environment["WANDB_BASE_URL"] = server.url
            launch = self.launch(self.path("wandb"), *ENDLESS, f"{FINISH}=2",
                                 "component.accelerator_host.params.log_every_steps=100")
            self.wait_for(lambda: len(server.history) > 5, "metrics arrive")
        rows = len(self.rows())
        self.wait_for(lambda: len(self.rows()) > rows + 20, "training goes on")
        text = self.interrupt(launch)
        self.assertRegex(text, r"did not get to Weights & Biases \(it did not answer within 2 s\)\. .* First send what W&B "
                               r"has taken over: wandb sync \S+/wandb/run-\S+small-\S+\. Deliver them later with: ")
        self.command("wandb", "deliver", "out", "--offline")
        # What W&B has not written to disk is sent once more, with a part of what it has.
        self.assert_same(sorted(set(self.losses(self.read_wandb()["history"]))), self.rows())

    def test_a_server_that_never_answers_holds_nothing_up_and_the_rest_is_delivered(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.environment["WANDB_BASE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
            text = self.finish(self.path("wandb"), f"{FINISH}=1")
        self.assertIn("records, after 0 others, did not get to Weights & Biases", text)
        self.assertEqual(len(self.rows()), 60)
        self.command("wandb", "deliver", "out", "--offline")
        self.assert_same(self.losses(self.read_wandb()["history"]), self.rows())

    def test_a_killed_bridge_goes_on_in_the_same_run(self):
        launch = self.launch(self.path("wandb"), *ENDLESS, "component.tracker.params.offline=true", *PATIENT,
                             "component.accelerator_host.params.log_every_steps=100")
        files = self.folder / "out" / "wandb"
        self.wait_for(lambda: any(path.stat().st_size > 40_000 for path in files.glob("offline-run-*/*.wandb")),
                      "the first file")
        os.kill(self.wait_active("tracker")["pid"], signal.SIGKILL)
        self.wait_for(lambda: len(list(files.glob("offline-run-*/*.wandb"))) == 2, "the second file")
        text = self.interrupt(launch)
        self.assertRegex(text, r"records were delivered to Weights & Biases")
        found = self.read_wandb()
        self.assertEqual(len({one["id"] for one in found["run"]}), 1)
        self.assertEqual(found["exit"], [255])
        self.assertEqual(self.losses(found["history"])[-1][0], self.rows()[-1][0])


class MlflowTest(TrackersTest):
    def test_a_store_contains_the_run(self):
        self.finish(self.path("mlflow"), *PATIENT)
        run, = self.read(TRACKERS, READ_MLFLOW, self.environment["MLFLOW_TRACKING_URI"])
        for stage in ("train", "validate"):
            self.assert_same([tuple(one) for one in run["metrics"][f"{stage}/loss"]], self.rows(stage))
        self.assertEqual((run["params"]["optimizer.lr"], run["params"]["model.parameters"]), ("0.002", "698"))
        self.assertEqual((run["status"], run["tags"]["mlflow.note.content"]), ("FINISHED", "to see"))

    def test_a_server_that_is_absent_costs_a_warning_and_the_rest_is_delivered(self):
        store, self.environment["MLFLOW_TRACKING_URI"] = self.environment["MLFLOW_TRACKING_URI"], "http://127.0.0.1:9"
        text = self.finish(self.path("mlflow"), f"{FINISH}=1")
        self.assertIn("did not get to MLflow", text)
        self.command("mlflow", "deliver", "out", "--tracking-uri", store)
        run, = self.read(TRACKERS, READ_MLFLOW, store)
        self.assert_same([tuple(one) for one in run["metrics"]["train/loss"]], self.rows())

    def test_generated_text_becomes_an_artifact(self):
        # Without a run: an outbox that somebody has left.
        folder = self.folder / "out" / "outbox" / "mlflow" / "small-1"
        folder.mkdir(parents=True)
        facts = {"run": "small-1", "name": "small", "started_ns": 10**18, "output_directory": str(self.folder / "out"),
                 "hyperparameters": {"long": "x" * 7000, "list": [1, 2]}, "details": {}}
        (folder / "outbox.json").write_text(json.dumps({"module": "trainyard.bridges.mlflow", "facts": facts}))
        records = [{"kind": "metrics", "stage": "tr$in", "step": 1, "epoch": 0, "samples": 1, "time_ns": 10**18,
                    "values": {"loss": float("nan"), "more": float("inf")}},
                   {"kind": "text", "step": 7, "time_ns": 10**18, "title": "generated text", "text": "to be"},
                   {"kind": "end", "state": "failed", "reason": "it did", "time_ns": 2 * 10**18}]
        (folder / "1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        self.command("mlflow", "deliver", str(folder))
        run, = self.read(TRACKERS, READ_MLFLOW, self.environment["MLFLOW_TRACKING_URI"])
        self.assertEqual((run["status"], run["tags"]["trainyard.end"]), ("FAILED", "failed: it did"))
        self.assertIn("tr_in/loss", run["metrics"])
        self.assertEqual((len(run["params"]["long"]), run["params"]["list"]), (6000, "[1, 2]"))
        self.assertEqual(next(self.folder.rglob("step-7.txt")).read_text(), "to be")


# The cases with stand-ins are run by bridges_test.py.
del BridgesTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
