# SPDX-License-Identifier: Apache-2.0
"""Tests the Python client with a real training run. Exit status 77: skipped, because pyzmq is missing."""
import asyncio
import pathlib
import signal
import sys
import time
import unittest

try:
    import zmq  # noqa: F401
except ImportError:
    print("skipped: pyzmq is missing (Debian: python3-zmq)")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests" / "python"))
import trainyard
from launches import DEADLINE_S, TrainingTest


class RealRunTest(TrainingTest):
    placement = "composed"

    def setUp(self):
        super().setUp()
        self.launched = self.train(f"placement={self.placement}")
        self.run_ = trainyard.find_run()
        self.addCleanup(self.run_.close)

    def one(self, topic, **options):
        """Returns a message of a topic, after checking that it matches the registry's description."""
        known = {entry["topic"]: entry for entry in self.run_.topics()}[topic]
        subscription = self.run_.subscribe(topic, **options)
        header, message = subscription.receive(DEADLINE_S)
        subscription.close()
        self.assertEqual(f"{header.fingerprint:016x}", known["fingerprint"])
        fields = [field for field, _ in trainyard.Schema(known["schema"]).structs[known["type"]]]
        self.assertEqual(list(message), fields, topic)
        return message

    def test_the_run_and_its_parts_are_found(self):
        self.assertEqual(trainyard.find_run("seen").run, self.run_.run)
        self.assertEqual(trainyard.find_run().pid, self.run_.pid)
        topics = {topic["topic"]: topic["type"] for topic in self.run_.topics()}
        self.assertEqual({name: topics[name] for name in ("/metrics", "/log", "/orders", "/batches", "/gradients")},
                         {"/metrics": "Metrics", "/log": "LogRecord", "/orders": "Order", "/batches": "Batch",
                          "/gradients": "Gradients"})
        nodes = {node["component"]: node for node in self.run_.nodes()}
        self.assertIn("checkpoint", nodes["strategy_manager"]["services"])

    def test_messages_of_many_types_are_decoded_by_their_announced_schema(self):
        metrics = self.one("/metrics")
        self.assertEqual(metrics["stage"], "train")
        self.assertIn("loss", [value["name"] for value in metrics["values"]])
        self.assertGreater(self.one("/gradients")["step"], 0)
        self.assertAlmostEqual(self.one("/parameters")["learning_rate"], 1e-3)
        self.assertEqual(self.one("/order_done")["kind"], "train")

    def test_tensors_come_without_or_with_their_bytes(self):
        self.assertEqual([tensor["data"] for tensor in self.one("/batches")["tensors"]], [None, None])
        batch = self.one("/batches", payloads="inline")
        self.assertEqual([(tensor["dtype"], tensor["shape"]) for tensor in batch["tensors"]],
                         [("float32", [16, 16]), ("int64", [16])])
        targets = batch["tensors"][1]["data"].cast("q").tolist()
        self.assertTrue(all(0 <= target < 4 for target in targets), targets)

    def test_what_a_service_does_can_be_seen(self):
        self.assertGreater(self.one("/gradients")["step"], 0)  # Training is under way.
        done, log = self.run_.subscribe("/checkpoints"), self.run_.subscribe("/log")
        self.run_.call("strategy_manager", "checkpoint")
        _, checkpoint = done.receive(DEADLINE_S)
        self.assertEqual(checkpoint["error"], "")
        self.assertTrue(pathlib.Path(self.folder, checkpoint["path"], "manifest.json").exists(), checkpoint)
        _, record = log.receive(DEADLINE_S)
        self.assertIn(record["level"], ("debug", "info"))
        self.assertTrue(record["component"] and record["text"], record)

    def test_parameters_are_read_and_set_while_it_trains(self):
        self.assertEqual(self.run_.call("optimizer", "param.get", {"name": "lr"})["value"], 1e-3)
        self.assertEqual(self.run_.call("optimizer", "param.set", {"name": "lr", "value": 0.25})["value"], 0.25)
        parameters = self.run_.subscribe("/parameters")
        self.wait_for(lambda: parameters.receive(DEADLINE_S)[1]["learning_rate"] == 0.25, "the new rate was not used")
        for body, complaint in (({"name": "lrr"}, "no parameter 'lrr'; did you mean 'lr'"),
                                ({"name": "rule", "value": "sgd"}, "rule"), ({"name": "lr", "value": "fast"}, "fast")):
            with self.assertRaisesRegex(trainyard.TrainyardError, complaint):
                self.run_.call("optimizer", "param.set" if "value" in body else "param.get", body)

    def test_names_that_do_not_exist_are_told_with_the_nearest(self):
        with self.assertRaisesRegex(trainyard.TrainyardError, "no topic '/metric' in run .*; did you mean '/metrics'?"):
            self.run_.subscribe("/metric")
        with self.assertRaisesRegex(trainyard.TrainyardError, "no component named 'optimiser'; did you mean 'optimizer'"):
            self.run_.call("optimiser", "param.list")
        with self.assertRaisesRegex(trainyard.TrainyardError, "no service 'checkpiont'; did you mean 'checkpoint'"):
            self.run_.call("strategy_manager", "checkpiont")
        with self.assertRaisesRegex(trainyard.TrainyardError, "no op 'topcis'; did you mean 'topics'"):
            self.run_.request("topcis")

    def test_one_subscription_has_several_topics_and_an_asynchronous_program_has_it_too(self):
        wanted = {"/metrics", "/gradients", "/parameters", "/log"}
        known = {topic["topic"]: topic for topic in self.run_.topics()}
        with self.run_.subscribe(sorted(wanted), into=trainyard.Record) as messages:
            seen, deadline, nodes = {}, time.monotonic() + DEADLINE_S, self.run_.nodes()
            while wanted - {"/log"} - set(seen) and time.monotonic() < deadline:
                header, message = messages.receive(DEADLINE_S)
                seen[header.topic] = message
                publishers = [one["component"] for one in known[header.topic]["publishers"]]
                if header.topic != "/log":
                    self.assertIn(nodes[header.source]["component"], publishers)
        self.assertGreater(seen["/gradients"].step, 0)
        self.assertIn("loss", [value.name for value in seen["/metrics"].values])

        async def receive():
            run = await trainyard.aio.find_run("seen")
            async with run.subscribe(["/metrics", "/parameters"], timeout=DEADLINE_S) as some:
                async for header, _ in some:
                    if header.topic == "/parameters":
                        return await asyncio.gather(*(run.call("optimizer", "param.get", {"name": name})
                                                      for name in ("lr", "rule")))

        answers = asyncio.run(receive())
        self.assertEqual([answer["value"] for answer in answers], [1e-3, "adamw"])

    def test_the_end_of_the_run_is_noticed(self):
        subscription = self.run_.subscribe("/metrics", timeout=None)
        self.assertIsNotNone(subscription.receive(DEADLINE_S))
        self.launched.end(signal.SIGINT)
        self.assertEqual(self.launched.returncode, 130)
        for _ in subscription:  # This is what was under way; then it ends by itself, although it has no timeout.
            pass
        self.assertFalse(self.run_.alive())
        with self.assertRaisesRegex(trainyard.TrainyardError, "run seen-.* has ended"):
            self.run_.topics()
        with self.assertRaisesRegex(trainyard.TrainyardError, "no run in .*; running: none"):
            trainyard.find_run()


class RealProcessesTest(RealRunTest):
    """Repeats the tests with a process for each component, and so with many endpoints."""
    placement = "processes"


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
