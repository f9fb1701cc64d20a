#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the viewer with real training runs: changes and kills them, and compares what the viewer reports with what the
runs have written. Needs TRAINYARD_PROGRAM and TRAINYARD_PLUGIN_PATH."""
import json
import os
import pathlib
import re
import signal
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from launches import DEADLINE_S, TRAINYARD, TrainingTest
from page_client import Page, Refused


class LiveRunTest(TrainingTest):
    def view(self, *arguments):
        viewer = self.program(TRAINYARD, "view", *arguments)
        self.wait_for(lambda: "\n" in viewer.said() or viewer.poll() is not None, "the address of the page")
        url = viewer.said().partition("\n")[0]
        self.assertRegex(url, r"^http://127\.0\.0\.1:[0-9]+/\?token=[A-Za-z0-9_-]{43}$")
        return viewer, url

    def page(self, url):
        made = Page(url)
        self.addCleanup(made.close)
        return made

    def run_on(self, page):
        """The name of the run, when the viewer has found it."""
        return self.wait_for(lambda: page.ask("runs"), "the run is found")[0]["run"]

    def run_json(self):
        return json.loads(next(self.folder.glob("trainyard-*/*/run.json")).read_text(encoding="utf-8"))

    def state(self, page, run):
        return next(each for each in page.ask("runs") if each["run"] == run)

    def graph(self, page, run):
        """The graph, which exists as soon as the run has answered."""
        page.ask("watch", run=run, what=["graph"])
        return page.push("graph")["graph"]

    def loss(self, page, run, **more):
        return page.ask("curve", run=run, stage="train", name="loss", x="step", points=8000, **more)

    @staticmethod
    def complete(curve):
        """The curve if it has every step from the first on once. What was missed as a message comes from the file."""
        return curve if curve["from"] == 1 and curve["rows"] == curve["to"] else None

    def test_a_late_viewer_shows_everything_and_can_change_the_run(self):
        self.train()
        _, url = self.view("seen")
        page = self.page(url)
        self.assertIn("<html", page.html)
        self.assertEqual(page.ask("hello")["role"], "control")
        run = self.run_on(page)
        self.assertRegex(run, "^seen-")
        described = self.wait_for(lambda: (now := self.state(page, run))["state"] == "running" and now)
        self.assertEqual((described["live"], described["source"]), (True, "live"))
        self.assertEqual(described["directory"], str((self.folder / "out").resolve()))

        # Every step of the run is there exactly once, from the first on, although the viewer came late.
        self.wait_for(lambda: any(each["rows"] > 200 for each in page.ask("series", run=run)))
        curve = self.wait_for(lambda: self.complete(self.loss(page, run)))
        self.assertTrue(all(low <= mean + 1e-12 and mean <= high + 1e-12
                            for low, mean, high in zip(curve["low"], curve["mean"], curve["high"])))

        # The graph: every component, with rates, and pushes of it.
        page.ask("watch", run=run, what=["graph", "curves", "parameters", "log"])
        self.assertEqual(page.push("graph")["run"], run)
        graph = self.wait_for(lambda: (now := page.ask("graph", run=run)) and
                           any(each["rate_hz"] for each in now["edges"]) and now)
        self.assertLessEqual({"optimizer", "data_loader", "accelerator_host", "strategy_manager", "logger"},
                             {each["name"] for each in graph["components"]})
        self.assertTrue(all(each["state"] == "active" for each in graph["components"]))
        self.assertGreater(graph["processes"][0]["memory_bytes"], 1 << 20)
        # Who waits for whom: while somebody looks, every component accounts for its time.
        graph = self.wait_for(lambda: (now := page.ask("graph", run=run))["bottlenecks"] and now)
        for each in graph["components"]:
            self.assertLessEqual(each["busy"] + sum(wait["share"] for wait in each["waiting"]), 1.0001, each)
        host = next(each for each in graph["components"] if each["name"] == "accelerator_host")
        self.assertIn("optimizer", [wait["for"] for wait in host["waiting"]])
        self.assertLessEqual({each["component"] for each in graph["bottlenecks"]},
                             {each["name"] for each in graph["components"]})
        self.assertGreater(page.push("curves")["stages"]["train"], 0)

        # A parameter that the page sets changes the run: its own reports say so.
        parameters = {each["component"]: each["parameters"] for each in page.ask("parameters", run=run)}
        self.assertIn("lr", [each["name"] for each in parameters["optimizer"]])
        answer = page.ask("set_parameter", run=run, component="optimizer", name="lr", value=0.0625)
        self.assertEqual(answer["value"], 0.0625)
        rates = self.wait_for(lambda: (now := page.ask("curve", run=run, stage="train", name="learning_rate", x="step"))
                           ["mean"][-1] == 0.0625 and now)
        self.assertEqual(rates["mean"][0], 0.001)
        change = page.ask("changes", run=run)[0]
        self.assertEqual((change["component"], change["name"], change["from"], change["to"], change["who"]),
                         ("optimizer", "lr", 0.001, 0.0625, "viewer (control)"))
        self.assertEqual(page.push("parameters")["change"], change)
        self.assertEqual(json.loads((self.folder / "out/changes.jsonl").read_text(encoding="utf-8")), change)
        with self.assertRaisesRegex(Refused, "lr"):
            page.ask("set_parameter", run=run, component="optimizer", name="lr", value="fast")
        self.wait_for(lambda: any("lr" in each["text"] for each in page.ask("log", run=run)["records"]))

        # Pause and go on.
        page.ask("act", run=run, action="pause")
        self.assertEqual(self.state(page, run)["state"], "paused")
        self.wait_for(lambda: (before := self.state(page, run)["step"], time.sleep(0.3)) and
                   self.state(page, run)["step"] == before)
        paused_at = self.state(page, run)["step"]
        page.ask("act", run=run, action="go_on")
        self.wait_for(lambda: self.state(page, run)["step"] > paused_at)
        self.assertEqual(self.state(page, run)["state"], "running")
        self.assertIn("text", page.ask("act", run=run, action="checkpoint"))
        self.assertEqual([(each["name"], each["who"]) for each in page.ask("changes", run=run)[1:]],
                         [(name, "viewer (control)") for name in ("pause", "go_on", "checkpoint")])

        # Still every step exactly once, also after everything that has happened.
        self.wait_for(lambda: self.complete(self.loss(page, run)))
        page.ask("act", run=run, action="stop")
        ended = self.wait_for(lambda: (now := self.state(page, run))["state"] == "ended" and now)
        self.assertEqual(ended["live"], False)
        self.assertIn("stopped by viewer (control)", ended["message"])
        self.wait_for(lambda: self.loss(page, run)["rows"] == self.written())

    def test_a_watcher_cannot_change_the_run_and_a_killed_run_is_shown_as_killed(self):
        self.train()
        viewer, url = self.view("--role", "watch")
        page = self.page(url)
        run = self.run_on(page)
        self.assertEqual(page.ask("hello")["role"], "watch")
        with self.assertRaisesRegex(Refused, "may only watch"):
            page.ask("act", run=run, action="stop")
        with self.assertRaisesRegex(Refused, "may only watch"):
            page.ask("set_parameter", run=run, component="optimizer", name="lr", value=1)
        self.wait_for(lambda: self.state(page, run)["state"] == "running" and page.ask("series", run=run))
        page.ask("watch", run=run, what=["log"])
        os.kill(self.run_json()["pid"], signal.SIGKILL)
        killed = self.wait_for(lambda: not (now := self.state(page, run))["live"] and now)
        self.assertEqual(killed["state"], "killed", killed)
        self.assertGreater(self.loss(page, run)["rows"], 0, "what was seen stays")
        # The viewer ends at Ctrl-C, at once and with nothing left behind.
        viewer.send_signal(signal.SIGINT)
        self.assertEqual(viewer.wait(DEADLINE_S), 130)
        self.wait_for(lambda: not list(self.folder.glob("trainyard-*/*")), "the guard removes the run directory")
        # What is left on disk can be opened.
        _, url = self.view("out")
        past = self.page(url)
        name = self.run_on(past)
        self.assertEqual(name, run, "a run has the same name when it is over")
        shown = self.state(past, name)
        self.assertEqual((shown["source"], shown["state"], shown["live"]), ("past", "killed", False))
        self.wait_for(lambda: past.ask("series", run=name) and self.loss(past, name)["rows"] == self.written())
        self.wait_for(lambda: past.ask("hyperparameters", run=name).get("optimizer.lr") == 0.001)

    def test_a_parameter_is_set_on_all_ranks(self):
        self.train("devices=2", "strategy=ddp")
        _, url = self.view("seen")
        page = self.page(url)
        run = self.run_on(page)
        self.wait_for(lambda: self.state(page, run)["state"] == "running" and page.ask("series", run=run))
        names = [each["component"] for each in page.ask("parameters", run=run)]
        self.assertEqual(sorted(set(names)), sorted(names))
        self.assertIn("optimizer", names)
        self.assertFalse([name for name in names if name.startswith("rank")])
        page.ask("set_parameter", run=run, component="optimizer", name="lr", value=0.0625)
        self.wait_for(lambda: page.ask("curve", run=run, stage="train", name="learning_rate", x="step")["mean"][-1] == 0.0625)
        page.ask("act", run=run, action="stop")
        self.wait_for(lambda: not self.state(page, run)["live"])
        graph = page.ask("graph", run=run)
        self.assertIn("rank1/optimizer", [each["name"] for each in graph["components"]])
        self.assertEqual({each["busy"] for each in graph["components"]}, {None}, "it does nothing any more")

    def test_a_viewer_that_stands_still_changes_nothing(self):
        self.train()
        viewer, url = self.view()
        page = self.page(url)
        run = self.run_on(page)
        page.ask("watch", run=run, what=["curves", "graph", "log"])
        self.wait_for(lambda: self.state(page, run)["state"] == "running" and page.ask("series", run=run))
        viewer.send_signal(signal.SIGSTOP)
        before = self.written()
        self.wait_for(lambda: self.written() > before + 2000)
        viewer.send_signal(signal.SIGCONT)
        # What it has missed as messages, it reads from the file.
        self.wait_for(lambda: (now := self.complete(self.loss(page, run))) and now["to"] > before + 2000)

    def test_the_component_shows_its_own_run_and_ends_with_it(self):
        launch = self.train(more='[component.viewer]\nplugin = "viewer"\n')
        url = self.wait_for(lambda: re.search(r"viewer: open (http://\S+)", launch.said())).group(1)
        page = self.page(url)
        run = self.run_on(page)
        self.wait_for(lambda: page.ask("series", run=run))
        self.wait_for(lambda: self.complete(self.loss(page, run)))
        self.assertIn("viewer", [each["name"] for each in self.graph(page, run)["components"]])
        page.ask("act", run=run, action="stop")
        self.assertEqual(launch.wait(DEADLINE_S), 0)
        with self.assertRaises(OSError):
            Page(url)
        self.assertNotIn(url.split("=")[1], (self.folder / "out/metrics.jsonl").read_text(encoding="utf-8"),
                         "others may read the log")

    def test_what_the_model_does_is_seen_alive_and_later(self):
        launch = self.train("component.accelerator_host.params.confusion_matrix=true",
                             "component.accelerator_host.params.samples_per_validation=4")
        _, url = self.view("seen")
        page = self.page(url)
        run = self.run_on(page)
        self.wait_for(lambda: self.state(page, run)["state"] == "running")
        self.assertEqual(page.ask("histograms", run=run), [])
        with self.assertRaisesRegex(Refused, "no confusion matrix"):
            page.ask("confusion", run=run)
        page.ask("watch", run=run, what=["histograms", "confusion", "samples"])
        page.ask("set_parameter", run=run, component="accelerator_host", name="histograms_every_steps", value=100)
        self.assertEqual(page.push("histograms")["step"] % 100, 0)
        names = {(each["of"], each["name"]) for each in page.ask("histograms", run=run)}
        tensors = {f"layers.{layer}.{part}" for layer in (0, 1) for part in ("weight", "bias")}
        self.assertEqual(names, {(of, name) for of in ("weights", "gradients") for name in tensors} |
                         {("activations", "layers.0"), ("activations", "layers.1")})
        series = page.ask("histogram", run=run, of="gradients", name="layers.0.weight")
        self.assertEqual({sum(counts) for counts in series["counts"]}, {16 * 16})
        page.ask("set_parameter", run=run, component="accelerator_host", name="histograms_every_steps", value=0)

        # The confusion matrix and the accuracy are computed in different ways.
        page.ask("act", run=run, action="validate")
        split = page.push("confusion")["split"]
        matrix = page.ask("confusion", run=run)
        right = sum(matrix["counts"][place * 4 + place] for place in range(4))
        accuracy = self.wait_for(lambda: [each["last"] for each in page.ask("series", run=run)
                                       if (each["stage"], each["name"]) == (split, "accuracy")])
        self.assertAlmostEqual(right / sum(matrix["counts"]), accuracy[0], 5)
        samples = self.wait_for(lambda: len(now := page.ask("samples", run=run)) == 4 and now)
        self.assertEqual([each["result"]["index"] for each in samples], [0, 1, 2, 3])

        # Whoever comes later reads the same from the files.
        page.ask("act", run=run, action="stop")
        self.assertEqual(launch.wait(DEADLINE_S), 0)
        _, url = self.view("out")
        past = self.page(url)
        name = self.run_on(past)
        self.wait_for(lambda: self.state(past, name)["state"] == "ended")
        # The files of a past run are read one after another, after the page has been opened.
        self.wait_for(lambda: len(past.ask("samples", run=name)) == 4)
        self.wait_for(lambda: {(each["of"], each["name"]) for each in past.ask("histograms", run=name)} == names)
        self.assertEqual(past.ask("confusion", run=name)["counts"], matrix["counts"])
        self.assertEqual([each["result"] for each in past.ask("samples", run=name)],
                         [each["result"] for each in samples])

    def test_mistakes_are_one_clear_sentence(self):
        (self.folder / "empty").mkdir()
        (self.folder / "seen.toml").touch()
        for arguments, code, text in (
                (["--address", "0.0.0.0"], 2, "allowed only with TLS"),
                (["nothing"], 3, "no launch"),
                (["empty"], 2, "contains no run"),
                (["seen.toml"], 2, "seen.toml is no recording"),
                (["--webhook", "ftp://x"], 2, "the webhook 'ftp://x' is not allowed"),
                (["--page", "nowhere"], 3, "there is no folder nowhere")):
            done = self.completed(TRAINYARD, "view", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertRegex(done.stderr, f"^trainyard: .*{text}")
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
