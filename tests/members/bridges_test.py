# SPDX-License-Identifier: Apache-2.0
"""Tests the bridges to Weights & Biases and MLflow in real launches, with replacements for the packages of the two
services."""
import csv
import json
import os
import re
import signal
import sys
import unittest

try:
    import zmq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from harness import CLIENT, PYTHON, SOURCES, MembersTest

FAKES = SOURCES / "tests" / "members" / "fakes"
sys.path.append(str(FAKES))
from fake_service import read_calls

TRAINING = """
include = ["standard.toml"]
[run]
name = "small"
directory = "out"
max_steps = 60
validate_every_steps = 30
[component.data_loader.params]
dataset = { plugin = "synthetic", features = 32, classes = 10, samples = 10_000 }
batch_size = 16
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = "1" }
model = { plugin = "mlp", hidden = [16] }
log_every_steps = 1
[component.logger.params]
console = "off"
[component.optimizer.params]
lr = 0.002
"""
BRIDGE = """
[component.tracker]
command = ["PYTHON", "-m", "trainyard.bridges.SERVICE"]
declaration = "describe"
respawn = { policy = "on_failure", delay_ms = 10 }
[component.tracker.params]
interval_s = 0.05
notes = "to see"
tags = ["first", "small"]
"""
WRITER = """
include = ["standard.toml"]
[run]
max_steps = 2
predict_at_end = true
validate_every_epochs = 0
[component.data_loader.params]
dataset = { plugin = "text", path = "book.txt", context = 16 }
batch_size = 4
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = "1" }
model = { plugin = "gpt", layers = 1, heads = 1, width = 16 }
"""
FINISH = "component.tracker.params.finish_s"
ENDLESS = ("max_steps=1000000000", "validate_every_steps=0")


class BridgesTest(MembersTest):
    python = PYTHON

    def setUp(self):
        super().setUp()
        self.service = self.folder / "service"
        self.service.mkdir()
        self.environment.update(PYTHONPATH=f"{CLIENT}:{FAKES}", FAKE_SERVICE=str(self.service))

    def path(self, service):
        return self.file(TRAINING + BRIDGE.replace("SERVICE", service), f"{service}.toml")

    def calls(self, *names):
        return [one for one in read_calls(self.service) if one["call"] in names]

    def rows(self, stage="train", folder="out"):
        """What the standard logger wrote: the step and the loss. The last line may not be complete yet."""
        try:
            text = (self.folder / folder / f"metrics_{stage}.csv").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        lines = text[:text.rfind("\n") + 1].splitlines()
        return [(int(row["step"]), float(row["loss"])) for row in csv.DictReader(lines)]

    def arrived(self, service, stage="train"):
        """What the service was told: the step and the loss."""
        if service == "wandb":
            told = [one["data"] for one in self.calls("log")]
            return [(one["step"], one[f"{stage}/loss"]) for one in told if f"{stage}/loss" in one]
        told = [metric for one in self.calls("log_batch") for metric in one["metrics"]]
        return [(step, value) for key, value, _, step in told if key == f"{stage}/loss"]

    def command(self, service, *words, code=0):
        done = self.completed(self.python, "-m", f"trainyard.bridges.{service}", *words)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, text)
        self.assertNotIn("Traceback", text)
        return text

    def interrupt(self, launch):
        text = launch.end(signal.SIGINT)
        self.assertEqual(launch.returncode, 130, text)
        self.assertNotIn("Traceback", text)
        return text


