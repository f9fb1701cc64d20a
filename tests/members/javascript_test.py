# SPDX-License-Identifier: Apache-2.0
"""Tests the programs in examples/javascript_members and in docs/write_a_member_in_javascript.md. Needs `npm ci` in
tools/clients/javascript; the stage `clients` of tools/check.sh runs these tests."""
import csv
import json
import os
import shutil
import unittest

from harness import SOURCES, MembersTest

EXAMPLES = SOURCES / "examples" / "javascript_members"
STEPS = ("max_steps=40", "component.accelerator_host.params.log_every_steps=1")


class JavaScriptTest(MembersTest):
    def setUp(self):
        super().setUp()
        (self.folder / "node_modules").mkdir()
        os.symlink(SOURCES / "tools" / "clients" / "javascript", self.folder / "node_modules" / "trainyard")

    def test_the_logger_writes_everything_that_it_receives_and_changes_nothing(self):
        shutil.copytree(EXAMPLES, self.folder, dirs_exist_ok=True)
        self.finish("mlp.toml", *STEPS, "run.directory=standard")
        expected = [float(loss) for _, _, loss in self.losses("standard")]
        text = self.finish("logger.toml", *STEPS, "run.directory=mine", "component.logger.params.every_steps=10")
        self.assertEqual(sum(line.startswith("train  step") for line in text.splitlines()), 4, text)
        lines = [json.loads(line) for line in (self.folder / "mine" / "metrics.jsonl").open(encoding="utf-8")]
        losses = [next(value["value"] for value in line["values"] if value["name"] == "loss") for line in lines
                  if line["kind"] == "metrics" and line["stage"] == "train"]
        self.assertEqual(len(losses), 40)
        # The standard logger rounds what it writes.
        self.assertTrue(all(abs(mine - other) <= 1e-6 * abs(other) for mine, other in zip(losses, expected)))
        self.assertEqual({line["kind"] for line in lines}, {"metrics", "model", "checkpoint", "log"})
        # The log of every process is read, from its beginning.
        self.assertIn("optimizer", {line["component"] for line in lines if line["kind"] == "log"})

    def losses(self, folder):
        with open(self.folder / folder / "metrics_train.csv", encoding="utf-8") as file:
            return [(row["step"], row["samples"], row["loss"]) for row in csv.DictReader(file)]

    def test_the_optimizer_gives_the_same_bits_also_with_two_ranks(self):
        shutil.copytree(EXAMPLES, self.folder, dirs_exist_ok=True)
        for words in ((), ("devices=2", "strategy=ddp"), ("devices=2", "strategy=diloco")):
            with self.subTest(words=words):
                for name in ("mlp", "optimizer"):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                    self.finish(f"{name}.toml", *STEPS, *words, f"run.directory={name}")
                self.assertEqual(len(self.losses("mlp")), 40)
                self.assertEqual(self.losses("optimizer"), self.losses("mlp"))

    def test_a_run_resumes_from_a_checkpoint_with_the_state_of_the_optimizer(self):
        shutil.copytree(EXAMPLES, self.folder, dirs_exist_ok=True)
        self.finish("mlp.toml", *STEPS, "run.directory=standard")
        self.finish("optimizer.toml", "max_steps=20", "run.directory=first")
        checkpoint = self.folder / "first" / "checkpoints" / "step-00000020"
        self.finish("optimizer.toml", *STEPS, "run.directory=second",
                    f"component.checkpoint_writer.params.resume={checkpoint}")
        self.assertEqual(self.losses("second"), self.losses("standard")[20:])

    def test_a_strategy_that_divides_the_parameters_is_refused_by_the_optimizer(self):
        shutil.copytree(EXAMPLES, self.folder, dirs_exist_ok=True)
        text = self.finish("optimizer.toml", "max_steps=5", "devices=2", "strategy=fsdp", code=1)
        self.assertIn("failed: this optimizer takes float32, and a strategy in which each rank has all parameters\n", text)

    def test_the_how_to_works_as_it_is_printed(self):
        page = (SOURCES / "docs" / "write_a_member_in_javascript.md").read_text(encoding="utf-8")
        for name in ("smoother.mjs", "smoother.toml"):
            code = page.split(f"`{name}`:\n```")[1].split("\n", 1)[1].split("```")[0]
            (self.folder / name).write_text(code, encoding="utf-8")
        self.trainyard("check", "smoother.toml")
        launch = self.launch("smoother.toml", "max_steps=1000000")
        self.wait_active("smoother")
        echoed = self.trainyard("topic", "echo", "/smooth", "--count", "3")
        self.assertEqual(echoed.count('"loss"'), 3, echoed)
        self.trainyard("param", "set", "smoother", "alpha", "0.5")
        self.assertEqual(self.call("smoother", "reset"), {})
        self.interrupt(launch)


if __name__ == "__main__":
    unittest.main(verbosity=2)
