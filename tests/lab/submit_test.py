# SPDX-License-Identifier: Apache-2.0
"""Tests `trainyard submit` with a real Slurm and a real mpirun."""
import re
import shlex
import sys
import time
import unittest

sys.dont_write_bytecode = True
import doctor
import mpi
import slurm
from lab import Lab

# It goes on for much longer than any test.
ENDLESS = ("mlp.toml", "max_steps=100000000", "component.logger.params.console=lines",
           "component.logger.params.console_interval_s=0.2")


class Test(unittest.TestCase):
    def wait_until(self, condition, what, seconds=120):
        """Returns the first true value of the condition."""
        until = time.monotonic() + seconds
        while not (value := condition()):
            self.assertLess(time.monotonic(), until, f"not within {seconds} s: {what()}")
            time.sleep(0.1)
        return value


@unittest.skipIf(slurm.missing(), slurm.missing())
class SubmitToSlurmTest(Test):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(hosts=3, visible=doctor.visible())
        cls.addClassCleanup(cls.lab.close)
        # Signals reach all processes of a run, as they do in a cluster with control groups.
        cls.slurm = slurm.Slurm(cls.lab, proctrack="linuxproc")

    def submit(self, *words):
        """Submits a run and returns the number of its job."""
        output, code = self.slurm.run([doctor.PROGRAM, "submit", *words, "--engine", "slurm"])
        self.assertEqual(code, 0, output)
        found = re.search(r"^Slurm has accepted job (\d+) \((\S+)\)\.$", output, re.M)
        self.assertTrue(found, output)
        self.addCleanup(self.slurm.run, ["scancel", "--signal=KILL", "--full", found[1]])
        return found[1]

    def facts(self, job):
        """What Slurm knows about a job."""
        output, _ = self.slurm.run(["scontrol", "--oneliner", "show", "job", job])
        return dict(pair.split("=", 1) for pair in output.split() if "=" in pair)

    def log(self, job, name="mlp", folder="logs"):
        path = self.lab.shared / folder / f"{name}-{job}.log"
        return path.read_text() if path.exists() else ""

    def wait_for_log(self, job, pattern, seconds=120):
        daemon = self.lab.shared / "slurm/slurmd-h1.log"
        return self.wait_until(lambda: re.search(pattern, self.log(job), re.M),
                               lambda: f"{pattern}\n{self.log(job)}\n{self.facts(job)}\n{daemon.read_text()}", seconds)

    def start_again(self, job):
        """Slurm waits about two minutes before it starts a requeued job again. Two seconds are enough: slurmd counts
        seconds, and takes a job that starts in the second in which it was killed for the killed one."""
        self.wait_until(lambda: self.facts(job)["JobState"] == "PENDING", lambda: self.facts(job))
        output, code = self.slurm.run(["scontrol", "update", f"JobId={job}", "StartTime=now+2seconds"])
        self.assertEqual(code, 0, output)

    def test_a_run_trains_in_the_queue_with_what_it_asks_for(self):
        job = self.submit("mlp.toml", "max_steps=2", "run.directory=runs/short", "--time", "5m", "--memory", "64M",
                          "--cpus", "3", "--name", "short")
        self.wait_until(lambda: "run finished: max_steps = 2 reached" in self.log(job, "short"),
                        lambda: self.log(job, "short") + str(self.facts(job)))
        facts = self.wait_until(lambda: (facts := self.facts(job))["JobState"] == "COMPLETED" and facts,
                                lambda: self.facts(job))
        self.assertEqual(facts["TimeLimit"], "00:05:00")
        self.assertEqual(facts["CPUs/Task"], "3")
        self.assertEqual(facts["MinMemoryNode"], "64M")
        self.assertEqual(facts["Requeue"], "1")
        self.assertEqual(facts["JobName"], "short")

    def test_before_its_time_limit_a_run_saves_and_the_job_continues_it(self):
        job = self.submit(*ENDLESS, "run.directory=runs/limit", "--time", "2m", "--notice", "60s")
        # Slurm sends the signal up to a minute early, so it may come while the run is still starting.
        self.wait_for_log(job, r"stopping, because SIGUSR1 came", seconds=240)
        self.wait_for_log(job, r"The job goes back into the queue")
        self.assertNotIn("was killed by signal", self.log(job))
        self.start_again(job)
        resumed = self.wait_for_log(job, r"resumed from (\S+) at step (\d+)")
        self.assertGreater(int(resumed[2]), 0)
        self.assertEqual(self.facts(job)["Restarts"], "1")

    def test_a_run_on_two_hosts_continues_where_it_was(self):
        job = self.submit(*ENDLESS, "nodes=2", "strategy=zero1", "run.directory=runs/two", "--time", "5m")
        self.wait_for_log(job, r"step +[1-9]\d")
        self.assertEqual(self.facts(job)["NumNodes"], "2")
        # What Slurm does before the time limit.
        self.slurm.run(["scancel", "--batch", "--signal=USR1", job])
        self.wait_for_log(job, r"The job goes back into the queue")
        saved = int(re.search(r"^checkpoint +step (\d+)", self.log(job), re.M)[1])
        self.start_again(job)
        resumed = self.wait_for_log(job, r"resumed from (\S+) at step (\d+)")
        self.assertEqual(int(resumed[2]), saved)
        begun = len(self.log(job))
        self.wait_until(lambda: re.search(r"^step +[1-9]\d", self.log(job)[begun:], re.M), lambda: self.log(job))

    def test_two_jobs_at_once_on_the_same_hosts_do_not_meet(self):
        names = ("left", "right")
        jobs = {name: self.submit(*ENDLESS, "nodes=2", f"run.directory=runs/{name}", "--name", name, "--time", "5m",
                                  "--cpus", "1", "--memory", "64M") for name in names}
        for name, job in jobs.items():
            self.wait_until(lambda: re.search(r"step +[1-9]\d", self.log(job, name)),
                            lambda: self.log(job, name))
        facts = [self.facts(job) for job in jobs.values()]
        self.assertEqual([one["JobState"] for one in facts], ["RUNNING"] * 2)
        self.assertEqual(facts[0]["NodeList"], facts[1]["NodeList"])
        for name, job in jobs.items():
            self.assertEqual(len(re.findall(r"host 1 \(.*\) has joined", self.log(job, name))), 1, self.log(job, name))
            self.slurm.run(["scancel", job])
        for name, job in jobs.items():
            self.wait_until(lambda: list((self.lab.shared / f"runs/{name}/checkpoints").glob("step-*")),
                            lambda: self.log(job, name))

    def test_scancel_lets_a_run_save_its_checkpoint(self):
        job = self.submit(*ENDLESS, "run.directory=runs/cancelled", "--restarts", "0")
        self.wait_for_log(job, r"step +[1-9]\d")
        self.slurm.run(["scancel", job])
        self.wait_for_log(job, r"stopping, because SIGTERM came")
        self.wait_until(lambda: list((self.lab.shared / "runs/cancelled/checkpoints").glob("step-*")),
                        lambda: self.log(job))

    def test_the_limit_of_restarts_is_obeyed(self):
        job = self.submit(*ENDLESS, "run.directory=runs/often", "--time", "5m", "--restarts", "1")
        for words in (r"The job goes back into the queue", r"Submit it once more to continue"):
            begun = len(self.log(job))
            self.wait_until(lambda begun=begun: re.search(r"step +[1-9]\d", self.log(job)[begun:]),
                            lambda: self.log(job))
            # What Slurm does before the time limit.
            self.slurm.run(["scancel", "--batch", "--signal=USR1", job])
            self.wait_for_log(job, words)
            if "queue" in words:
                self.start_again(job)
        self.wait_until(lambda: self.facts(job)["JobState"] == "FAILED", lambda: self.facts(job))

    def test_slurm_reads_every_value_unchanged(self):
        folder = "a \"b' #c 100%j $(touch hit)"
        job = self.submit("mlp.toml", "max_steps=1", "run.directory=runs/quoted", "--logs", folder,
                          "--option=--comment='two words'")
        self.wait_until(lambda: "run finished" in self.log(job, folder=folder), lambda: self.facts(job))
        self.assertFalse((self.lab.shared / "hit").exists())
        output, _ = self.slurm.run(["scontrol", "show", "job", job])
        self.assertIn("Comment=two words", output)

    def test_what_slurm_refuses_is_said_in_slurms_words(self):
        output, code = self.slurm.run([doctor.PROGRAM, "submit", "mlp.toml", "--engine", "slurm", "--queue", "no_such"])
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"^trainyard: sbatch refused the job: .*invalid partition")
        output, code = self.slurm.run([doctor.PROGRAM, "submit", "mlp.tml", "--engine", "slurm"])
        self.assertEqual(code, 2, output)
        self.assertIn("mlp.toml", output)


