#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the client with a front door that is imitated with pyzmq and its access control."""
import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import sys
import tempfile
import unittest

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq")
    sys.exit(77)
from zmq.auth.thread import ThreadAuthenticator

import trainyard
import trainyard.aio
from fake_run_test import Publisher, load_samples
from trainyard.door import key_folder


class AdmittedKeys:
    """Answers the authenticator of pyzmq."""

    def __init__(self, keys):
        self.keys = keys

    def callback(self, _domain, key):
        return key in self.keys


class PlayedDoor(Publisher):
    """An imitation of a front door: a registry and a gateway at one TCP address, which accepts only the keys in a
    list."""

    def __init__(self, pair, admitted, sample, **options):
        self.pair, self.admitted = pair, admitted
        super().__init__("tcp://127.0.0.1:*", sample, prepare=self.use_keys, **options)

    def use_keys(self, socket):
        self.guard = ThreadAuthenticator(socket.context)
        self.guard.start()
        self.guard.configure_curve_callback("door", AdmittedKeys(self.admitted))
        socket.curve_publickey, socket.curve_secretkey = self.pair
        socket.curve_server = True
        socket.zap_domain = b"door"

    def handle(self, frames):
        if len(frames) != 2:
            super().handle(frames)
            return
        question = json.loads(frames[1])
        publishers = [{"component": "a", "process": name, "endpoint": "door"} for name in ("main", "other")]
        known = {"run": {"run": "far-1", "name": "far", "file": "far.toml"},
                 "topics": [{"topic": "/metrics", "type": self.sample["type"], "subscribers": [], "latched": False,
                             "fingerprint": f"{self.sample['fingerprint']:016x}", "schema": self.sample["schema"],
                             "publishers": publishers}]}
        reply = {"id": question["id"], "ok": question["op"] in known, "result": known.get(question["op"]), "error": "no"}
        self.server.socket.send_multipart([frames[0], json.dumps(reply).encode()])


class DoorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.environ.get("XDG_CONFIG_HOME")
        self.addCleanup(lambda: os.environ.pop("XDG_CONFIG_HOME") if before is None
                        else os.environ.update(XDG_CONFIG_HOME=before))
        os.environ["XDG_CONFIG_HOME"] = folder.name
        self.keys = pathlib.Path(key_folder())
        self.keys.mkdir(parents=True, mode=0o700)
        self.host = zmq.curve_keypair()
        self.own = self.new_key("laptop", "watch")
        (self.keys / "node7.pub").write_text(f"trainyard-key host member {self.host[0].decode()}\n")

    def new_key(self, name, role):
        public, secret = zmq.curve_keypair()
        path = self.keys / f"{name}.key"
        path.write_text(f"trainyard-key-file 1\nname {name}\nrole {role}\npublic {public.decode()}\n"
                        f"secret {secret.decode()}\n")
        path.chmod(0o600)
        return public

    @contextlib.contextmanager
    def door(self, pair=None, **options):
        """Starts a front door that accepts the key of the laptop, and yields its address."""
        sample = next(sample for sample in load_samples() if sample["type"] == "Metrics")
        door = PlayedDoor(pair or self.host, [self.own], sample, **options)
        try:
            yield door.server.endpoint
        finally:
            door.guard.stop()
            door.stop()

    def refusal(self, name):
        with self.assertRaises(trainyard.TrainyardError) as caught:
            trainyard.find_run(name)
        return str(caught.exception)

    def test_a_run_behind_a_door_is_read_like_one_of_this_host(self):
        with self.door(count=20, ends=True) as address:
            with trainyard.find_run(f"laptop@{address}") as run:
                self.assertEqual((run.run, run.name, run.alive()), ("far-1", "far", True))
                with run.subscribe("/metrics") as messages:
                    self.assertEqual(len(list(itertools.islice(messages, 30))), 20)
                with self.assertRaisesRegex(trainyard.Refused, "nodes: no"):
                    run.nodes()
            # There is only one key, so its name can be left out.
            self.assertEqual(trainyard.find_run(address).registry, f"laptop@{address}")

    def test_asyncio(self):
        async def read(address):
            async with await trainyard.aio.find_run(f"laptop@{address}") as run:
                async with run.subscribe("/metrics") as messages:
                    return len([message async for _, message in messages])

        with self.door(count=20, ends=True) as address:
            self.assertEqual(asyncio.run(read(address)), 20)

    def test_a_lost_connection_ends_a_subscription(self):
        with contextlib.ExitStack() as stack:
            address = stack.enter_context(self.door(count=5))
            with trainyard.find_run(f"laptop@{address}") as run, run.subscribe("/metrics", timeout=None) as messages:
                next(messages)
                stack.close()
                with self.assertRaisesRegex(trainyard.RunEnded, "is lost, and nobody answers there"):
                    for _ in messages:
                        pass

    def test_who_is_not_admitted_and_who_is_not_the_host_is_told_so(self):
        self.new_key("other", "control")
        with self.door() as address:
            self.assertIn("this key is not admitted", self.refusal(f"other@{address}"))
            self.assertIn("which key? Write KEY@tcp://HOST:PORT; keys in", self.refusal(address))
        with self.door(pair=zmq.curve_keypair()) as address:
            self.assertIn("has not proved that it has the key", self.refusal(f"laptop@{address}"))
        self.assertIn("nobody answers", self.refusal(f"laptop@{address}"))
        (self.keys / "node7.pub").unlink()
        self.assertIn("the key of the host '127.0.0.1' is not known", self.refusal(f"laptop@{address}"))

    def test_an_address_that_is_none(self):
        for name in ("laptop@tcp://", "laptop@tcp://host", "@tcp://host:1", "../x@tcp://host:1", "a@tcp://host:port"):
            self.assertIn("is not the address of a run; it has the form KEY@tcp://HOST:PORT", self.refusal(name))

    def test_a_key_that_others_could_have_read_or_changed_is_refused(self):
        address = "laptop@tcp://127.0.0.1:1"
        path = self.keys / "laptop.key"
        path.chmod(0o640)
        self.assertIn("others may read or write it (mode 640)", self.refusal(address))
        path.chmod(0o600)
        self.keys.chmod(0o750)
        self.assertIn("others may read or write it (mode 750)", self.refusal(address))
        self.keys.chmod(0o700)
        path.rename(self.keys / "real")
        path.symlink_to("/dev/zero")
        self.assertIn("laptop.key: ", self.refusal(address))
        path.unlink()
        path.write_text("x" * 5000)
        path.chmod(0o600)
        self.assertIn("is not a key file", self.refusal(address))
        secret = (self.keys / "real").read_text().splitlines()[4].split(" ", 1)[1]
        path.write_text((self.keys / "real").read_text().replace("role watch", "role king"))
        self.assertNotIn(secret, self.refusal(address))


if __name__ == "__main__":
    unittest.main()