class DeliveryTest(BridgesTest):
    def test_everything_arrives_and_training_is_the_same(self):
        self.finish(self.file(TRAINING), "run.directory=alone")
        for service in ("wandb", "mlflow"):
            with self.subTest(service):
                (self.service / "calls.jsonl").unlink(missing_ok=True)
                text = self.finish(self.path(service), f"run.directory={service}", f"{FINISH}=60")
                for stage in ("train", "validate"):
                    logged = self.rows(stage, service)
                    self.assertEqual(logged, self.rows(stage, "alone"))
                    self.assertEqual([(step, f"{loss:.9g}") for step, loss in self.arrived(service, stage)],
                                     [(step, f"{loss:.9g}") for step, loss in logged])
                self.assertRegex(text, r"info \[tracker\] \d+ records were delivered to ")
                self.assertEqual(list((self.folder / service / "outbox").rglob("*.jsonl")), [])

    def test_wandb_is_told_what_the_run_is(self):
        self.finish(self.path("wandb"), "component.tracker.params.project=digits", f"{FINISH}=60")
        begin, = self.calls("init")
        self.assertEqual((begin["project"], begin["notes"], begin["tags"], begin["mode"], begin["resume"]),
                         ("digits", "to see", ["first", "small"], None, "allow"))
        self.assertRegex(begin["name"], "^small-")
        self.assertEqual(begin["config"]["optimizer.lr"], 0.002)
        self.assertEqual(begin["config"]["accelerator_host.model.hidden"], [16])
        self.assertEqual(begin["config"]["strategy_manager.max_steps"], 60)
        self.assertEqual(begin["config"]["optimizer.betas"], [0.9, 0.999], "a default")
        self.assertNotIn("tracker.project", begin["config"])
        self.assertGreater(self.calls("config")[0]["values"]["model.parameters"], 100)
        self.assertEqual(self.calls("finish"), [{"call": "finish", "exit_code": 0}])
        self.assertEqual(self.calls("summary")[0]["values"]["reason"], "max_steps = 60 reached")
        steps = self.calls("define_metric")
        self.assertEqual(steps[-1], {"call": "define_metric", "name": "*", "step_metric": "step"})

    def test_mlflow_is_told_what_the_run_is(self):
        self.finish(self.path("mlflow"), f"{FINISH}=60")
        self.assertEqual([one["name"] for one in self.calls("create_experiment")], ["small"])
        begin, = self.calls("create_run")
        self.assertRegex(begin["run_name"], "^small-")
        parameters = {name: value for one in self.calls("log_batch") for name, value in one["params"].items()}
        self.assertEqual((parameters["optimizer.lr"], parameters["accelerator_host.model.hidden"]), ("0.002", "[16]"))
        tags = {one["name"]: one["value"] for one in self.calls("set_tag")}
        self.assertEqual((tags["mlflow.note.content"], tags["first"]), ("to see", "true"))
        self.assertEqual(tags["trainyard.end"], "ended: max_steps = 60 reached")
        self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["FINISHED"])

    def test_generated_text_arrives(self):
        (self.folder / "book.txt").write_text("to be or not to be <that> is the question. " * 200)
        text = self.file(WRITER + BRIDGE.replace("SERVICE", "wandb"))
        self.finish(text, f"{FINISH}=60")
        texts = [one["data"] for one in self.calls("log") if "generated text" in one["data"]]
        self.assertEqual(len(texts), 1)
        self.assertTrue(texts[0]["generated text"].startswith("<pre>"))
        self.assertNotIn("<that>", texts[0]["generated text"])

    def test_the_end_of_the_run_is_told(self):
        launch = self.launch(self.path("mlflow"), *ENDLESS)
        self.wait_for(lambda: self.calls("log_batch"), "metrics arrive")
        self.interrupt(launch)
        self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["KILLED"])
        (self.service / "calls.jsonl").unlink()
        launch = self.launch(self.path("mlflow"), *ENDLESS, "placement=processes")
        self.wait_for(lambda: self.calls("log_batch"), "metrics arrive")
        os.kill(self.wait_active("optimizer")["pid"], signal.SIGKILL)
        text = launch.end()
        self.assertEqual(launch.returncode, 1, text)
        self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["FAILED"])

    def test_a_killed_bridge_comes_back_and_training_does_not_notice(self):
        self.finish(self.file(TRAINING), "run.directory=alone", "max_steps=2000", "validate_every_steps=0")
        for service, begin in (("wandb", "init"), ("mlflow", "update_run")):
            with self.subTest(service):
                (self.service / "calls.jsonl").unlink(missing_ok=True)
                launch = self.launch(self.path(service), *ENDLESS, f"run.directory={service}")
                self.wait_for(lambda: len(self.arrived(service)) > 10, "metrics arrive")
                os.kill(self.wait_active("tracker")["pid"], signal.SIGKILL)
                self.wait_for(lambda: len(self.calls(begin)) == 2, "the bridge goes on")
                newest = max(self.arrived(service))
                self.wait_for(lambda: max(self.arrived(service)) > newest, "new metrics arrive")
                self.interrupt(launch)
                ids = {one.get("id") or one.get("run") for one in self.calls(begin)}
                self.assertEqual(len(ids), 1, "it goes on in the same run of the service")
                self.assertLessEqual(len(self.calls("create_run")), 1)
                logged, alone = self.rows("train", service), self.rows("train", "alone")
                common = min(len(logged), len(alone))
                self.assertEqual(logged[:common], alone[:common])
                self.assertEqual([step for step, _ in logged], list(range(1, len(logged) + 1)))
                self.assertLessEqual({step for step, _ in self.arrived(service)}, {step for step, _ in logged})


