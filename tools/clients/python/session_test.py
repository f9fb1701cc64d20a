# SPDX-License-Identifier: Apache-2.0
"""Tests the Python client while it is connected: several topics, missed messages, hostile publishers, asynchronous
programs, signals."""
import asyncio
import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import threading
import unittest

try:
    import zmq  # noqa: F401
except ImportError:
    print("skipped: pyzmq is missing (Debian: python3-zmq)")
    sys.exit(77)

import trainyard
from fake_run_test import fake_run, load_samples
from trainyard import session

SAMPLES = load_samples()


def sample(type_name):
    return next(one for one in SAMPLES if one["type"] == type_name)


class FakeTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.fake = stack.enter_context(fake_run())
        self.run_ = trainyard.find_run()


class SubscriptionTest(FakeTest):
    def test_one_subscription_has_several_topics(self):
        self.fake.publish("/metrics", sample("Metrics"), count=3, ends=True)
        self.fake.publish("/log", sample("LogRecord"), count=2, ends=True)
        with self.run_.subscribe(["/metrics", "/log", "/metrics"], timeout=10) as messages:
            topics = [header.topic for header, _ in messages]
        self.assertEqual((sorted(topics), messages.received), (["/log"] * 2 + ["/metrics"] * 3, 5))

    def test_messages_can_be_records(self):
        self.fake.publish("/metrics", sample("Metrics"), count=1)
        with self.run_.subscribe("/metrics", into=trainyard.Record) as messages:
            _, metrics = messages.receive(10)
        self.assertEqual(metrics.step, sample("Metrics")["message"]["step"])

    def test_leaving_the_with_statement_unsubscribes(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=3)
        with self.run_.subscribe("/metrics") as messages:
            next(messages)
        self.assertTrue(publisher.gone.wait(10))
        self.assertEqual(list(messages), [])

    def test_what_a_publisher_would_refuse_is_refused_at_once(self):
        for options, complaint in (({"window": 1025}, "window = 1025; allowed are 1 to 1024"),
                                   ({"window": 0}, "window = 0"), ({"window_bytes": 1 << 30}, "window_bytes"),
                                   ({"payloads": "handle"}, "payloads = 'handle'; allowed are none and inline"),
                                   ({"policy": "block"}, "policy = 'block'; allowed are drop_oldest and latest")):
            with self.assertRaisesRegex(trainyard.TrainyardError, complaint):
                self.run_.subscribe("/metrics", **options)
        with self.assertRaisesRegex(trainyard.TrainyardError, "a topic has 201 bytes"):
            self.run_.subscribe("/" + "x" * 200)


    def test_a_publisher_that_is_gone_does_not_keep_the_others_from_being_heard(self):
        self.fake.publish("/log", sample("LogRecord"), count=2, ends=True)
        self.fake.topics["/log"]["publishers"].append({"component": "", "process": "gone",
                                                       "endpoint": f"ipc://{self.fake.directory}/gone"})

        async def receive():
            return await (await trainyard.aio.find_run()).subscribe("/log").receive(10)

        with self.run_.subscribe("/log", timeout=10) as messages:
            self.assertEqual([next(messages)[0].sequence for _ in range(2)], [0, 1])
            self.fake.end()
            self.assertEqual(list(messages), [])
        self.fake.announce()
        self.assertEqual(asyncio.run(receive())[0].sequence, 0)


