# SPDX-License-Identifier: Apache-2.0
"""Tests the Python client with bytes from the C++ encoder and with a fake launch. Exit status 77: skipped, because
pyzmq is missing."""
import contextlib
import io
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import unittest

try:
    import zmq  # noqa: F401
except ImportError:
    print("skipped: pyzmq is missing (Debian: python3-zmq)")
    sys.exit(77)

import trainyard
from trainyard import command
from fake_run_test import fake_run, load_samples, shown

SAMPLES = load_samples()
DEADLINE_S = 120


def sample(type_name):
    return next(one for one in SAMPLES if one["type"] == type_name)


class DecodeTest(unittest.TestCase):
    def test_every_message_type_decodes_to_what_was_encoded(self):
        for one in SAMPLES:
            message = trainyard.Schema(one["schema"]).decode(one["body"], one["payloads"])
            self.assertEqual(shown(message), one["message"], one["type"])
        self.assertGreater(len({one["type"] for one in SAMPLES}), 30)

    def test_a_message_cut_at_any_byte_is_refused(self):
        for one in SAMPLES:
            schema = trainyard.Schema(one["schema"])
            for length in range(len(one["body"])):
                with self.assertRaises(trainyard.TrainyardError, msg=f"{one['type']} cut at {length}"):
                    schema.decode(one["body"][:length], one["payloads"])

    def refusal(self, field_type, body, payloads=()):
        with self.assertRaises(trainyard.TrainyardError) as raised:
            trainyard.Schema(f"A {{\n  {field_type} a\n}}\n").decode(body, payloads)
        return str(raised.exception)

    def test_hostile_bytes_are_refused_before_memory_is_taken(self):
        claim = struct.pack("<I", 1 << 28) + b"abcdef"
        self.assertEqual(self.refusal("list<f32>", claim),
                         "message claims 268435456 elements of 4 bytes or more; 6 bytes remain")
        self.assertIn("claims 268435456", self.refusal("string", claim))
        self.assertIn("claims 268435456", self.refusal("map<u8>", claim))
        self.assertEqual(self.refusal("bool", b"\2"), "message has 2 for a bool; 0 or 1")
        self.assertEqual(self.refusal("u8", b"\1\2"), "message of type A has 1 bytes after its last field")

    def test_tensors_lie_within_their_payload(self):
        def tensor(extent, offset):
            return struct.pack("<BBqIQ", 7, 1, extent, 0, offset)
        self.assertIn("needs 20 bytes at 0", self.refusal("Tensor", tensor(5, 0), [bytes(16)]))
        self.assertIn("needs 16 bytes at 1", self.refusal("Tensor", tensor(4, 1), [bytes(16)]))
        self.assertIn("impossible shape [-1]", self.refusal("Tensor", tensor(-1, 0), [bytes(16)]))
        self.assertIn("needs", self.refusal("Tensor", tensor(1 << 62, 0), [bytes(16)]))
        self.assertIn("17 dimensions", self.refusal("Tensor", struct.pack("<BB", 7, 17) + bytes(200)))

    def test_schemas_that_are_none_are_refused(self):
        for text in ("", "A {\n", "A {\n u8 a\n}\n", "A {\n  list<u8 a\n}\n", "A {\n  " + "list<" * 99 + "u8 a\n}\n",
                     "A {\n  B b\n}\nB {\n}\n"):
            with self.assertRaises(trainyard.TrainyardError, msg=text):
                trainyard.Schema(text)
        self.assertIn("no type 'B'", self.refusal("B", b""))
        self.assertIn("contains itself", self.refusal("A", b""))

    def test_headers_are_read_and_strangers_refused(self):
        header = trainyard.read_header(SAMPLES[0]["header"])
        self.assertEqual((header.sequence, header.source, header.trace), (41, 3, 77))
        self.assertEqual(header.send_time_ns, 1_700_000_000_000_000_001)
        self.assertEqual(header.fingerprint, SAMPLES[0]["fingerprint"])
        for frame in (b"", SAMPLES[0]["header"] + b"\0", b"X" + SAMPLES[0]["header"][1:]):
            with self.assertRaises(trainyard.TrainyardError):
                trainyard.read_header(frame)


class SubscribeTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.fake = stack.enter_context(fake_run())
        self.run_ = trainyard.find_run()

    def test_messages_come_in_order_and_credit_goes_back_at_half_of_the_window(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=20)
        subscription = self.run_.subscribe("/metrics", window=4)
        received = [subscription.receive(DEADLINE_S) for _ in range(20)]
        self.assertEqual([header.sequence for header, _ in received], list(range(20)))
        self.assertEqual(received[0][1], sample("Metrics")["message"])
        subscription.close()
        self.assertTrue(publisher.gone.wait(DEADLINE_S), "no Unsubscribe came")
        self.assertEqual(publisher.most_under_way, 4)
        self.assertEqual(publisher.credited, 20)
        self.assertEqual(publisher.credited_bytes, 20 * len(sample("Metrics")["body"]))
        credits = [struct.unpack("<IQQ", body)[1] for kind, body in publisher.heard if kind == b"Credit"]
        self.assertEqual(credits, [2] * 10)

    def test_after_a_flush_credit_goes_back_after_every_message(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=3, flush=True)
        subscription = self.run_.subscribe("/metrics", window=64)
        for _ in range(3):
            subscription.receive(DEADLINE_S)
        subscription.close()
        self.assertTrue(publisher.gone.wait(DEADLINE_S))
        self.assertEqual(publisher.credited, 3)
        self.assertEqual([kind for kind, _ in publisher.heard].count(b"Credit"), 3)

    def test_control_messages_are_those_of_the_real_encoder(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=2)
        subscription = self.run_.subscribe("/metrics", window=4, window_bytes=1 << 20)
        subscription.receive(DEADLINE_S)
        subscription.receive(DEADLINE_S)
        subscription.close()
        self.assertTrue(publisher.gone.wait(DEADLINE_S))
        kinds = [kind for kind, _ in publisher.heard]
        self.assertEqual(kinds, [b"Subscribe", b"Credit", b"Unsubscribe"])
        self.assertEqual(publisher.heard[0][1], SAMPLES[0]["body"])
        expected = trainyard.Schema(sample("Credit")["schema"]).decode(publisher.heard[1][1])
        self.assertEqual((expected["subscription"], expected["messages"]), (0, 2))

    def test_tensors_come_with_their_bytes_if_asked_for(self):
        self.fake.publish("/predictions", sample("Prediction"), count=3)
        _, message = self.run_.subscribe("/predictions", payloads="inline").receive(DEADLINE_S)
        self.assertEqual([bytes(tensor["data"]) for tensor in message["tensors"]], [b"abcdef", b"cdef"])
        _, message = self.run_.subscribe("/predictions").receive(DEADLINE_S)
        self.assertEqual([tensor["data"] for tensor in message["tensors"]], [None, None])
        self.assertEqual(message["tensors"][1]["offset"], 2)

    def test_every_publisher_of_a_topic_is_heard(self):
        self.fake.publish("/log", sample("LogRecord"), count=3)
        self.fake.publish("/log", sample("LogRecord"), count=4)
        subscription = self.run_.subscribe("/log")
        self.assertEqual(len([subscription.receive(DEADLINE_S) for _ in range(7)]), 7)

    def test_iteration_ends_with_the_run_after_the_last_message(self):
        self.fake.publish("/metrics", sample("Metrics"), count=3)
        subscription = self.run_.subscribe("/metrics")
        self.fake.end()
        self.assertLessEqual(len(list(subscription)), 3)
        self.assertIsNone(subscription.receive(DEADLINE_S))

    def test_iteration_ends_when_every_publisher_says_so_although_the_run_still_lives(self):
        self.fake.publish("/metrics", sample("Metrics"), count=3, ends=True)
        self.fake.publish("/metrics", sample("Metrics"), count=2, ends=True)
        self.assertEqual(len(list(self.run_.subscribe("/metrics", timeout=None))), 5)
        self.assertTrue(self.run_.alive())

    def test_a_publisher_that_comes_back_is_subscribed_to_again(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=2)
        subscription = self.run_.subscribe("/metrics")
        self.assertEqual([subscription.receive(DEADLINE_S)[0].sequence for _ in range(2)], [0, 1])
        publisher.stop()
        self.fake.publishers.clear()
        self.fake.publish("/metrics", sample("Metrics"), count=2)  # At the same address.
        self.assertEqual([subscription.receive(DEADLINE_S)[0].sequence for _ in range(2)], [0, 1])

    def test_silence_times_out(self):
        self.fake.publish("/metrics", sample("Metrics"))
        with self.assertRaisesRegex(trainyard.Timeout, "no message on '/metrics' within 0.3 s"):
            list(self.run_.subscribe("/metrics", timeout=0.3))

    def test_a_refusal_is_told(self):
        self.fake.publish("/metrics", sample("Metrics"), refusal="no topic '/metrics' in this process")
        with self.assertRaisesRegex(trainyard.TrainyardError, "gateway: no topic '/metrics' in this process"):
            self.run_.subscribe("/metrics")

    def test_an_unknown_topic_is_told_with_those_that_exist(self):
        self.fake.publish("/metrics", sample("Metrics"))
        self.fake.publish("/log", sample("LogRecord"))
        with self.assertRaisesRegex(trainyard.TrainyardError, "no topic '/loss' in run .*; it has: /log, /metrics"):
            self.run_.subscribe("/loss")

    def test_a_message_of_another_type_is_refused(self):
        self.fake.publish("/metrics", sample("Metrics"), count=1, header=sample("Credit")["header"])
        with self.assertRaisesRegex(trainyard.TrainyardError, f"{sample('Credit')['fingerprint']:016x}; Metrics has"):
            self.run_.subscribe("/metrics").receive(DEADLINE_S)


