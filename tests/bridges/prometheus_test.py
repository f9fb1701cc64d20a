#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the bridge to Prometheus with real training runs: reads their metrics as Prometheus does, and kills the bridge
during training."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import unittest
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from launches import DEADLINE_S, EVERY_TENTH_STEP, TrainingTest, free_port

REQUIRED = "TRAINYARD_READERS_REQUIRED" in os.environ  # Then a reader that is missing is an error.
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')


def parsed(text):
    """The samples as {(name, {label: value}...): number}, with a parser that shares nothing with the writer."""
    samples = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        samples[name, tuple(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', labels or ""))] = float(value)
    return samples


class PrometheusTest(TrainingTest):
    def launch_bridge(self):
        self.port = free_port()
        run = self.train(EVERY_TENTH_STEP, more=(
            f'[component.prometheus]\nplugin = "prometheus"\nparams.port = {self.port}\n'
            'process = "bridge"\nrespawn = { policy = "always", delay_ms = 10 }\n'))
        self.token = (self.folder / "out/prometheus.token").read_text(encoding="utf-8").strip()
        return run

    def get(self, path="/metrics", **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
        finally:
            connection.close()

    def scrape(self, accept=""):
        status, kind, text = self.get(Authorization=f"Bearer {self.token}", Accept=accept)
        self.assertEqual(status, 200, text)
        self.assertRegex(kind, "openmetrics-text; version=1.0.0" if accept else r"^text/plain; version=0\.0\.4;")
        return text

    def complete(self):
        """A scrape that has everything, the time of components included."""
        text = self.scrape()
        return text if "trainyard_steps_total" in text and "trainyard_component_busy_seconds_total" in text else None

    def test_a_scrape_has_what_the_run_reports_and_what_its_processes_do(self):
        self.launch_bridge()
        text = self.wait_for(self.complete)
        samples = parsed(text)
        step = samples["trainyard_steps_total", ()]
        self.assertEqual(step % 10, 0, "the run reports every tenth step")
        self.assertEqual(samples["trainyard_samples_total", ()], step * 16)
        self.assertGreater(samples["trainyard_metric", (("stage", "train"), ("metric", "loss"))], 0)
        self.assertEqual(samples["trainyard_metric", (("stage", "train"), ("metric", "learning_rate"))], 0.001)
        self.assertEqual(samples["trainyard_launcher_up", ()], 1)
        names = {dict(labels)["component"] for name, labels in samples if name == "trainyard_component_active"}
        self.assertLessEqual({"optimizer", "data_loader", "accelerator_host", "prometheus"}, names)
        self.assertGreater(samples["trainyard_process_resident_memory_bytes", (("process", "bridge"),)], 1 << 20)

        def batches(of):
            return next(value for (name, labels), value in of.items()
                        if name == "trainyard_edge_messages_total" and dict(labels)["topic"] == "/batches")

        later = self.wait_for(lambda: batches(now := parsed(self.scrape())) > step + 100 and
                              now["trainyard_steps_total", ()] > step and now)
        for key, value in samples.items():
            if key[0].endswith("_total"):
                self.assertGreaterEqual(later[key], value, f"{key} is a counter")

        # The readers that other people have written agree that these are metrics.
        self.check_with_promtool(text)
        self.check_with_client_library(self.scrape("application/openmetrics-text"))

    def check_with_promtool(self, text):
        promtool = os.environ.get("TRAINYARD_PROMTOOL") or shutil.which("promtool")
        if promtool is None:
            self.assertFalse(REQUIRED, "promtool is missing")
            return
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def check_with_client_library(self, text):
        python = os.environ.get("TRAINYARD_READERS_PYTHON", "python3")
        code = ("import sys\n"
                "try:\n    from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\n"
                "except ImportError:\n    sys.exit(77)\n"
                "print(sum(len(family.samples) for family in parse(sys.stdin.read())))\n")
        done = subprocess.run([python, "-c", code], input=text, capture_output=True, text=True, check=False)
        if done.returncode == 77:
            self.assertFalse(REQUIRED, "prometheus_client is missing")
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(int(done.stdout), sum(not line.startswith("#") for line in text.splitlines()))

    def test_nobody_reads_without_the_token(self):
        run = self.launch_bridge()
        for fields in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {self.token}"}):
            status, _, text = self.get(**fields)
            self.assertEqual(status, 403)
            self.assertNotIn("trainyard_", text)
        self.assertEqual(self.get(f"/metrics?token={self.token}")[0], 200)
        self.assertEqual(self.get(f"/metrics?token={self.token}", Host="evil.example")[0], 403)
        mode = (self.folder / "out/prometheus.token").stat().st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        self.assertNotIn(self.token, (self.folder / "out/metrics.jsonl").read_text(encoding="utf-8") + run.said())

    def test_the_bridge_can_be_killed_while_training_goes_on(self):
        run = self.launch_bridge()
        self.wait_for(self.complete)
        pid, before = self.pid_of("prometheus"), self.step()
        os.kill(pid, signal.SIGKILL)

        def scraped_again():
            try:
                return (now := self.complete()) and ("trainyard_process_restarts_total", (("process", "bridge"),)) in \
                    parsed(now) and parsed(now)
            except (OSError, http.client.HTTPException):
                return None

        # The same address and the same token.
        samples = self.wait_for(scraped_again)
        self.assertEqual(samples["trainyard_process_restarts_total", (("process", "bridge"),)], 1)
        self.assertNotEqual(self.pid_of("prometheus"), pid)
        self.wait_for(lambda: self.step() > before + 100)
        self.trainyard("service", "call", "strategy_manager", "stop")
        self.assertEqual(run.wait(DEADLINE_S), 0, run.said())

    def test_prometheus_itself_collects_the_run(self):
        prometheus = os.environ.get("TRAINYARD_PROMETHEUS") or shutil.which("prometheus")
        if prometheus is None:
            self.assertFalse(REQUIRED, "Prometheus is missing")
            self.skipTest("Prometheus is not installed")
        self.launch_bridge()
        port = free_port()
        # As docs/bridges.md says.
        (self.folder / "prometheus.yml").write_text(f"""
scrape_configs:
  - job_name: trainyard
    scrape_interval: 1s
    authorization:
      credentials_file: {self.folder}/out/prometheus.token
    static_configs:
      - targets: ["127.0.0.1:{self.port}"]
""", encoding="utf-8")
        self.program(prometheus, f"--config.file={self.folder}/prometheus.yml",
                     f"--storage.tsdb.path={self.folder}/tsdb", f"--web.listen-address=127.0.0.1:{port}")

        def query(text):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
            try:
                connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": text}))
                return json.loads(connection.getresponse().read())["data"]["result"]
            except (OSError, ValueError):
                return None
            finally:
                connection.close()

        first = self.wait_for(lambda: query("trainyard_steps_total"))[0]
        self.assertEqual(first["metric"]["job"], "trainyard")
        self.wait_for(lambda: (now := query("rate(trainyard_steps_total[10s])")) and float(now[0]["value"][1]) > 0)
        self.wait_for(lambda: query('trainyard_metric{stage="train", metric="loss"}'))
        shares = self.wait_for(lambda: query("rate(trainyard_component_busy_seconds_total[10s])"))
        self.assertTrue(all(0 <= float(each["value"][1]) <= 1.2 for each in shares), shares)


if __name__ == "__main__":
    unittest.main()
