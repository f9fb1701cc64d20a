#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the front door of a real training run: programs with keys attach from another host, and programs without valid
keys are refused."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import struct
import sys
import time
import unittest

import zmq
from zmq.utils.monitor import recv_monitor_message

from key_tests import KeyTest, free_port

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "clients" / "python"))
import trainyard

VISITORS = (("laptop", "watch"), ("desk", "control"))
CONNECTIONS = 10_000


class FrontDoorTest(KeyTest):
    def setUp(self):
        super().setUp()
        self.exchange(*VISITORS)

    def open_door(self, *words, more=""):
        return self.train_with_door([name for name, _ in VISITORS], *words, more=more)

    def door(self, name="laptop"):
        return f"{name}@{self.address}"

    def tensors_in(self, value):
        """All tensors of a message."""
        if isinstance(value, trainyard.Tensor):
            return [value]
        values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        return [tensor for each in values for tensor in self.tensors_in(each)]

    def refusals(self, launch, what):
        """The last number of refusals that the front door has logged."""
        found = re.findall(rf"refused so far: {what}: (\d+)", launch.said())
        return int(found[-1]) if found else 0

    @contextlib.contextmanager
    def keys_of(self, home):
        """This process is a visitor with the keys of this folder."""
        before = os.environ.get("XDG_CONFIG_HOME")
        os.environ["XDG_CONFIG_HOME"] = str(home)
        try:
            yield
        finally:
            os.environ.pop("XDG_CONFIG_HOME")
            if before is not None:
                os.environ["XDG_CONFIG_HOME"] = before

    def secrets_of(self, home, name):
        lines = (home / "trainyard" / "keys" / f"{name}.key").read_text().splitlines()
        return {word: text.encode() for word, text in (line.split(" ", 1) for line in lines[3:])}

    def test_a_visitor_from_another_host_sees_what_one_of_this_host_sees(self):
        launch = self.open_door()
        self.assertRegex(launch.said(), rf"front_door: visitors connect to {self.address}, whose key is 'host' \(")
        here = json.loads(self.trainyard("topic", "list", "--json"))
        there = json.loads(self.on_other_host("topic", "list", "--json", "--run", self.door()))
        self.assertEqual([(t["topic"], t["type"], t["subscribers"]) for t in here],
                         [(t["topic"], t["type"], t["subscribers"]) for t in there])
        self.assertEqual({p["endpoint"] for t in there for p in t["publishers"]}, {"door"})
        self.assertEqual(self.trainyard("param", "get", "optimizer", "lr"),
                         self.on_other_host("param", "get", "optimizer", "lr", "--run", self.door()))
        lines = self.on_other_host("topic", "echo", "/metrics", "--count", "5", "--json", "--run", self.door())
        steps = [json.loads(line)["step"] for line in lines.splitlines()]
        self.assertEqual(len(steps), 5)
        self.assertEqual(steps, sorted(steps))
        # The model was announced before anybody subscribed.
        model = self.on_other_host("topic", "echo", "/model", "--count", "1", "--run", self.door())
        self.assertIn("mlp", model)
        self.assertIn("accelerator_host", self.on_other_host("profile", self.door(), "--timeout", "120"))
        self.assertIn("the viewer cannot show a run on another host", self.on_other_host("view", self.door(), code=2))

    def test_the_bytes_of_tensors_and_two_visitors_of_one_topic(self):
        self.open_door()
        with self.keys_of(self.there), trainyard.find_run(self.door()) as run, trainyard.find_run(self.door("desk")) as other:
            with run.subscribe("/batches", payloads="inline", window=4) as with_bytes, other.subscribe("/batches") as plain:
                for (header, message), (_, described) in itertools.islice(zip(with_bytes, plain), 5):
                    self.assertEqual(header.topic, "/batches")
                    self.assertEqual(set(message), set(described))
                    self.assertGreater(sum(len(bytes(tensor["data"])) for tensor in self.tensors_in(message)), 0)

    def test_a_key_that_may_watch_changes_nothing_and_one_for_control_does(self):
        launch = self.open_door()
        before = self.trainyard("param", "get", "optimizer", "lr")
        refused = ("the key 'laptop' has the role watch, which may change nothing")
        self.assertIn(refused, self.on_other_host("param", "set", "optimizer", "lr", "0.5", "--run", self.door(), code=2))
        self.assertIn(refused, self.on_other_host("pause", "--run", self.door(), code=2))
        self.assertIn(refused, self.on_other_host("service", "call", "strategy_manager", "stop", "--run", self.door(),
                                                  code=2))
        self.assertEqual(self.trainyard("param", "get", "optimizer", "lr"), before)
        self.on_other_host("param", "set", "optimizer", "lr", "0.5", "--run", self.door("desk"))
        self.assertIn("0.5", self.trainyard("param", "get", "optimizer", "lr"))
        self.assertIn("cannot publish topics", self.on_other_host(
            "topic", "pub", "/note", '{"text": "hello"}', "--run", self.door("desk"), code=2))
        with self.keys_of(self.there), trainyard.find_run(self.door("desk")) as run:
            with self.assertRaisesRegex(trainyard.Refused, "a visitor from another host cannot publish topics"):
                run.request("announce", topic="/note", schema="Note {\n  string text\n}\n", endpoint="ipc:///tmp/note",
                            publisher="desk")
        self.wait_for(lambda: self.refusals(launch, "requests of visitors that may only watch") >= 3, "refusals")
        # The role in the visitor's own file counts for nothing.
        path = self.there / "trainyard" / "keys" / "laptop.key"
        path.write_text(path.read_text().replace("role watch", "role control"))
        self.assertIn(refused, self.on_other_host("param", "set", "optimizer", "lr", "0.1", "--run", self.door(), code=2))

    def test_strangers_are_told_why_they_are_not_admitted(self):
        launch = self.open_door()
        stranger = self.folder / "stranger"
        line = self.trainyard("keys", "show", "host").strip()
        self.on_other_host("keys", "new", "laptop", home=stranger)
        self.assertIn("the key of no host is known",
                      self.on_other_host("node", "list", "--run", self.door(), code=3, home=stranger))
        self.on_other_host("keys", "add", line, home=stranger)
        self.assertRegex(self.on_other_host("node", "list", "--run", self.door(), code=2, home=stranger),
                         r"does not admit the key 'laptop' \([0-9a-f-]{19}\); its owner has to admit")
        self.wait_for(lambda: self.refusals(launch, "connections without an admitted key") >= 1, "a refusal")
        # Somebody else at the address of the run.
        other = self.folder / "other"
        self.on_other_host("keys", "new", "laptop", home=other)
        self.on_other_host("keys", "new", "impostor", "--role", "member", home=stranger)
        self.on_other_host("keys", "add", self.on_other_host("keys", "show", "impostor", home=stranger).strip(),
                           home=other)
        self.assertIn("has not proved that it has this key",
                      self.on_other_host("node", "list", "--run", self.door(), code=2, home=other))
        port = free_port()
        self.assertIn("nobody answers at", self.on_other_host("node", "list", "--run", f"laptop@tcp://127.0.0.1:{port}",
                                                              code=3))
        with self.keys_of(stranger), self.assertRaisesRegex(trainyard.Refused, "this key is not admitted"):
            trainyard.find_run(self.door())

    def knock(self, context, **options):
        """Connects with these options. Returns the events of the handshake until it succeeds or 2 s are over."""
        probe = context.socket(zmq.DEALER)
        probe.linger = 0
        for name, value in options.items():
            setattr(probe, name, value)
        monitor = probe.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
                                           | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_DISCONNECTED)
        probe.connect(self.address)
        probe.send(b'{"id": 1, "op": "run"}')
        events = []
        deadline = time.monotonic() + 2
        while zmq.EVENT_HANDSHAKE_SUCCEEDED not in events and monitor.poll(max(0, int((deadline - time.monotonic()) * 1000))):
            events.append(recv_monitor_message(monitor)["event"])
        answered = bool(probe.poll(100))
        probe.disable_monitor()
        monitor.close(0)
        probe.close(0)
        return events, answered

    def test_no_other_mechanism_and_no_other_key_is_heard(self):
        launch = self.open_door()
        host = self.secrets_of(self.here, "host")["public"]
        own = self.secrets_of(self.there, "laptop")
        public, secret = zmq.curve_keypair()
        with zmq.Context() as context:
            attacks = {
                "NULL": {},
                "PLAIN": {"plain_username": b"laptop", "plain_password": b"sesame"},
                "a key of nobody": {"curve_publickey": public, "curve_secretkey": secret, "curve_serverkey": host},
                "the public key of somebody without the secret": {
                    "curve_publickey": own["public"], "curve_secretkey": secret, "curve_serverkey": host},
                "another host's key": {"curve_publickey": own["public"], "curve_secretkey": own["secret"],
                                       "curve_serverkey": public},
            }
            for name, options in attacks.items():
                with self.subTest(name):
                    events, answered = self.knock(context, **options)
                    self.assertNotIn(zmq.EVENT_HANDSHAKE_SUCCEEDED, events)
                    self.assertFalse(answered)
            events, answered = self.knock(context, curve_publickey=own["public"], curve_secretkey=own["secret"],
                                          curve_serverkey=host)
            self.assertIn(zmq.EVENT_HANDSHAKE_SUCCEEDED, events)
        self.wait_for(lambda: self.refusals(launch, "connections without an admitted key") >= len(attacks), "refusals")
        self.assertIsNone(launch.poll())

    def test_ten_thousand_connections_and_silence_and_nonsense_harm_nobody(self):
        launch = self.open_door()
        step = self.step()
        with self.keys_of(self.there):
            visitor = trainyard.find_run(self.door())
            visitor.nodes()  # Connects, while the keys are known.
        self.addCleanup(visitor.close)
        nonsense = [b"", b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 16,
                    b"\xff" + struct.pack(">Q", 1) + b"\x7f\x03\x00CURVE" + bytes(44),
                    b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48) + b"\x04\x26\x05READY" + bytes(31)]
        silent = []
        try:
            for number in range(CONNECTIONS):
                if number % 1000 == 0:
                    self.assertTrue(visitor.nodes(), "one who was there before is still served")
                stranger = socket.socket()
                stranger.settimeout(5)
                try:
                    stranger.connect(("127.0.0.1", self.port))
                    stranger.send(nonsense[number % len(nonsense)])
                except OSError:
                    pass  # The door has closed the connection after the first words of nonsense.
                if number % 50 == 0 and len(silent) < 200:
                    silent.append(stranger)
                else:
                    stranger.close()
        finally:
            for stranger in silent:
                stranger.close()
        self.wait_for(lambda: self.refusals(launch, "connections without an admitted key") > 0, "refusals")

        def is_served():
            with self.keys_of(self.there), contextlib.suppress(trainyard.TrainyardError):
                with trainyard.find_run(self.door()) as run:
                    return run.nodes()
            return None

        self.wait_for(is_served, "the door, after the storm")
        self.wait_for(lambda: self.step() > step, "steps")

    def test_a_visitor_that_does_not_read_delays_nobody(self):
        self.open_door()
        host = self.secrets_of(self.here, "host")["public"]
        own = self.secrets_of(self.there, "laptop")
        with self.keys_of(self.there), zmq.Context() as context:
            lazy = context.socket(zmq.DEALER)
            lazy.linger, lazy.rcvhwm = 0, 1
            lazy.curve_publickey, lazy.curve_secretkey, lazy.curve_serverkey = own["public"], own["secret"], host
            lazy.connect(self.address)
            body, _ = trainyard.session._SUBSCRIBE.encode({  # pylint: disable=protected-access
                "subscription": 0, "topic": "/batches", "edge": 0xFFFFFFFF, "fingerprint": 0, "policy": "drop_oldest",
                "window_messages": 1024, "window_bytes": 64 << 20, "payloads": "inline", "process_index": 0})
            lazy.send_multipart([b"", b"Subscribe", body])
            for number in range(200):
                lazy.send(json.dumps({"id": number, "op": "topics"}).encode())
            with trainyard.find_run(self.door("desk")) as run, run.subscribe("/metrics") as metrics:
                steps = [message["step"] for _, message in itertools.islice(metrics, 200)]
            self.assertEqual(len(steps), 200)
            lazy.close(0)

    def test_the_end_of_a_run_is_the_end_of_a_subscription(self):
        launch = self.open_door()
        with self.keys_of(self.there), trainyard.find_run(self.door()) as run:
            with run.subscribe("/metrics", timeout=120.0) as metrics:
                next(metrics)
                self.trainyard("service", "call", "strategy_manager", "stop")
                for _ in metrics:
                    pass  # Until the door says that no more messages follow.
        launch.end()
        self.assertEqual(launch.returncode, 0, launch.said())

    def test_a_door_that_is_killed_ends_its_visitors_and_not_the_run(self):
        self.open_door(more='process = "door"\nrespawn = { policy = "always", delay_ms = 10 }\n')
        step = self.step()
        with self.keys_of(self.there), trainyard.find_run(self.door()) as run:
            with run.subscribe("/metrics") as metrics:
                next(metrics)
                pid = self.pid_of("front_door")
                os.kill(pid, signal.SIGKILL)
                self.wait_for(lambda: self.pid_of("front_door") not in (0, pid), "a new door")
                # The subscription goes on at the new door.
                killed_at = self.step()
                for _, message in metrics:
                    if message["step"] > killed_at:
                        break
        self.wait_for(lambda: self.step() > step, "steps")

    def test_without_keys_nothing_starts(self):
        for parameters, text in (
                ("", "no visitor is admitted: name their keys in the parameter `visitors`"),
                ('params.visitors = ["nobody"]', "no key named 'nobody'"),
                ('params.visitors = ["laptop"]\nparams.key = "labtop"', "no key of your own named 'labtop'"),
                ('params.visitors = ["laptop"]\nparams.key_file = "open.key"', "others may read or write this key"),
                ('params.allow_list = "open.list"', "others may change this list of keys (mode 666)"),
                ('params.allow_list = "bad.list"', "bad.list:2: not the line of a key")):
            key = self.folder / "open.key"
            if not key.exists():
                self.trainyard("keys", "new", "open", "--role", "member", "--file", key)
                key.chmod(0o640)
                (self.folder / "open.list").touch()
                (self.folder / "open.list").chmod(0o666)
                (self.folder / "bad.list").write_text("# visitors\nlaptop watch\n")
            (self.folder / "bad.toml").write_text(
                '[run]\nname = "bad"\n[component.front_door]\nplugin = "front_door"\nparams.port = 0\n' + parameters)
            self.assertIn(text, self.finish("bad.toml", code=1))


if __name__ == "__main__":
    unittest.main()