class SessionTest(unittest.TestCase):
    """Tests the protocol without sockets."""

    def setUp(self):
        self.session = session.Session("ipc://x", ["/metrics"], session.Wish(window=4))
        self.session.connected()
        self.subscribed()
        self.session.outgoing.clear()

    def subscribed(self, **changes):
        answer = {"subscription": 0, "topic": "/metrics", "type": "Metrics", "fingerprint": sample("Metrics")["fingerprint"],
                  "schema": sample("Metrics")["schema"], "error": "", **changes}
        self.session.take([b"", b"Subscribed", session._SUBSCRIBED.encode(answer)[0]])

    def arrive(self, sequence, source=3, subscription=0, topic=b"/metrics", body=sample("Metrics")["body"]):
        header = sample("Metrics")["header"]
        frame = header[:16] + struct.pack("<QII", sequence, source, subscription) + header[32:]
        return self.session.take([topic, frame, body])

    def test_missed_messages_are_counted_for_each_sender(self):
        for sequence, source in ((5, 1), (6, 1), (0, 2), (9, 1), (1, 2), (10, 1)):
            self.assertIsNotNone(self.arrive(sequence, source))
        self.assertEqual(self.session.feeds[0].missed, 2)
        self.arrive(0, 1)  # The publisher was started again.
        self.arrive(1, 1)
        self.assertEqual(self.session.feeds[0].missed, 2)

    def test_messages_of_an_earlier_connection_are_ignored(self):
        self.session.connected()
        self.assertEqual([frames[1] for frames in self.session.outgoing], [b"Subscribe"])
        self.assertIsNone(self.arrive(7))
        self.subscribed()
        self.assertIsNotNone(self.arrive(8))

    def test_frames_that_belong_to_nothing_are_ignored(self):
        for frames in ([b""], [b"", b"Subscribed"], [b"", b"Surprise", b"x"], [b"/metrics"], [b"/metrics", b"short", b""],
                       [b"", b"Ended", b"\5\0\0\0"], [b"", b"Flush", b"\0"], [b"", b"Flush", b"\5\0\0\0"]):
            self.assertIsNone(self.session.take(frames))
        self.assertIsNone(self.arrive(0, subscription=7))
        self.assertIsNone(self.arrive(0, topic=b"/log"))
        self.assertFalse(self.session.ended())

    def test_hostile_messages_are_refused(self):
        header = sample("Metrics")["header"]
        for frame in (header[:-1], b"X" + header[1:], header[:4] + b"\2" + header[5:], header[:6] + b"\1" + header[7:],
                      header[:6] + b"\x41" + header[7:], header[:48] + b"\1" + header[49:]):
            frame = frame[:28] + bytes(4) + frame[32:]
            with self.assertRaises(trainyard.BadMessage):
                self.session.take([b"/metrics", frame, sample("Metrics")["body"]])
        arrival = self.arrive(0, body=sample("Metrics")["body"] + b"\0")
        with self.assertRaisesRegex(trainyard.BadMessage, "1 bytes after its last field"):
            arrival.open()

    def test_a_schema_that_does_not_match_its_fingerprint_is_refused(self):
        self.session.connected()
        with self.assertRaisesRegex(trainyard.BadMessage, "has the fingerprint .*, not 0000000000000001"):
            self.subscribed(fingerprint=1, schema=sample("LogRecord")["schema"])

    def test_text_of_a_run_cannot_control_a_terminal(self):
        with self.assertRaises(trainyard.Refused) as raised:
            self.subscribed(error="\x1b[2Jno")
        self.assertIn(r"\x1b[2Jno", str(raised.exception))


