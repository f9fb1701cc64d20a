# SPDX-License-Identifier: Apache-2.0
"""What people set up wrongly when they start a run on several hosts. Each mistake is named by one message, and ends the
launch on every host; nothing hangs, and nothing is left."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import OTHER_KEY, Launch, write_key

RUN = ["launch", "mlp.toml", "max_steps=2", "component.logger.params.console=off", "run.log_level=warning",
       "component.checkpoint_writer.when=false", "topology.join_timeout_s=5"]
OTHER, OTHER_PROGRAM = {"LD_LIBRARY_PATH": "/mnt/other/lib"}, "/mnt/other/bin/" + pathlib.Path(doctor.PROGRAM).name
ROWS = "component.data_loader.params.dataset={plugin='csv', path='/tmp/rows.csv'}"
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*real)(clockid_t, struct timespec*) = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += 3600;
  return result;
}
"""


@unittest.skipIf(missing(), missing())
class MisconfigurationsTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        write_key(self.lab)

    def launch(self, *, both=(), first=None, second=None, others=None, program=None):
        """Starts a run on both hosts; `first` and `second` are variables of each, `others` the arguments of the second."""
        here = Launch(self.lab, 0, [*RUN, *both], first)
        there = Launch(self.lab, 1, others or [*RUN, *both], second, program=program)
        return here, there

    def ends(self, launches, *texts, codes=None):
        """All launches end with an error, or with `codes`, and together say each of the texts."""
        ended = [launch.end() for launch in launches]
        said = "\n".join(f"{launch.host.name}: {launch.output()}" for launch in launches)
        for text in texts:
            self.assertIn(text, said)
        if codes is None:
            self.assertNotIn(0, ended, said)
        else:
            self.assertEqual(ended, codes, said)
        self.assertNotIn("terminate called", said)
        for host in self.lab.hosts:
            self.assertEqual(host.processes(), [], host.name)
        return said

    def shell(self, number, script):
        said, code = self.lab.hosts[number].run(["sh", "-ec", script])
        self.assertEqual(code, 0, said)

    def test_a_wrong_address(self):
        said = self.ends(self.launch(second={"TRAINYARD_MEET_AT": "10.77.0.99"}), "host 1 (h1) did not join within 5 s")
        self.assertRegex(said, r"host 1 is waiting for host 0: (nothing comes back from|there is no way to) 10\.77\.0\.99")

    def test_a_wrong_port(self):
        self.ends(self.launch(second={"TRAINYARD_MEET_AT": "h0:999"}), "host 1 (h1) did not join within 5 s",
                  "nobody listens at h0 (10.77.0.1), port 999: connections are refused")

    def test_a_name_that_resolves_to_loopback(self):
        self.shell(1, "printf '127.0.1.1 h0\\n127.0.0.1 localhost\\n' > /tmp/hosts; mount --bind /tmp/hosts /etc/hosts")
        self.ends(self.launch(), "h0 (127.0.1.1, which is this machine itself: look at /etc/hosts)")

    def test_a_name_that_does_not_resolve(self):
        self.ends(self.launch(second={"TRAINYARD_HOST_NAMES": "nowhere.invalid,h1"}),
                  "the host 'nowhere.invalid' has no IPv4 address")

    def test_two_agents_with_one_number(self):
        launches = [Launch(self.lab, number, RUN, {"TRAINYARD_HOST_NAMES": "h0,h1,h2"}) for number in (0, 1)]
        launches[1].says("has joined")
        twice = Launch(self.lab, 1, RUN, {"TRAINYARD_HOST_NAMES": "h0,h1,h2"})
        self.ends([*launches, twice], "it has the same number as host 1 (h1, 10.77.0.2), which has already joined",
                  "host 2 (h2) did not join within 5 s")

    def test_a_number_beyond_the_hosts(self):
        self.ends(self.launch(second={"TRAINYARD_HOST_NUMBER": "2"}),
                  "TRAINYARD_HOST_NUMBER is '2'; allowed: a whole number from 0 to 1")

    def test_a_missing_agent(self):
        here = Launch(self.lab, 0, RUN)
        self.ends([here], "waiting for host 1 (h1)", "host 1 (h1) did not join within 5 s", codes=[124])

    def test_another_number_of_hosts(self):
        self.ends(self.launch(both=["nodes=3"]), "topology.nodes: 3 hosts are not allowed")

    def test_another_version(self):
        self.copy_installation()
        for path in (self.lab.shared / "other").rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes().replace(b"trainyard-0.1 cxxabi", b"trainyard-0.9 cxxabi"))
        self.ends(self.launch(second=OTHER, program=OTHER_PROGRAM), "it has another build of Trainyard: 'trainyard-0.9")

    def copy_installation(self):
        build = pathlib.Path(doctor.PROGRAM).resolve().parent.parent
        for folder in ("bin", "lib", "plugins", "share"):
            shutil.copytree(build / folder, self.lab.shared / "other" / folder)

    def test_other_plugins(self):
        self.copy_installation()
        (self.lab.shared / "other/plugins/models/mlp.so").unlink()
        self.ends(self.launch(second=OTHER, program=OTHER_PROGRAM), "h1: trainyard: ", "no model named 'mlp'")

    def test_other_arguments(self):
        self.ends(self.launch(others=[*RUN, "seed=2"]), "it was started with other arguments: ")

    def test_another_launch_file(self):
        for number in (0, 1):
            self.shell(number, f"printf 'include = [\"mlp.toml\"]\\n[run]\\nseed = {number}\\n' > /tmp/own.toml")
        run = ["launch", "/tmp/own.toml", *RUN[2:]]
        self.ends([Launch(self.lab, number, run) for number in (0, 1)],
                  "it has another launch file: the content of /tmp/own.toml there differs from that of /tmp/own.toml on host 0")

    def test_another_data_set(self):
        for number, rows in enumerate((64, 60)):
            self.shell(number, f"{{ echo a,b,class; for i in $(seq {rows}); do echo $i,1,$((i % 2)); done; }} > /tmp/rows.csv")
        self.ends(self.launch(both=[ROWS, "component.accelerator_host.params.model=mlp"]),
                  "the ranks do not have the same data: the number of training samples is ")

    def test_another_processor_is_a_warning(self):
        self.ends(self.launch(second={"ATEN_CPU_CAPABILITY": "default"}),
                  "warning: host 1 (h1, 10.77.0.2) has another processor", "ATEN_CPU_CAPABILITY=default", codes=[0, 0])

    def test_a_clock_that_is_an_hour_off_is_a_warning(self):
        source, library = self.lab.shared / "clock.c", self.lab.shared / "clock.so"
        source.write_text(CLOCK, encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.ends(self.launch(second={"LD_PRELOAD": "/mnt/clock.so"}),
                  "has a clock that is 3600 s ahead of that of host 0", codes=[0, 0])

    def test_a_firewall_that_drops(self):
        self.lab.hosts[0].on_network("ip", "route", "add", "blackhole", "10.77.0.2/32")
        self.ends(self.launch(), "nothing comes back from h0 (10.77.0.1), the ports")

    def test_a_firewall_that_refuses(self):
        self.lab.hosts[1].on_network("ip", "route", "add", "prohibit", "10.77.0.1/32")
        self.ends(self.launch(), "no interface of this host leads to 10.77.0.1: Permission denied")

    def test_a_missing_key(self):
        self.ends(self.launch(second={"TRAINYARD_KEY_FILE": "/mnt/none"}), "a run on several hosts needs a key", "/mnt/none")

    def test_a_key_that_others_can_read(self):
        self.ends(self.launch(second={"TRAINYARD_KEY_FILE": write_key(self.lab, "open", mode=0o644)}),
                  "/mnt/open", "others may read or write this key")

    def test_another_key(self):
        self.ends(self.launch(second={"TRAINYARD_KEY_FILE": write_key(self.lab, "other", OTHER_KEY)}),
                  "host 1 is waiting for host 0: nobody with the same key answers at h0 (10.77.0.1), the ports")

    def test_variables_of_an_outer_engine_do_no_harm(self):
        outer = {"SLURM_JOB_ID": "7", "SLURM_NNODES": "5", "SLURM_NODEID": "4", "SLURM_JOB_NODELIST": "x[1-5]"}
        self.ends(self.launch(both=["topology.environment=hosts"], first=outer, second=outer), codes=[0, 0])

    def test_more_ranks_than_a_host_may_have(self):
        self.ends(self.launch(both=["devices=4000"]), "a run has at most 4096 ranks")


if __name__ == "__main__":
    unittest.main()
