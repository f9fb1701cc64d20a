# SPDX-License-Identifier: Apache-2.0
"""Visitors on host 0 of a run on several hosts see the topics of all hosts, and the log of the run has what all hosts
say."""
import json
import re
import sys
import time
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import Launch, nothing_is_left, write_key

TRAIN = ["launch", "mlp.toml", "component.logger.params.console=off", "run.log_level=info",
         "component.accelerator_host.params.log_every_steps=1"]
LONG = [*TRAIN, "max_steps=1000000"]


@unittest.skipIf(missing(), missing())
class VisitorsTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        write_key(self.lab)

    def train(self, *arguments):
        """Starts a run on both hosts, and waits until it trains. Returns the launch of host 0, and that of host 1."""
        here, there = (Launch(self.lab, number, [*LONG, *arguments]) for number in range(2))
        until = time.monotonic() + 120
        while "active" not in self.visit("node", "list", code=None):
            self.assertLess(time.monotonic(), until, here.output() + there.output())
            time.sleep(0.1)
        return here, there

    def visit(self, *words, code=0, seconds=120):
        said, result = self.lab.hosts[0].run([doctor.PROGRAM, *words], timeout=seconds)
        if code is not None:
            self.assertEqual(result, code, said)
        return said

    def stop(self, here, there):
        here.signal("TERM", "guard")
        self.assertEqual((here.end(), there.end()), (130, 130), here.output() + there.output())
        nothing_is_left(self, *self.lab.hosts)

    def log_of(self, launch):
        """The components that have written log messages into metrics.jsonl, and what they have said."""
        path = next(launch.folder.glob("runs/*/metrics.jsonl"))
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {(line["component"], line["text"]) for line in lines if line.get("kind") == "log"}

    def test_a_topic_of_another_host_can_be_heard_and_measured(self):
        here, there = self.train()
        lines = self.visit("topic", "echo", "/rank1/gradients", "--count", "5", "--json").splitlines()
        steps = [json.loads(line)["step"] for line in lines]
        self.assertEqual(len(steps), 5)
        self.assertEqual(steps, sorted(steps))
        # Topics of both hosts at once: the log is published by every process.
        listed = json.loads(self.visit("topic", "list", "--json"))
        log = next(topic for topic in listed if topic["topic"] == "/log")
        self.assertEqual(len({publisher["endpoint"] for publisher in log["publishers"]}), len(log["publishers"]))
        self.assertTrue(all(publisher["endpoint"] for publisher in log["publishers"]))
        for verb in ("hz", "bw", "delay"):
            self.assertRegex(self.visit("topic", verb, "/rank1/gradients", "--timeout", "2", code=None), r"[1-9]", verb)
        # What was subscribed anew is heard anew, and the batches come with their bytes.
        self.assertEqual(len(self.visit("topic", "echo", "/rank1/gradients", "--count", "2", "--json").splitlines()), 2)
        self.stop(here, there)

    def test_what_components_on_another_host_log_is_in_the_metrics(self):
        here, there = (Launch(self.lab, number, [*TRAIN, "max_steps=20"]) for number in range(2))
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        said = self.log_of(here)
        for rank in (0, 1):
            texts = [text for component, text in said if component == f"rank{rank}/optimizer"]
            self.assertTrue(any(re.search(r"parameter elements in \d+ segments", text) for text in texts), said)
        nothing_is_left(self, *self.lab.hosts)

    def test_a_logger_on_another_host_hears_all_hosts(self):
        here, there = (Launch(self.lab, number, [*TRAIN, "max_steps=20", "component.logger.host=h1"]) for number in range(2))
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        said = {component for component, _ in self.log_of(there)}
        self.assertLessEqual({"rank0/optimizer", "rank1/optimizer"}, said)
        nothing_is_left(self, *self.lab.hosts)

    def test_a_recording_has_the_topics_of_all_hosts(self):
        here, there = self.train()
        recorder = self.lab.hosts[0].start([doctor.PROGRAM, "bag", "record", "/rank*/gradients", "-o", "/mnt/both.mcap"])
        until = time.monotonic() + 60
        while not (self.lab.shared / "both.mcap").exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.visit("topic", "echo", "/rank1/gradients", "--count", "100")
        here.signal("TERM", "guard")
        self.assertEqual((here.end(), there.end()), (130, 130), here.output() + there.output())
        self.assertEqual(recorder.wait(60), 0)
        info = json.loads(self.visit("bag", "info", "/mnt/both.mcap", "--json"))
        counts = {topic["topic"]: topic["messages"] for topic in info["topics"]}
        for topic in ("/rank0/gradients", "/rank1/gradients"):
            self.assertGreater(counts.get(topic, 0), 50, counts)
        nothing_is_left(self, *self.lab.hosts)

    def test_a_visitor_that_does_not_read_delays_nobody(self):
        here, there = self.train()
        # Nobody reads the pipe after the first line, so the pipe and then the visitor's socket fill up.
        lazy = self.lab.hosts[0].start(["sh", "-c", f"{doctor.PROGRAM} topic echo /rank1/gradients --json | "
                                                    "(read line && echo ok > /mnt/read; sleep 1000)"])
        until = time.monotonic() + 60
        while not (self.lab.shared / "read").exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        lines = self.visit("topic", "echo", "/rank1/gradients", "--count", "200", "--json").splitlines()
        first, last = (json.loads(line)["step"] for line in (lines[0], lines[-1]))
        self.assertGreater(last, first + 100)
        self.lab.hosts[0].end(lazy)
        self.lab.hosts[0].run(["pkill", "sleep"])
        self.stop(here, there)


if __name__ == "__main__":
    unittest.main()