class RunTest(unittest.TestCase):
    def test_runs_are_found_by_either_name_and_only_while_alive(self):
        with fake_run() as fake:
            self.assertEqual(trainyard.find_run("mnist").run, "mnist-1")
            self.assertEqual(trainyard.find_run("mnist-1").registry, fake.registry_endpoint)
            with self.assertRaisesRegex(trainyard.TrainyardError, "no run named 'gpt' in .*; running: mnist-1"):
                trainyard.find_run("gpt")
            fake.info["start_ticks"] += 1  # Another process has the pid now.
            fake.announce()
            with self.assertRaisesRegex(trainyard.TrainyardError, "no run in .*; running: none"):
                trainyard.find_run()
            fake.directory.joinpath("run.json").write_text("{", encoding="utf-8")
            self.assertEqual(trainyard.runs(), [])

    def test_a_program_of_a_launch_file_finds_its_own_run(self):
        with fake_run() as fake:
            os.environ["TRAINYARD_RUN_DIRECTORY"] = str(fake.directory)
            self.assertEqual(trainyard.find_run().run, "mnist-1")
            fake.end()
            with self.assertRaisesRegex(trainyard.Timeout, "no run announced itself in .*mnist-1 within 0.1 s"):
                trainyard.find_run(timeout=0.1)

    def test_a_folder_that_others_may_write_to_is_not_trusted(self):
        with fake_run() as fake:
            fake.directory.parent.chmod(0o777)
            with self.assertRaisesRegex(trainyard.TrainyardError, "others may write to it"):
                trainyard.find_run()

    def test_calls_are_answered_refused_or_time_out(self):
        with fake_run() as fake:
            run = trainyard.find_run()
            answer = run.call("optimizer", "param.set", {"name": "lr", "value": 0.1})
            self.assertEqual(answer, {"method": "param.set", "body": {"name": "lr", "value": 0.1}})
            with self.assertRaisesRegex(trainyard.TrainyardError, "call: no component named 'optimiser'"):
                run.call("optimiser", "param.list")
            fake.silent = True
            with self.assertRaisesRegex(trainyard.Timeout, "run mnist-1 did not answer 'call' within 0.2 s"):
                run.call("optimizer", "param.list", timeout=0.2)
            fake.silent = False
            self.assertEqual(run.nodes(), [], "a late answer must not be taken for this one")


class CommandTest(unittest.TestCase):
    def output(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            command.main(words)
        return out.getvalue()

    def test_topics_and_messages_are_printed(self):
        with fake_run() as fake:
            fake.publish("/metrics", sample("Metrics"), count=5)
            self.assertEqual(self.output("topics"), "/metrics  Metrics\n")
            lines = self.output("--run", "mnist", "echo", "/metrics", "--count", "2").splitlines()
            self.assertEqual([json.loads(line)["sequence"] for line in lines], [0, 1])
            self.assertEqual(json.loads(lines[0])["message"], sample("Metrics")["message"])

    def test_errors_are_one_line(self):
        with fake_run():
            with self.assertRaises(SystemExit) as raised:
                self.output("--run", "gpt", "topics")
            self.assertRegex(str(raised.exception), "^trainyard: no run named 'gpt' in .*; running: mnist-1$")


class ExternalLoggerTest(unittest.TestCase):
    """Tests the program examples/external_logger, which runs as a separate process."""

    LOGGER = pathlib.Path(__file__).resolve().parents[3] / "examples/external_logger/external_logger.py"

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.fake = stack.enter_context(fake_run())
        metrics = next(one for one in SAMPLES if one["type"] == "Metrics" and one["message"]["values"])
        self.fake.publish("/metrics", metrics, count=3)
        self.step = f"step {metrics['message']['step']}/"

    def start(self, *words):
        logger = subprocess.Popen([sys.executable, "-B", str(self.LOGGER), *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        self.addCleanup(logger.stdout.close)
        self.addCleanup(logger.wait, DEADLINE_S)
        self.addCleanup(logger.kill)
        return logger

    def read_until_third_line(self, logger):
        self.assertEqual(logger.stdout.readline(), "attached to mnist-1 (mnist.toml)\n")
        for _ in range(3):
            self.assertIn(self.step, logger.stdout.readline())

    def test_it_attaches_by_name_and_ends_with_the_run(self):
        logger = self.start("mnist")
        self.read_until_third_line(logger)
        self.fake.end()
        self.assertRegex(logger.stdout.read(), "^the run has ended: 3 lines in ")
        self.assertEqual(logger.wait(DEADLINE_S), 0)

    def test_it_finds_the_run_that_started_it_and_ends_at_either_signal(self):
        os.environ["TRAINYARD_RUN_DIRECTORY"] = str(self.fake.directory)
        for stop in (signal.SIGINT, signal.SIGTERM):
            logger = self.start()
            self.read_until_third_line(logger)
            logger.send_signal(stop)
            self.assertRegex(logger.stdout.read(), "^stopped: 3 lines in ")
            self.assertEqual(logger.wait(DEADLINE_S), 0)

    def test_it_says_why_it_cannot_attach(self):
        logger = self.start("gpt")
        self.assertRegex(logger.stdout.read(), "^external_logger: no run named 'gpt'")
        self.assertEqual(logger.wait(DEADLINE_S), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
