#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `trainyard keys`: what the command writes, prints and refuses."""
import json
import stat
import unittest

from key_tests import KeyTest


class KeysTest(KeyTest):
    def test_a_key_is_for_its_owner_alone_and_its_secret_is_only_shown_on_request(self):
        said = self.trainyard("keys", "new", "laptop", "--role", "control")
        path = self.here / "trainyard" / "keys" / "laptop.key"
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        secret = next(line for line in path.read_text().splitlines() if line.startswith("secret ")).split(" ")[1]
        line = self.trainyard("keys", "show", "laptop")
        self.assertTrue(line.startswith("trainyard-key laptop control "), line)
        self.assertIn(line, said)
        listed = self.trainyard("keys", "list")
        for text in (said, line, listed, self.trainyard("keys", "list", "--json")):
            self.assertNotIn(secret, text)
        self.assertEqual(self.trainyard("keys", "show", "laptop", "--secret"), path.read_text())

    def test_the_list_shows_own_keys_and_those_of_others(self):
        self.exchange(("laptop", "watch"))
        keys = {key["name"]: key for key in json.loads(self.trainyard("keys", "list", "--json"))}
        self.assertEqual({name: (key["role"], key["own"]) for name, key in keys.items()},
                         {"host": ("member", True), "laptop": ("watch", False)})
        there = {key["name"]: key for key in json.loads(self.on_other_host("keys", "list", "--json"))}
        self.assertEqual(there["127.0.0.1"]["fingerprint"], keys["host"]["fingerprint"])
        self.assertEqual(there["laptop"]["fingerprint"], keys["laptop"]["fingerprint"])

    def test_mistakes_are_said_in_one_line(self):
        self.trainyard("keys", "new", "laptop")
        for words, code, text in (
                (("new", "laptop"), 2, "there is a key 'laptop' already"),
                (("new", "../laptop"), 2, "'../laptop' cannot name a key"),
                (("new", "b", "--role", "wach"), 2, "no role 'wach'; did you mean 'watch'?"),
                (("show", "labtop"), 3, "no key named 'labtop'"),
                (("show",), 2, "which key?"),
                (("show", "--file", "missing.key"), 3, "missing.key: there is no such key file"),
                (("add", "ssh-ed25519 AAAA me"), 2, "not the line of a key")):
            said = self.trainyard("keys", *words, code=code)
            self.assertIn(text, said)
            self.assertEqual(said.count("\n"), 1, said)

    def test_a_key_that_others_may_read_is_refused(self):
        self.trainyard("keys", "new", "laptop")
        path = self.here / "trainyard" / "keys" / "laptop.key"
        path.chmod(0o644)
        self.assertIn("others may read or write this key (mode 644)", self.trainyard("keys", "show", "laptop", code=2))
        path.chmod(0o600)
        path.parent.chmod(0o755)
        self.assertIn("others may use this folder of keys (mode 755)", self.trainyard("keys", "list", code=2))


if __name__ == "__main__":
    unittest.main()
