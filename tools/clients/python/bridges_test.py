# SPDX-License-Identifier: Apache-2.0
"""Tests the parts of a bridge without a run: the outbox, and the courier with services that fail in every way."""
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import unittest
from unittest import mock

sys.dont_write_bytecode = True
try:
    import zmq  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import trainyard
from trainyard.bridges import courier as courier_module
from trainyard.bridges import files as files_module
from trainyard.bridges import outbox as outbox_module
from trainyard.bridges.courier import Courier
from trainyard.bridges.facts import how_it_ended, recorded_facts
from trainyard.bridges.mlflow import _name, _text
from trainyard.bridges.outbox import Outbox
from trainyard.bridges.records import end_record, metrics_record, text_record
from trainyard.bridges.service import Facts, Service

DEADLINE_S = 120
FACTS = Facts("small-1", "small", 1_000_000_000, "out", {"optimizer.lr": 0.1}, {"host": "here"})


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "out", "outbox", "tracker", "small-1")
        self.open_outbox = None

    def outbox(self, most_bytes=1 << 30):
        """Opens the outbox of a process that has been killed."""
        if self.open_outbox is not None:
            self.kill()
        self.open_outbox = Outbox(self.folder, most_bytes)
        return self.open_outbox

    def kill(self):
        """Imitates that the process is killed: what has been written remains on disk, and the lock is released."""
        outbox = self.open_outbox
        outbox.close(DEADLINE_S)
        outbox._lock_file.close()
        self.open_outbox = None

    def tearDown(self):
        if self.open_outbox is not None:
            self.kill()

    def settle(self, outbox, count):
        """Waits until `count` records are on disk."""
        with outbox._changed:
            self.assertTrue(outbox._changed.wait_for(lambda: outbox.pending == count and not outbox._waiting, DEADLINE_S))


def record(number):
    return {"kind": "metrics", "number": number}


