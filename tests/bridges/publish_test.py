#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `trainyard topic pub`, which publishes messages in real training runs."""
import json
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from foxglove_client import Client
from launches import DEADLINE_S, TRAINYARD, TrainingTest


class PublishTest(TrainingTest):
    def run_apart(self, *arguments):
        """Starts a verb whose output and errors are read apart."""
        program = subprocess.Popen([TRAINYARD, *arguments], cwd=self.folder, env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def end():
            if program.poll() is None:
                program.kill()
            program.communicate()

        self.addCleanup(end)
        return program

    def refused(self, *arguments):
        """The exit code and the one line of the error."""
        done = self.completed(TRAINYARD, "topic", "pub", *arguments)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def topics(self):
        return {each["topic"]: each for each in json.loads(self.trainyard("topic", "list", "--json"))}

    def test_others_receive_what_is_published(self):
        self.train()
        pub = self.run_apart("topic", "pub", "/note", '{"text": "hi", "step": 7, "at": [0.5, 1]}', "--rate", "20")
        topic = self.wait_for(lambda: self.topics().get("/note"))
        self.assertEqual(topic["schema"], "Note {\n  string text\n  i64 step\n  list<f64> at\n}\n")
        self.assertTrue(topic["latched"])
        self.assertEqual(topic["publishers"][0]["process"], f"topic pub {pub.pid}")
        lines = self.trainyard("topic", "echo", "/note", "--count", "5", "--json").splitlines()
        self.assertEqual([json.loads(line) for line in lines], [{"text": "hi", "step": 7, "at": [0.5, 1]}] * 5)
        # The announcement is renewed.
        self.wait_for(lambda: self.step() > 0)
        listener = self.run_apart("topic", "echo", "/note", "--json")
        listener.stdout.readline()
        pub.send_signal(signal.SIGINT)
        self.assertRegex(pub.communicate(timeout=DEADLINE_S)[0], r"^\d+ message\(s\) published\n$")
        self.assertEqual(pub.returncode, 130)
        self.assertIn("nobody publishes '/note' any longer", listener.communicate(timeout=DEADLINE_S)[1])
        self.assertNotIn("/note", self.topics())

    def test_one_message_waits_for_its_receiver(self):
        self.train()
        pub = self.run_apart("topic", "pub", "my_metrics", '{"step": 3, "stage": "mine"}', "--like", "/metrics",
                             "--timeout", str(DEADLINE_S))
        self.wait_for(lambda: "/my_metrics" in self.topics())
        self.assertIsNone(pub.poll())
        received = json.loads(self.trainyard("topic", "echo", "/my_metrics", "--count", "1", "--json"))
        self.assertEqual((received["step"], received["stage"], received["values"]), (3, "mine", []))
        self.assertEqual(pub.communicate(timeout=DEADLINE_S)[0], "1 message(s) published\n")
        self.assertEqual(pub.returncode, 0)
        code, text = self.refused("/nobody", '{"a": 1}', "--timeout", "0.2")
        self.assertEqual(code, 124)
        self.assertIn("nobody has subscribed to '/nobody' for 0.2 s", text)

    def test_the_topics_of_the_run_cannot_be_forged(self):
        self.train()
        for topic in ("/metrics", "/orders", "/gradients", "/log", "/spans", "metrics"):
            code, text = self.refused(topic, '{"step": 1}', "--like", "/metrics")
            self.assertEqual(code, 2)
            self.assertIn("belongs to the run", text)
            self.assertEqual(text.count("\n"), 1, text)
        pub = self.run_apart("topic", "pub", "/note", '{"a": 1}', "--rate", "1")
        self.wait_for(lambda: "/note" in self.topics())
        code, text = self.refused("/note", '{"a": 1}')
        self.assertEqual(code, 2)
        self.assertIn(f"is published by another visitor, topic pub {pub.pid}", text)
        (self.folder / "schema").write_text("Note {\n  u8 a\n}\n", encoding="utf-8")
        (self.folder / "no_schema").write_text("Note", encoding="utf-8")
        for arguments, code, reason in ((("/x", "3"), 2, "not a JSON object"), (("/x", "{"), 2, "not a JSON object"),
                                        (("/x", '{"a": null}'), 2, "a: null has no type"), (("/x y", '{"a": 1}'), 2, "not a topic"),
                                        (("/x", '{"a": 300}', "--schema", "schema"), 2, "a"),
                                        (("/x", '{"b": 1}', "--schema", "schema"), 2, "b"),
                                        (("/x", '{"a": 1}', "--schema", "no_schema"), 2, "no_schema is not a schema"),
                                        (("/x", '{"a": 1}', "--schema", "nowhere"), 3, "nowhere"),
                                        (("/x", '{"a": 1}', "--like", "/metrixs"), 3, "did you mean '/metrics'")):
            got, text = self.refused(*arguments)
            self.assertEqual(got, code, text)
            self.assertIn(reason, text)
            self.assertRegex(text, "^trainyard: [^\n]+\n$")

    def test_a_publisher_that_is_killed_vanishes_and_training_goes_on(self):
        run = self.train()
        pub = self.run_apart("topic", "pub", "/note", '{"a": 1}', "--rate", "10")
        self.wait_for(lambda: "/note" in self.topics())
        pub.kill()
        before = self.step()
        self.wait_for(lambda: "/note" not in self.topics())
        self.wait_for(lambda: self.step() > before)
        pub = self.run_apart("topic", "pub", "/note", '{"other": "type"}', "--rate", "10")
        self.wait_for(lambda: "/note" in self.topics())
        # A run does not wait for those who publish, and they end with it.
        self.trainyard("service", "call", "strategy_manager", "stop")
        self.assertEqual(run.wait(DEADLINE_S), 0, run.said())
        self.assertIn("the run has ended", pub.communicate(timeout=DEADLINE_S)[1])
        self.assertEqual(pub.returncode, 0)
        self.assertEqual([], [path for path in self.folder.glob("trainyard-*/*") if path.is_dir()])

    def test_a_bridge_shows_a_topic_that_comes_later(self):
        run = self.train(more='[component.foxglove]\nplugin = "foxglove"\nparams.port = 0\n')
        url = run.said().partition("connect to ")[2].split()[0]
        client = Client(url)
        self.addCleanup(client.close)
        client.channels()
        self.run_apart("topic", "pub", "/note", '{"text": "hi"}', "--rate", "10")
        channel = client.channel("/note")
        client.tell(op="subscribe", subscriptions=[{"id": 1, "channelId": channel["id"]}])
        self.assertEqual(client.wait("message")["data"], {"text": "hi"})


if __name__ == "__main__":
    unittest.main()
