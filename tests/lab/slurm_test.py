# SPDX-License-Identifier: Apache-2.0
"""Tests the environment `slurm` with a real Slurm that has three nodes, h1 to h3."""
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
import launches
import slurm
from lab import Lab

DOCTOR = f"{doctor.PROGRAM} doctor --environment"
WHERE = ("host", "names", "process")
ONE = "0 of 1 on this host, counted from 0"


def of(count, *numbers):
    return [f"{number} of {count}, counted from 0" for number in numbers]


@unittest.skipIf(slurm.missing(), slurm.missing())
class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(hosts=4, visible=doctor.visible())
        cls.addClassCleanup(cls.lab.close)
        cls.slurm = slurm.Slurm(cls.lab)

    def srun(self, *options, environment=None):
        """What doctor says in every task of srun."""
        one = doctor.Doctor(self.lab, f"{self.id()}-{len(list(self.lab.shared.iterdir()))}")
        output, code = self.slurm.run(["srun", *options, *one.command], environment=environment)
        self.assertEqual(code, 0, f"{output}{one.answers()}")
        return one

    def test_every_task_knows_its_host_whatever_the_kind_of_mpi(self):
        for kind in slurm.kinds_of_mpi():
            found = self.srun("--nodes=3", f"--mpi={kind}")
            names = "h1, h2, h3"
            self.assertEqual(found.table(*WHERE), [(host, names, ONE) for host in of(3, 0, 1, 2)], kind)
            places = {answer["meeting place"] for answer in found.answers()}
            self.assertEqual(len(places), 1, "all hosts try the same ports")
            self.assertRegex(places.pop(), r"^h1, ports 170\d\d to 170\d\d$")

    def test_several_tasks_on_a_host_are_processes_of_it(self):
        found = self.srun("--nodes=2", "--ntasks=3", "--distribution=block", "--resv-ports=4", "--nodelist=h[2-3]")
        tasks = [f"{number} of {count} on this host, counted from 0" for count in (1, 2) for number in range(count)]
        self.assertEqual(sorted(process for _, _, process in found.table(*WHERE)), sorted(tasks))
        self.assertEqual({names for _, names, _ in found.table(*WHERE)}, {"h2, h3"})
        for answer in found.answers():
            self.assertRegex(answer["meeting place"], r"^h2, ports 170\d\d to 170\d\d$")

    def test_a_heterogeneous_job_is_one_job(self):
        found = self.srun("--nodes=1", "--ntasks=1", ":", "--nodes=2", "--ntasks=2")
        self.assertEqual([host for host, _, _ in found.table(*WHERE)], of(3, 0, 1, 2))
        self.assertEqual(len({answer["job"] for answer in found.answers()}), 1)

    def test_a_step_in_a_batch_script_counts_its_own_hosts(self):
        text = self.slurm.batch(f"srun --nodes=1 --ntasks=1 {DOCTOR}", "--nodes=3")
        self.assertEqual(doctor.findings(text)["host"], "0 of 1, counted from 0")
        self.assertRegex(doctor.findings(text)["job"], r"^\d+\.0$")

    def test_a_batch_script_without_srun_is_told_to_use_it(self):
        text = self.slurm.batch(DOCTOR, "--nodes=2")
        self.assertRegex(text, r"^bad  environment      environment 'slurm': this process is in the batch script of job "
                               r"\d+, so Slurm has started it only once; start it on every host with `srun trainyard launch")
        self.assertEqual(doctor.findings(self.slurm.batch(DOCTOR, "--nodes=1"))["host"], "0 of 1, counted from 0")

    def test_the_shell_of_salloc_is_told_to_use_srun(self):
        output, code = self.slurm.run(["salloc", "--nodes=2", *DOCTOR.split()])
        self.assertEqual(code, 1)
        self.assertIn("this process is in the shell of salloc", output)

    def test_a_task_of_an_array_is_a_job_of_its_own(self):
        found = doctor.Doctor(self.lab, "array")
        self.slurm.batch(f"srun {found.command[0]} -c '{found.command[2]}'", "--nodes=1", "--array=0-1")
        jobs = {answer["job"] for answer in found.answers()}
        self.assertEqual(len(jobs), 2, jobs)

    def test_variables_of_an_mpirun_around_srun_do_not_count(self):
        leaked = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
                  "OMPI_COMM_WORLD_LOCAL_SIZE": "1", "OMPI_MCA_orte_hnp_uri": "1.0;tcp://10.0.0.1:1",
                  "OMPI_MCA_orte_local_daemon_uri": "1.0;tcp://10.0.0.1:1", "OMPI_MCA_orte_num_nodes": "1"}
        found = self.srun("--nodes=2", environment=leaked)
        self.assertEqual([host for host, _, _ in found.table(*WHERE)], of(2, 0, 1))
        for answer in found.answers():
            self.assertIn("OMPI_COMM_WORLD_RANK", answer["not inherited"])
            self.assertIn("SLURM_PROCID", answer["not inherited"])
            self.assertNotIn("SLURM_JOB_ID", answer["not inherited"])

    def test_a_run_trains_in_a_job_and_several_launches_of_it_on_one_host_are_its_ranks(self):
        launch = [doctor.PROGRAM, "launch", "mlp.toml", "max_steps=2", "component.logger.params.console=off"]
        output, code = self.slurm.run(["srun", "--nodes=1", "--ntasks=1", *launch])
        self.assertEqual(code, 0, output)
        self.assertIn("run finished: max_steps = 2 reached", output)
        key = {"TRAINYARD_KEY_FILE": launches.write_key(self.lab)}
        output, code = self.slurm.run(["srun", "--nodes=1", "--ntasks=2", *launch], environment=key)
        self.assertEqual(code, 0, output)
        self.assertIn("one of several launches of the same run, one for each rank: host 0 of 1, process 1 of 2", output)
        self.assertIn("run finished: max_steps = 2 reached", output)
        output, code = self.slurm.run(["srun", "--nodes=1", "--ntasks=2", *launch, "devices=3"], environment=key)
        self.assertNotEqual(code, 0, output)
        self.assertIn("devices: 3 is not allowed; the environment 'slurm' has started 2 launches on each host, one for "
                      "each rank, so it must be 2, or 1 if each launch sees only its own device", output)

    def test_lists_of_hosts_are_read_as_slurm_reads_them(self):
        for given in ("n0", "n[0-3],m", "n[08-10,12]", "n2,n[0-1]", "r[0-1]n[1-2]", "n[001,2]"):
            expected, code = self.slurm.run(["scontrol", "show", "hostnames", given])
            self.assertEqual(code, 0, expected)
            text, _ = self.slurm.run(DOCTOR.split(),
                                     environment={"TRAINYARD_HOST_NAMES": given, "TRAINYARD_HOST_NUMBER": "0"})
            self.assertEqual(doctor.findings(text)["names"].split(", "), expected.split(), given)


if __name__ == "__main__":
    unittest.main()
