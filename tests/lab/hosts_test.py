# SPDX-License-Identifier: Apache-2.0
"""Tests runs on several hosts, including everything that can go wrong between the hosts."""
import sys
import time
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import KEY, OTHER_KEY, Launch, nothing_is_left, write_key

TRAIN = ["launch", "mlp.toml", "component.logger.params.console=off", "run.log_level=warning"]
RUN = [*TRAIN, "max_steps=20"]
FEW = [*TRAIN, "max_steps=5"]
LONG = [*TRAIN, "max_steps=1000000"]


@unittest.skipIf(missing(), missing())
class HostsTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        write_key(self.lab)

    def launch(self, arguments, *, first=None, second=None, others=None):
        """Starts a run on both hosts. `first` and `second` are variables of each; `others` the arguments of the second."""
        return (Launch(self.lab, 0, arguments, first), Launch(self.lab, 1, others or arguments, second))

    def test_a_run_on_two_hosts_has_the_losses_of_one_host(self):
        alone = Launch(self.lab, 0, [*RUN, "devices=2"], {"TRAINYARD_HOST_NUMBER": "", "TRAINYARD_HOST_NAMES": ""})
        self.assertEqual(alone.end(), 0, alone.output())
        here, there = self.launch([*RUN, "nodes=2", "devices=1"])
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        self.assertIn("host 1 (h1, 10.77.0.2) has joined", here.output())
        self.assertIn("run finished: max_steps = 20 reached", here.output())
        self.assertTrue(alone.metrics())
        self.assertEqual(here.metrics(), alone.metrics())
        nothing_is_left(self, *self.lab.hosts)

    def test_components_that_exist_once_can_be_on_another_host(self):
        here, there = self.launch([*RUN, "component.logger.host=h1"])
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        self.assertTrue(there.metrics())

    def test_the_launcher_answers_questions_about_all_hosts(self):
        here, _ = self.launch(LONG)
        here.says("has joined")
        until = time.monotonic() + 120
        while True:
            nodes, code = here.host.run([doctor.PROGRAM, "node", "list"])
            if code == 0 and nodes.count("active") >= 9 or time.monotonic() > until:
                break
            time.sleep(0.2)
        self.assertIn("rank1/optimizer", nodes)
        said, code = here.host.run([doctor.PROGRAM, "param", "set", "optimizer", "lr", "0.01"])
        self.assertEqual(code, 0, said)
        value, _ = here.host.run([doctor.PROGRAM, "param", "get", "rank1/optimizer", "lr"])
        self.assertIn("0.01", value)
        here.signal("TERM", "guard")
        self.assertEqual(here.end(), 130, here.output())

    def test_what_differs_between_the_hosts_is_named_on_both(self):
        here, there = self.launch([*RUN, "devices=1", "topology.join_timeout_s=20"], others=[*RUN, "devices=2"])
        self.assertEqual(there.end(), 1)
        text = "was started with other arguments: "
        self.assertIn(f"host 0, at tcp://10.77.0.1:", there.output())
        self.assertIn(f"does not accept host 1: it {text}", there.output())
        here.says(f"host 1 (h1, 10.77.0.2) is refused: it {text}")
        here.signal("TERM", "guard")
        here.end()

    def test_a_host_with_another_key_is_not_heard(self):
        other = write_key(self.lab, "other", OTHER_KEY)
        here, there = self.launch([*RUN, "topology.join_timeout_s=5"], second={"TRAINYARD_KEY_FILE": other})
        self.assertEqual((here.end(), there.end()), (124, 1))
        self.assertIn("host 1 (h1) did not join within 5 s", here.output())
        self.assertIn("host 1 did not find host 0 within 5 s: h0 (10.77.0.1) accepts connections at port", there.output())
        self.assertIn("but nobody there knows the key of this host", there.output())

    def test_without_a_key_or_with_one_that_others_can_read_nothing_starts(self):
        here, there = self.launch(RUN, first={"TRAINYARD_KEY_FILE": "/mnt/none"},
                                  second={"TRAINYARD_KEY_FILE": write_key(self.lab, "open", mode=0o644)})
        self.assertNotEqual(here.end(), 0)
        self.assertNotEqual(there.end(), 0)
        self.assertIn("a run on several hosts needs a key", here.output())
        self.assertIn("others may read or write this key", there.output())
        self.assertNotIn(KEY[1], there.output())

    def test_a_number_that_is_taken_is_refused(self):
        here, there = self.launch(LONG, first={"TRAINYARD_HOST_NAMES": "h0,h1,h2"},
                                  second={"TRAINYARD_HOST_NAMES": "h0,h1,h2"})
        here.says("host 1 (h1, 10.77.0.2) has joined")
        twice = Launch(self.lab, 1, LONG, {"TRAINYARD_HOST_NAMES": "h0,h1,h2"})
        self.assertEqual(twice.end(), 1)
        self.assertIn("it has the same number as host 1 (h1, 10.77.0.2), which has already joined", twice.output())
        here.says("waiting for host 2 (h2)")
        here.signal("TERM", "guard")
        here.end()
        self.assertEqual(there.end(), 1)

    def test_a_signal_to_an_agent_stops_the_run_on_all_hosts(self):
        here, there = self.launch(LONG)
        here.says("has joined")
        self.await_training(here)
        there.signal("TERM", "guard")
        self.assertEqual((here.end(), there.end()), (130, 130), here.output() + there.output())
        nothing_is_left(self, *self.lab.hosts)

    def await_training(self, launch):
        until = time.monotonic() + 120
        while not any('"stage"' in path.read_text() for path in launch.folder.glob("runs/*/metrics.jsonl")):
            self.assertIsNone(launch.process.poll(), launch.output())
            self.assertLess(time.monotonic(), until, launch.output())
            time.sleep(0.05)

    def test_an_agent_that_is_killed_ends_the_run(self):
        here, there = self.launch(LONG)
        self.await_training(here)
        there.signal("KILL", "launcher")
        self.assertEqual((here.end(), there.end()), (1, 1))
        self.assertIn("host 1 (h1, 10.77.0.2) is lost, with rank 1: its agent has closed the connection", here.output())
        nothing_is_left(self, *self.lab.hosts)

    def test_a_launcher_that_is_killed_ends_the_run_on_the_other_hosts(self):
        here, there = self.launch(LONG)
        self.await_training(here)
        here.signal("KILL", "launcher")
        self.assertEqual((here.end(), there.end()), (1, 1))
        self.assertIn("host 0 has closed the connection", there.output())
        nothing_is_left(self, *self.lab.hosts)

    def test_an_agent_that_is_stopped_is_named_and_gives_up_when_it_goes_on(self):
        here, there = self.launch(LONG)
        self.await_training(here)
        there.signal("STOP", "launcher")
        self.assertEqual(here.end(), 1)
        self.assertIn("host 1 (h1, 10.77.0.2) is lost, with rank 1: nothing has been heard from it", here.output())
        nothing_is_left(self, here.host)
        there.signal("CONT", "launcher")
        self.assertEqual(there.end(), 1)
        nothing_is_left(self, *self.lab.hosts)

    def test_what_a_host_leaves_whose_programs_were_killed_is_removed_by_its_next_launch(self):
        here, there = self.launch(LONG)
        self.await_training(here)
        there.host.kill_processes()
        self.assertEqual(here.end(), 1)
        self.assertIn("host 1 (h1, 10.77.0.2) is lost, with rank 1", here.output())
        nothing_is_left(self, here.host)
        self.assertNotEqual(there.host.run(["find", "/run/lab", "-mindepth", "2"])[0], "")
        here, there = self.launch(RUN)
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        nothing_is_left(self, *self.lab.hosts)

    def test_a_slow_link_is_named_and_only_slows_the_run(self):
        fast, other = self.launch(FEW)
        self.assertEqual((fast.end(), other.end()), (0, 0), fast.output() + other.output())
        self.assertNotIn("is slow", fast.output() + other.output())
        for host in self.lab.hosts:
            host.set_rate("1mbit")
        here, there = self.launch(FEW)
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        # The first bytes pass at once, so the speed is not exactly that of the link.
        said = here.output() + there.output()
        self.assertRegex(said, r"the network from rank 0 to rank 1 at 10\.77\.0\.2 is slow: [012]\.\d\d Mbit/s")
        self.assertRegex(said, r"the network from rank 1 to rank 0 at 10\.77\.0\.1 is slow: [012]\.\d\d Mbit/s")
        self.assertEqual(here.metrics(), fast.metrics())

    def test_a_host_that_is_cut_off_ends_the_run_on_both_sides(self):
        here, there = self.launch(LONG)
        self.await_training(here)
        there.host.unplug()
        self.assertEqual((here.end(), there.end()), (1, 1))
        self.assertIn("host 1 (h1, 10.77.0.2) is lost, with rank 1: nothing has been heard from it", here.output())
        self.assertIn("nothing has been heard from host 0", there.output())
        nothing_is_left(self, *self.lab.hosts)


if __name__ == "__main__":
    unittest.main()