class FloodTest(FakeTest):
    def test_a_publisher_that_ignores_the_window_fills_its_own_memory_and_not_that_of_the_client(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"))
        socket = publisher.server.socket
        peers, sent, full = [], [], threading.Event()

        def flood(frames):
            """Sends messages of 4 KiB until the client no longer accepts them."""
            if frames[2] != b"Subscribe" or peers:
                return
            peers.append(frames[0])
            publisher.handle(frames)
            socket.router_mandatory, socket.sndtimeo = 1, 1000
            try:
                while len(sent) < 10_000:
                    socket.send_multipart([frames[0], b"/metrics", sample("Metrics")["header"], bytes(4096)])
                    sent.append(1)
            except zmq.Again:
                full.set()

        publisher.server.handle = flood
        with self.run_.subscribe("/metrics", window=8):
            self.assertTrue(full.wait(60))
        self.assertGreater(len(sent), 8)
        self.assertLess(len(sent), 1500)  # The queue of the sender itself takes 1000.


class RegistryTest(FakeTest):
    def test_a_refusal_has_its_code(self):
        with self.assertRaises(trainyard.Refused) as raised:
            self.run_.call("nobody", "param.list")
        self.assertEqual(raised.exception.code, "")

    def test_answers_that_are_none_are_refused(self):
        for frame in (b"", b"[]", b"[" * 100_000, b"\xff"):
            with self.assertRaisesRegex(trainyard.BadMessage, "not a JSON object"):
                trainyard.registry.Questions.number(frame)

    def test_an_address_elsewhere_is_refused(self):
        self.fake.publish("/metrics", sample("Metrics"))
        self.fake.topics["/metrics"]["publishers"][0]["endpoint"] = "tcp://10.0.0.1:5555"
        with self.assertRaisesRegex(trainyard.TrainyardError, "tcp://10.0.0.1:5555' is refused"):
            self.run_.subscribe("/metrics")


class AsynchronousTest(FakeTest):
    def test_messages_and_answers_are_awaited(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=20, ends=True)

        async def receive():
            run = await trainyard.aio.find_run("mnist")
            answers = await asyncio.gather(*(run.call("optimizer", "param.set", {"number": i}) for i in range(20)))
            self.assertEqual([answer["body"]["number"] for answer in answers], list(range(20)))
            self.assertEqual([topic["topic"] for topic in await run.topics()], ["/metrics"])
            async with run.subscribe("/metrics", window=4) as messages:
                found = [header.sequence async for header, _ in messages]
            self.assertEqual((found, messages.received, messages.missed), (list(range(20)), 20, 0))
            with self.assertRaisesRegex(trainyard.Refused, "no component named 'nobody'"):
                await run.call("nobody", "param.list")
            run.close()

        asyncio.run(receive())
        self.assertTrue(publisher.gone.wait(10))
        self.assertEqual((publisher.most_under_way, publisher.credited), (4, 20))

    def test_a_publisher_that_comes_back_is_subscribed_to_again(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=2)

        async def receive():
            run = await trainyard.aio.find_run()
            messages = run.subscribe("/metrics")
            first = [(await messages.receive(10))[0].sequence for _ in range(2)]
            publisher.stop()
            self.fake.publishers.clear()
            self.fake.publish("/metrics", sample("Metrics"), count=2)
            second = [(await messages.receive(10))[0].sequence for _ in range(2)]
            messages.close()
            return first, second

        self.assertEqual(asyncio.run(receive()), ([0, 1], [0, 1]))

    def test_waiting_ends_by_deadline_with_the_run_and_by_cancelling(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"))

        async def receive():
            run = await trainyard.aio.find_run()
            with self.assertRaisesRegex(trainyard.Timeout, "no message on '/metrics' within 0.3 s"):
                async for _ in run.subscribe("/metrics", timeout=0.3):
                    pass
            self.fake.silent = True
            with self.assertRaisesRegex(trainyard.Timeout, "did not answer 'nodes' within 0.2 s"):
                await run.request("nodes", timeout=0.2)
            self.fake.silent = False

            async def forever():
                async with run.subscribe("/metrics", timeout=None) as messages:
                    await messages.receive(None)

            publisher.gone.clear()
            task = asyncio.create_task(forever())
            while len([kind for kind, _ in publisher.heard if kind == b"Subscribe"]) < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertTrue(await asyncio.to_thread(publisher.gone.wait, 10))
            messages = run.subscribe("/metrics", timeout=None)
            await messages._begin()
            self.fake.end()
            self.assertEqual([message async for message in messages], [])
            with self.assertRaisesRegex(trainyard.RunEnded, "run mnist-1 has ended"):
                await run.topics()

        asyncio.run(receive())


class SignalTest(FakeTest):
    PROGRAM = """
import sys
sys.path.insert(0, {path!r})
import trainyard
print("here", flush=True)
with trainyard.find_run().subscribe("/metrics", timeout=None) as messages:
    for header, _ in messages:
        print(header.sequence, flush=True)
"""

    def start(self, *words):
        program = subprocess.Popen([sys.executable, "-B", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=pathlib.Path(__file__).parent)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait, 10)
        self.addCleanup(program.kill)
        return program

    def test_an_interrupted_program_unsubscribes(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=1)
        program = self.start("-c", self.PROGRAM.format(path=str(pathlib.Path(__file__).parent)))
        self.assertEqual([program.stdout.readline() for _ in range(2)], ["here\n", "0\n"])
        program.send_signal(signal.SIGINT)
        self.assertTrue(publisher.gone.wait(10))
        self.assertEqual(program.wait(10), -signal.SIGINT)
        self.assertRegex(program.stderr.read(), "KeyboardInterrupt\n$")

    def test_the_command_line_ends_quietly(self):
        publisher = self.fake.publish("/metrics", sample("Metrics"), count=1)
        program = self.start("-m", "trainyard", "echo", "/metrics")
        self.assertEqual(json.loads(program.stdout.readline())["sequence"], 0)
        program.send_signal(signal.SIGINT)
        self.assertEqual((program.wait(10), program.stderr.read()), (130, ""))
        self.assertTrue(publisher.gone.wait(10))

    def test_the_command_line_ends_quietly_when_nobody_reads_it(self):
        self.fake.publish("/metrics", sample("Metrics"), count=100_000)
        program = self.start("-m", "trainyard", "echo", "/metrics")
        program.stdout.readline()
        program.stdout.close()
        self.assertEqual((program.wait(30), program.stderr.read()), (1, ""))

    def test_the_command_line_prints_dataclasses(self):
        self.fake.publish("/metrics", sample("Metrics"))
        program = self.start("-m", "trainyard", "types", "/metrics")
        self.assertIn("@dataclass\nclass Metrics:\n", program.stdout.read())
        program = self.start("-m", "trainyard", "types", "/metric")
        self.assertRegex(program.stderr.read(), "^trainyard: no topic '/metric' .*did you mean '/metrics'")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