class OutboxTest(FolderTest):
    def test_it_does_what_a_list_does(self):
        for seed in range(40):
            draw = random.Random(seed)
            self.folder += str(seed)
            outbox, expected, numbers = self.outbox(), [], 0
            with mock.patch.multiple(files_module, _FILE_BYTES=draw.choice([1, 100, 1 << 20]),
                                     _READ_BYTES=draw.choice([1, 100, 1 << 20])):
                for _ in range(60):
                    what = draw.random()
                    if what < 0.5:
                        outbox.put(record(numbers))
                        expected.append(record(numbers))
                        numbers += 1
                    elif what < 0.9:
                        self.settle(outbox, len(expected))
                        taken = outbox.take(draw.randint(1, 5), 0)
                        self.assertEqual(taken, expected[:len(taken)])
                        self.assertEqual(bool(taken), bool(expected))
                        if draw.random() < 0.7:
                            outbox.confirm()
                            del expected[:len(taken)]
                    else:
                        outbox = self.outbox()
                        self.assertEqual(outbox.pending, len(expected))
                self.settle(outbox, len(expected))
            self.assertEqual(outbox.state["lost"], 0)
            self.assertEqual(outbox.state["delivered"], numbers - len(expected))
            files = list(pathlib.Path(self.folder).glob("*.jsonl"))
            on_disk = sum(path.read_bytes().count(b"\n") for path in files)
            self.assertGreaterEqual(on_disk, len(expected))

    def test_files_that_were_delivered_are_removed(self):
        outbox = self.outbox()
        with mock.patch.object(files_module, "_FILE_BYTES", 50):
            for number in range(100):
                outbox.put(record(number))
                self.settle(outbox, 1)
                self.assertEqual(outbox.take(9, 0), [record(number)])
                outbox.confirm()
                self.assertLessEqual(len(list(pathlib.Path(self.folder).glob("*.jsonl"))), 2)
        self.assertLess(outbox._files.bytes, 200)

    def test_what_a_service_may_have_lost_is_kept(self):
        self.outbox()
        self.kill()
        outbox = self.open_outbox = Outbox(self.folder, 1 << 30, 3)
        for number in range(10):
            outbox.put(record(number))
        self.settle(outbox, 10)
        for number in range(8):
            self.assertEqual(outbox.take(1, 0), [record(number)])
            outbox.confirm()
        self.assertEqual((outbox.undelivered(), outbox.delivered()), (2, 8))
        self.kill()
        outbox = self.open_outbox = Outbox(self.folder, 1 << 30, 3)
        self.assertEqual((outbox.undelivered(), outbox.delivered()), (5, 5))
        self.assertEqual(outbox.take(4, 0), [record(number) for number in range(5, 9)])
        outbox.confirm()
        self.assertEqual(outbox.take(4, 0), [record(9)])
        outbox.confirm(keep=False)
        self.assertEqual((self.outbox().pending, self.open_outbox.delivered()), (0, 10))

    def test_half_a_line_of_a_killed_process_is_left_out(self):
        outbox = self.outbox()
        outbox.put(record(1))
        self.settle(outbox, 1)
        self.kill()
        with open(f"{self.folder}/1.jsonl", "ab") as file:
            file.write(b'{"kind":"met')
        outbox = self.outbox()
        self.assertEqual(outbox.pending, 1)
        outbox.put(record(2))
        self.settle(outbox, 2)
        found = []
        while taken := outbox.take(10, 0):
            found += taken
            outbox.confirm()
        self.assertEqual(found, [record(1), record(2)])

    def test_a_damaged_line_is_counted_and_left_out(self):
        os.makedirs(self.folder)
        pathlib.Path(self.folder, "1.jsonl").write_text('{"kind": 1}\nnonsense\n5\n{"kind": 2}\n')
        outbox = self.outbox()
        self.assertEqual(outbox.take(10, 0), [{"kind": 1}, {"kind": 2}])
        outbox.confirm()
        self.assertEqual((outbox.pending, outbox.state["lost"]), (0, 2))

    def test_what_is_too_much_is_lost_and_counted_but_never_the_end(self):
        outbox = self.outbox(most_bytes=10)
        outbox.put(record(1))
        self.settle(outbox, 1)
        for number in range(2, 5):
            outbox.put(record(number))
        self.settle(outbox, 1)
        self.assertEqual((outbox.state["lost"], outbox.trouble), (3, "0 MiB are undelivered"))
        end = end_record("ended", "")
        outbox.put(end)
        self.settle(outbox, 2)
        self.assertEqual(outbox.take(9, 0), [record(1), end])
        self.assertTrue(self.outbox().has_end)

    def test_a_full_disk_loses_records_and_the_rest_goes_on(self):
        outbox = self.outbox()
        outbox.put(record(0))
        self.settle(outbox, 1)

        class FullDisk:
            """Imitates a full disk: writes a part of the lines, and then fails."""

            def __init__(self, file):
                self.file, self.truncate, self.room, self.close = file, file.truncate, 100, file.close

            def write(self, data):
                if self.room == 0:
                    raise OSError(28, "No space left on device")
                written = self.file.write(data[:self.room])
                self.room -= written
                return written

        file, outbox._files._file = outbox._files._file, FullDisk(outbox._files._file)
        with outbox._changed:
            for number in range(1, 10):
                outbox.put(record(number))
        self.settle(outbox, 1)
        self.assertEqual((outbox.trouble, outbox.state["lost"]), ("[Errno 28] No space left on device", 9))
        outbox._files._file = file
        outbox.put(record(10))
        self.settle(outbox, 2)
        self.assertEqual(outbox.take(9, 0), [record(0), record(10)])

    def test_while_the_disk_hangs_putting_does_not(self):
        hangs, outbox = threading.Event(), self.outbox()
        with mock.patch.object(outbox_module, "_MOST_WAITING", 10), \
                mock.patch.object(files_module.LineFiles, "append", lambda *_: hangs.wait(DEADLINE_S) and None):
            for number in range(100):
                outbox.put(record(number))
            self.assertEqual(len(outbox._waiting), 10)
            hangs.set()
            outbox.close(DEADLINE_S)
        self.assertGreaterEqual(outbox.state["lost"], 80)

    def test_only_one_process_uses_it(self):
        self.outbox()
        with self.assertRaisesRegex(trainyard.TrainyardError, "is in use; its records are being delivered"):
            Outbox(self.folder, 1)

    def test_numbers_that_are_not_finite_pass(self):
        outbox = self.outbox()
        outbox.put({"kind": "metrics", "values": [float("inf"), float("-inf")]})
        outbox.put({"kind": "metrics", "values": float("nan"), "text": "ü\n\ud800\u2028"})
        self.settle(outbox, 2)
        first, second = outbox.take(9, 0)
        self.assertEqual(first["values"], [float("inf"), float("-inf")])
        self.assertNotEqual(second["values"], second["values"])
        self.assertEqual(second["text"], "ü\n\ud800\u2028")