class OutageTest(BridgesTest):
    def test_a_service_that_hangs_holds_nothing_up(self):
        """The run ends in order, and what was not delivered is delivered later."""
        for service in ("wandb", "mlflow"):
            with self.subTest(service):
                (self.service / "calls.jsonl").unlink(missing_ok=True)
                (self.service / "hang").touch()
                text = self.finish(self.path(service), f"run.directory={service}", f"{FINISH}=0.2")
                self.assertRegex(text, r"warning \[tracker\] 6\d records, after 0 others, did not get to .* "
                                       r"\(it did not answer within 0\.2 s\)\. They are kept in ")
                self.assertEqual(len(self.rows("train", service)), 60)
                self.assertEqual(self.calls("init", "log", "log_batch"), [])
                (self.service / "hang").unlink()
                self.assertRegex(self.command(service, "deliver", service), r"info \[\w+\] 6\d records were delivered to ")
                self.assertEqual([step for step, _ in self.arrived(service)], list(range(1, 61)))
                if service == "mlflow":
                    self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["FINISHED"])
                self.assertIn("everything has been delivered", self.command(service, "deliver", service))

    def test_training_goes_on_while_a_service_hangs_in_the_middle(self):
        launch = self.launch(self.path("wandb"), *ENDLESS, f"{FINISH}=0.2")
        self.wait_for(lambda: self.arrived("wandb"), "metrics arrive")
        (self.service / "hang").touch()
        step = len(self.rows())
        self.wait_for(lambda: len(self.rows()) > step + 3000, "training goes on")
        (self.service / "hang").unlink()
        self.wait_for(lambda: len(self.arrived("wandb")) > step + 3000, "the records that waited arrive")
        self.interrupt(launch)

    def test_a_service_that_is_down_is_tried_again(self):
        (self.service / "down").touch()
        launch = self.launch(self.path("mlflow"), *ENDLESS)
        outboxes = self.folder / "out" / "outbox" / "tracker"
        self.wait_for(lambda: any(path.stat().st_size for path in outboxes.rglob("*.jsonl")), "records are kept")
        self.wait_for(lambda: (self.service / "refused").exists(), "it was tried")
        self.assertEqual(self.calls("create_run"), [])
        (self.service / "down").unlink()
        self.wait_for(lambda: self.arrived("mlflow"), "the records arrive")
        text = self.interrupt(launch)
        self.assertEqual(text.count("warning [tracker]"), 1, text)
        self.assertIn("MLflow takes no records (ConnectionError: nobody listens); training goes on, the records are "
                      "kept in ", text)
        self.assertRegex(text, r"MLflow takes records again after \d+ s")
        steps = [step for step, _ in self.arrived("mlflow")]
        self.assertEqual(steps[:10], list(range(1, 11)))

    def test_an_absent_service_costs_one_warning(self):
        (self.service / "down").touch()
        text = self.finish(self.path("wandb"))
        self.assertRegex(text, r"6\d records, after 0 others, did not get to Weights & Biases \(ConnectionError: nobody "
                               r"listens\)\. They are kept in (\S+)\. Deliver them later with: python3 -m "
                               r"trainyard\.bridges\.wandb deliver \1\n")
        self.assertIn("did not get to", self.command("wandb", "deliver", "out", code=1))
        (self.service / "down").unlink()
        text = self.finish(self.path("wandb"), f"{FINISH}=60")
        command = re.search(r"1 earlier run has left records that were not delivered; deliver them with: "
                            r"python3 -m trainyard\.bridges\.wandb (.*)\n", text)[1]
        self.command("wandb", *command.split())
        self.assertEqual(len({one["id"] for one in self.calls("init")}), 2)
        self.assertEqual([step for step, _ in self.arrived("wandb")], 2 * list(range(1, 61)))

    def test_what_a_killed_run_has_left_is_delivered(self):
        (self.service / "hang").touch()
        launch = self.launch(self.path("mlflow"), *ENDLESS)
        self.wait_for(lambda: len(self.rows()) > 20, "training goes on")
        outboxes = self.folder / "out" / "outbox" / "tracker"
        self.wait_for(lambda: any(path.stat().st_size > 2000 for path in outboxes.rglob("*.jsonl")), "records are kept")
        folder = next(path.parent for path in outboxes.rglob("outbox.json"))
        self.assertIn("is in use", self.command("mlflow", "deliver", str(folder), code=1))
        launch.end(signal.SIGKILL)
        (self.service / "hang").unlink()
        self.wait_for(lambda: not self.nodes(), "all processes are gone")
        self.command("mlflow", "deliver", str(folder))
        self.assertEqual([step for step, _ in self.arrived("mlflow")][:10], list(range(1, 11)))
        self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["FAILED"])


