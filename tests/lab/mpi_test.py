# SPDX-License-Identifier: Apache-2.0
"""Tests the environment `open_mpi` in processes that a real mpirun starts on three hosts."""
import json
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
import launches
import mpi
from lab import Lab


def said(host, hosts, process=0, processes=1):
    return (f"{host} of {hosts}, counted from 0", f"{process} of {processes} on this host, counted from 0")


@unittest.skipIf(mpi.missing(), mpi.missing())
class OpenMpiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(hosts=3, visible=doctor.visible())
        cls.addClassCleanup(cls.lab.close)
        cls.open_mpi = mpi.OpenMpi(cls.lab)

    def answers(self, hosts, *arguments, at=0):
        """What doctor says in every process."""
        one = doctor.Doctor(self.lab, f"{self.id()}-{len(list(self.lab.shared.iterdir()))}")
        self.output, self.code = self.open_mpi.mpirun(hosts, *arguments, *one.command, at=at)
        self.assertTrue(one.answers(), self.output)
        return one

    def test_one_process_on_each_host_is_that_host(self):
        found = self.answers("h0,h1,h2", "--map-by", "ppr:1:node")
        self.assertEqual(found.table("host", "process"), [said(0, 3), said(1, 3), said(2, 3)], self.output)
        places = {answer["meeting place"] for answer in found.answers()}
        self.assertEqual(len(places), 1)
        self.assertRegex(places.pop(), r"^10\.77\.0\.1, ports 2\d{4} to 2\d{4}$")

    def test_several_processes_on_each_host_are_understood_by_slot_and_by_node(self):
        expected = [said(host, 2, process, 2) for host in (0, 1) for process in (0, 1)]
        for order in ("slot", "node"):
            found = self.answers("h0:2,h1:2", "--map-by", order)
            self.assertEqual(found.table("host", "process"), expected, order)

    def test_hosts_are_numbered_without_a_login_node_and_are_told_where_to_meet(self):
        found = self.answers("h1:2,h2:2", at=0)
        self.assertEqual(found.table("host", "process"),
                         [said(host, 2, process, 2) for host in (0, 1) for process in (0, 1)])
        self.assertEqual({answer["meeting place"] for answer in found.answers()},
                         {"not known; set TRAINYARD_MEET_AT to HOST or HOST:PORT of host 0"})
        told = self.answers("h1,h2", "-x", "TRAINYARD_MEET_AT=h1:7000")
        self.assertEqual({answer["meeting place"] for answer in told.answers()}, {"h1, port 7000"})

    def losses(self, folder):
        lines = (self.lab.shared / folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return [(line["step"], line["values"]["loss"]) for line in map(json.loads, lines) if line.get("stage") == "train"]

    def test_one_launch_on_each_host_and_one_for_each_rank_train_alike(self):
        key = launches.write_key(self.lab)
        run = ["-x", f"TRAINYARD_KEY_FILE={key}", doctor.PROGRAM, "launch", "mlp.toml", "max_steps=5",
               "component.accelerator_host.params.log_every_steps=1", "component.logger.params.console=off"]
        ways = {"each": ("h0,h1", ["--map-by", "ppr:1:node"], ["devices=2"]),
                "every": ("h0:2,h1:2", ["--map-by", "slot"], []),
                "one": ("h0:4", ["--map-by", "slot", "--oversubscribe"], [])}
        for folder, (hosts, placed, arguments) in ways.items():
            output, code = self.open_mpi.mpirun(hosts, *placed, "--bind-to", "none", *run, f"run.directory=/mnt/{folder}",
                                                *arguments)
            self.assertEqual(code, 0, output)
            self.assertEqual(len(self.losses(folder)), 5, output)
            self.assertEqual(self.losses(folder), self.losses("each"), folder)
        for host in self.lab.hosts:
            # The remote shell of the lab is Python.
            self.assertEqual([name for name in host.processes() if not name.startswith("python")], [], host.name)

    def test_unlike_numbers_of_processes_end_with_an_error_that_says_what_to_do(self):
        found = self.answers("h0:2,h1:1", "-np", "3")
        self.assertNotEqual(self.code, 0)
        # mpirun kills the others when the first has failed, some of them before they have said anything.
        self.assertIn("start one process on each host: mpirun --map-by ppr:1:node",
                      " ".join(answer.get("environment", "") for answer in found.answers()))


if __name__ == "__main__":
    unittest.main()