class Spy:
    """A log that keeps its records."""

    def __init__(self):
        self.lines, self.changed = [], threading.Condition()

    def add(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def info(self, text):
        self.add(f"info: {text}")

    def warning(self, text):
        self.add(f"warning: {text}")

    def wait(self, words):
        with self.changed:
            if not self.changed.wait_for(lambda: any(words in line for line in self.lines), DEADLINE_S):
                raise AssertionError(f"{words!r} is not in {self.lines}")


class FakeService(Service):
    title, package, extra = "Fake", "json", "json"

    def __init__(self):
        self.told, self.errors, self.opened, self.ended = [], [], [], []
        self.hangs = threading.Event()
        self.hangs.set()
        self.reached = threading.Event()
        self.refuse = lambda record: ""

    def _maybe(self):
        self.reached.set()
        if not self.hangs.wait(DEADLINE_S):
            raise AssertionError("nobody let it go on")
        if self.errors:
            raise self.errors.pop(0)

    def open(self, facts, known):
        self._maybe()
        self.opened.append((facts, known))
        return known or "id"

    def place(self):
        return "http://fake"

    def send(self, records):
        self._maybe()
        self.told += [one for one in records if not self.refuse(one)]
        return [why for why in map(self.refuse, records) if why]

    def close(self, end):
        self._maybe()
        self.ended.append(end["state"])


class CourierTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.service, self.log = FakeService(), Spy()
        for name in ("_FIRST_PAUSE_S", "_LONGEST_PAUSE_S"):
            patch = mock.patch.object(courier_module, name, 0.01)
            patch.start()
            self.addCleanup(patch.stop)

    def courier(self):
        courier = Courier(self.outbox(), self.service, lambda: FACTS, self.log, 0.0, "redo")
        courier.start()
        return courier

    def put(self, *numbers):
        for number in numbers:
            self.open_outbox.put(record(number))

    def numbers(self):
        return [one["number"] for one in self.service.told]

    def test_everything_is_delivered_once_and_in_order(self):
        courier = self.courier()
        self.put(*range(2000))
        self.assertTrue(courier.finish(end_record("failed", "why"), DEADLINE_S))
        self.assertEqual(self.numbers(), list(range(2000)))
        self.assertEqual((self.service.opened, self.service.ended), ([(FACTS, "")], ["failed"]))
        self.assertEqual(self.log.lines, ["info: Fake: the metrics go to http://fake",
                                          "info: 2001 records were delivered to Fake: http://fake"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["lock", "outbox.json"])

    def test_a_service_that_fails_is_tried_again_and_told_once(self):
        self.service.errors = [ValueError("so\nand so")] * 3 + [OSError()]
        courier = self.courier()
        self.put(1)
        self.log.wait("Fake takes records again")
        self.put(2)
        self.assertTrue(courier.finish(end_record("ended", ""), DEADLINE_S))
        self.assertEqual(self.numbers(), [1, 2])
        warnings = [line for line in self.log.lines if line.startswith("warning")]
        self.assertEqual(warnings, [f"warning: Fake takes no records (ValueError: so); training goes on, the records are "
                                    f"kept in {self.folder}, and they are tried again"])

    def test_the_end_waits_no_longer_than_it_may(self):
        self.service.hangs.clear()
        courier = self.courier()
        self.put(1, 2)
        self.assertFalse(courier.finish(end_record("ended", ""), 0.05))
        self.assertEqual(self.log.lines[-1], f"warning: 3 records, after 0 others, did not get to Fake (it did not answer "
                                             f"within 0.05 s). They are kept in {self.folder}. Deliver them later with: redo")
        self.service.hangs.set()
        courier._thread.join(DEADLINE_S)

    def test_a_dead_service_is_tried_once_more_at_the_end(self):
        self.service.errors = [ConnectionError("away")] * 1000
        courier = self.courier()
        self.put(1)
        self.log.wait("takes no records (ConnectionError: away)")
        self.assertFalse(courier.finish(end_record("ended", ""), DEADLINE_S))
        self.assertIn("2 records, after 0 others, did not get to Fake (ConnectionError: away)", self.log.lines[-1])
        self.assertGreater(len(self.service.errors), 0)

    def test_the_rest_is_delivered_by_another_process_in_the_same_run(self):
        courier = self.courier()
        self.put(1)
        self.log.wait("the metrics go to")
        with self.open_outbox._changed:
            self.open_outbox._changed.wait_for(lambda: self.open_outbox.pending == 0, DEADLINE_S)
        self.service.errors = [ConnectionError("away")] * 10**6
        self.put(2, 3)
        self.assertFalse(courier.finish(end_record("interrupted", ""), DEADLINE_S))
        self.service.errors = []
        courier = self.courier()
        self.assertTrue(self.open_outbox.has_end)
        self.assertTrue(courier.finish(None, DEADLINE_S))
        self.assertEqual(self.numbers(), [1, 2, 3])
        self.assertEqual([known for _, known in self.service.opened], ["", "id"])
        self.assertEqual(self.service.ended, ["interrupted"])

    def test_what_is_refused_is_counted_and_the_rest_arrives(self):
        self.service.refuse = lambda one: "no sevens" if one["number"] % 10 == 7 else ""
        courier = self.courier()
        self.put(*range(30))
        self.assertTrue(courier.finish(end_record("ended", ""), DEADLINE_S))
        self.assertEqual(len(self.numbers()), 27)
        self.assertEqual(self.log.lines[-1], "info: 31 records were delivered to Fake: http://fake; 3 were refused")
        self.assertEqual(sum("Fake refused a record, and it is left out: no sevens" in line for line in self.log.lines), 1)

    def test_a_silent_service_is_told_once(self):
        self.service.hangs.clear()
        with mock.patch.object(courier_module, "_SLOW_S", 0.0):
            courier = self.courier()
            self.assertTrue(self.service.reached.wait(DEADLINE_S))
            courier.watch()
            courier.watch()
        self.assertEqual(self.log.lines, [f"warning: Fake has not answered for 0 s; training goes on, and the records are "
                                          f"kept in {self.folder}"])
        self.service.hangs.set()
        courier.finish(end_record("ended", ""), DEADLINE_S)

    def test_lost_records_are_told_once(self):
        courier = self.courier()
        self.open_outbox.trouble = "the disk is full\x1b[31m"
        courier.watch()
        courier.watch()
        self.assertEqual(sum("records for Fake are lost: the disk is full\\x1b[31m" in one for one in self.log.lines), 1)
        courier.finish(end_record("ended", ""), DEADLINE_S)

    def test_words_of_a_service_do_not_reach_the_terminal_as_they_are(self):
        self.service.errors = [ValueError("\x1b[2J" + "x" * 1000)]
        courier = self.courier()
        self.log.wait("takes no records")
        line = next(line for line in self.log.lines if "takes no records" in line)
        self.assertNotIn("\x1b", line)
        self.assertLess(len(line), 600)
        courier.finish(end_record("ended", ""), DEADLINE_S)


class RecordsTest(FolderTest):
    def test_records_are_made_from_messages(self):
        made = metrics_record({"step": 1, "total_steps": 9, "epoch": 2, "stage": "train", "time_ns": 3, "samples": 4,
                               "unit": "sample", "units": 4, "values": [{"name": "loss", "value": 0.5}]})
        self.assertEqual(made, {"kind": "metrics", "stage": "train", "step": 1, "epoch": 2, "samples": 4, "time_ns": 3,
                                "values": {"loss": 0.5}})
        made = text_record({"step": 1, "title": "a", "text": "b" * ((1 << 20) + 5)})
        self.assertTrue(made["text"].endswith("b\n[5 more characters]"))

    def test_names_and_values_become_what_mlflow_allows(self):
        self.assertEqual(_name("train/lo$s (ü)"), "train/lo_s ___")
        self.assertEqual(len(_name("x" * 999)), 250)
        self.assertEqual([_text("a"), _text([1, 2]), _text(True), _text(0.1)], ["a", "[1, 2]", "true", "0.1"])

    def test_the_record_of_a_launch_says_what_the_run_was(self):
        output = os.path.dirname(os.path.dirname(os.path.dirname(self.folder)))
        launch = pathlib.Path(output, "launches", "2")
        launch.mkdir(parents=True)
        record = {"run": "small-1", "name": "small", "state": "running", "reason": "", "started_ns": 5, "file": "a.toml",
                  "arguments": ["x=1"], "seed": 7, "ranks": 2, "versions": {"trainyard": "1"}, "git": None, "host": "h",
                  "pid": os.getpid(), "start_ticks": 1}
        (launch / "launch.json").write_text(json.dumps(record))
        (launch / "plan.json").write_text(json.dumps({"components": [
            {"name": "rank0/optimizer", "parameters": {"lr": 1}}, {"name": "rank1/optimizer", "parameters": {"lr": 1}},
            {"name": "logger", "parameters": {"a": {"b": [1]}}}]}))
        facts = recorded_facts(output, "small-1")
        self.assertEqual(facts.hyperparameters, {"seed": 7, "ranks": 2, "optimizer.lr": 1, "logger.a.b": [1]})
        self.assertEqual((facts.name, facts.key, facts.details["arguments"]), ("small", "small-1-0", "x=1"))
        self.assertEqual(how_it_ended(output, "small-1", 0), ("killed", "no end was recorded"), "another process")
        (launch / "launch.json").write_text(json.dumps({**record, "state": "failed", "reason": "why"}))
        self.assertEqual(how_it_ended(output, "small-1", 0), ("failed", "why"))
        with self.assertRaisesRegex(trainyard.TrainyardError, "launches has no record of the run other"):
            recorded_facts(output, "other")


if __name__ == "__main__":
    unittest.main()