class CommandTest(BridgesTest):
    def test_it_attaches_to_a_run_that_goes_on(self):
        launch = self.launch(self.file(TRAINING), *ENDLESS)
        self.wait_active("optimizer")
        bridge = self.program(PYTHON, "-m", "trainyard.bridges.mlflow", "attach", "--run", "small", "--experiment",
                              "seen", "--tags", "late", "--interval-s", "0.05")
        self.wait_for(lambda: len(self.arrived("mlflow")) > 10, "metrics arrive")
        launch.end(signal.SIGINT)
        text = bridge.end()
        self.assertEqual(bridge.returncode, 0, text)
        self.assertRegex(text, r"\d+ records were delivered to MLflow")
        self.assertEqual([one["status"] for one in self.calls("set_terminated")], ["KILLED"])
        self.assertEqual([one["name"] for one in self.calls("create_experiment")], ["seen"])
        logged = dict(self.rows())
        for step, loss in self.arrived("mlflow"):
            self.assertAlmostEqual(loss, logged[step], delta=1e-6)

    def test_the_how_to_is_right(self):
        page = (SOURCES / "docs" / "send_metrics_to_wandb_or_mlflow.md").read_text(encoding="utf-8")
        blocks = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
        self.assertEqual(len(blocks), 2)
        for block, service in zip(blocks, ("wandb", "mlflow")):
            included = "" if "include" in block else 'include = ["mlp.toml"]\n'
            plan = self.trainyard("plan", self.file(included + block.replace("mnist.toml", "mlp.toml")))
            self.assertIn(f"/metrics: accelerator_host.metrics -> {service}.metrics", plan)
            described = json.loads(self.command(service, "--describe"))
            for parameter in described["parameters"]:
                self.assertIn(f"`{parameter['name']}`", page)

    def test_mistakes_are_named(self):
        self.environment["PYTHONPATH"] = str(CLIENT)
        text = self.finish(self.path("wandb"), code=1)
        self.assertRegex(text, r"component 'tracker' .* failed: the package 'wandb' is not installed for \S+; install it "
                               r"with: pip install wandb\n")
        self.environment["PYTHONPATH"] = f"{CLIENT}:{FAKES}"
        self.assertIn("finish_s: -1 is not allowed; a number >= 0",
                      self.trainyard("check", self.path("mlflow"), f"{FINISH}=-1", code=2))
        self.assertIn("no run named 'x'", self.command("mlflow", "attach", "--run", "x", code=1))
        self.assertIn("no outbox of trainyard.bridges.mlflow in nowhere",
                      self.command("mlflow", "deliver", "nowhere", code=1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
