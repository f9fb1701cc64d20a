# SPDX-License-Identifier: Apache-2.0
"""Tests that runs in which the examples in examples/python_members replace standard components give the same
results."""
import csv
import json
import signal
import sys
import unittest

try:
    import numpy
    import zmq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from harness import SOURCES, TRAINYARD, MembersTest

EXAMPLES = SOURCES / "examples" / "python_members"
STEPS = ("max_steps=40", "component.accelerator_host.params.log_every_steps=1")


class ExamplesTest(MembersTest):
    def losses(self, path, folder, *words):
        """Runs a launch file and returns the losses of training and of the validations."""
        self.finish(str(path), *STEPS, f"run.directory={folder}", "run.validate_every_steps=20", *words)
        found = {}
        for stage in ("train", "validate"):
            with open(self.folder / folder / f"metrics_{stage}.csv", encoding="utf-8") as file:
                found[stage] = [(row["step"], row["samples"], row["loss"]) for row in csv.DictReader(file)]
        self.assertEqual(len(found["train"]), 40)
        return found

    def test_the_optimizer_and_the_data_loader_give_the_same_bits(self):
        expected = self.losses("mlp.toml", "standard")
        for name in ("data_loader", "optimizer"):
            with self.subTest(name):
                self.assertEqual(self.losses(EXAMPLES / f"{name}.toml", name), expected)

    def test_they_do_so_with_two_ranks(self):
        words = ("devices=2", "strategy=ddp")
        expected = self.losses("mlp.toml", "standard", *words)
        for name in ("data_loader", "optimizer"):
            with self.subTest(name):
                self.assertEqual(self.losses(EXAMPLES / f"{name}.toml", name, *words), expected)

    def test_a_run_resumes_from_a_checkpoint_of_the_optimizer(self):
        """The state of the optimizer is saved from its memory, and restored into it."""
        expected = self.losses("mlp.toml", "standard")["train"]
        path = str(EXAMPLES / "optimizer.toml")
        self.finish(path, "max_steps=20", "run.directory=first")
        checkpoint = self.folder / "first" / "checkpoints" / "step-00000020"
        self.assertTrue(checkpoint.is_dir(), list((self.folder / "first").rglob("*")))
        self.finish(path, *STEPS, "run.directory=second", f"component.checkpoint_writer.params.resume={checkpoint}")
        with open(self.folder / "second" / "metrics_train.csv", encoding="utf-8") as file:
            resumed = [(row["step"], row["samples"], row["loss"]) for row in csv.DictReader(file)]
        self.assertEqual(resumed, expected[20:])

    def test_the_logger_writes_everything_that_it_receives(self):
        text = self.finish(str(EXAMPLES / "logger.toml"), *STEPS, "component.logger.params.every_steps=10")
        self.assertEqual(sum(line.startswith("train  step") for line in text.splitlines()), 4, text)
        lines = [json.loads(line) for line in next(self.folder.glob("runs/*/metrics.jsonl")).open()]
        losses = [line["values"][0]["value"] for line in lines if line["kind"] == "metrics" and line["stage"] == "train"]
        self.assertEqual(len(losses), 40)
        self.assertEqual({line["kind"] for line in lines}, {"metrics", "model", "checkpoint", "log"})
        # The log of every process is read, from its beginning.
        self.assertIn("optimizer", {line["component"] for line in lines if line["kind"] == "log"})

    def test_the_how_to_works_as_it_is_printed(self):
        page = (SOURCES / "docs" / "write_a_member_in_python.md").read_text(encoding="utf-8")
        for name in ("smoother.py", "smoother.toml"):
            code = page.split(f"`{name}`:\n```")[1].split("\n", 1)[1].split("```")[0]
            (self.folder / name).write_text(code, encoding="utf-8")
        self.trainyard("check", "smoother.toml")
        launch = self.launch("smoother.toml", "max_steps=1000000")
        self.wait_active("smoother")
        echoed = self.trainyard("topic", "echo", "/smooth", "--count", "3")
        self.assertEqual(echoed.count('"loss"'), 3, echoed)
        self.trainyard("param", "set", "smoother", "alpha", "0.5")
        self.assertEqual(json.loads(self.trainyard("service", "call", "smoother", "reset")), {})
        self.assertNotIn("Traceback", launch.end(signal.SIGTERM))

    def test_the_types_of_the_standard_components_are_up_to_date(self):
        script = SOURCES / "tools" / "clients" / "python" / "member_types.py"
        done = self.completed(sys.executable, script, TRAINYARD, "--check")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