@unittest.skipIf(mpi.missing(), mpi.missing())
class SubmitToMpirunTest(Test):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(hosts=1, visible=doctor.visible())
        cls.addClassCleanup(cls.lab.close)
        # mpirun shows every program a terminal, on which a run would write in colours.
        cls.variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "NO_COLOR": "1"}

    def command(self, *words):
        # mpirun can have another name, which only the lab knows.
        return ["sh", "-c", f"mkdir -p /tmp/bin; ln -sf {mpi.program()} /tmp/bin/mpirun; PATH=/tmp/bin:$PATH exec "
                f"{shlex.join([doctor.PROGRAM, 'submit', *words, '--engine', 'mpirun'])}"]

    def test_a_run_trains_and_its_exit_code_comes_back(self):
        output, code = self.lab.hosts[0].run(self.command("mlp.toml", "max_steps=2"), environment=self.variables,
                                             folder="/mnt", timeout=120)
        self.assertEqual(code, 0, output)
        self.assertIn("run finished: max_steps = 2 reached", output)

    def test_the_first_signal_lets_the_run_save_its_checkpoint(self):
        path = self.lab.shared / "stopped.log"
        with open(path, "w", encoding="utf-8") as log:
            process = self.lab.hosts[0].start(self.command(*ENDLESS, "run.directory=runs/mpi"), self.variables, "/mnt",
                                              stdout=log, stderr=log)
        self.wait_until(lambda: re.search(r"step +[1-9]\d", path.read_text()), path.read_text)
        self.lab.hosts[0].end(process)
        self.assertEqual(process.wait(timeout=60), 130, path.read_text())
        self.assertIn("stopping, because SIGUSR1 came", path.read_text())
        self.assertTrue(list((self.lab.shared / "runs/mpi/checkpoints").glob("step-*")), path.read_text())
        self.wait_until(lambda: not self.lab.hosts[0].processes(), self.lab.hosts[0].processes)


if __name__ == "__main__":
    unittest.main()
