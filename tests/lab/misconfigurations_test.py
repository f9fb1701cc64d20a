# SPDX-License-Identifier: Apache-2.0
"""Tests the mistakes that people make when they start a run on several hosts, with real launches on the hosts of a lab.
Each mistake must soon be reported in one message and end the launches on all hosts. No launch may hang, and nothing may
be left behind.

Each test makes one mistake on h1 or between the hosts. Without this mistake, the run would start. """
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
import doctor
import launches
from lab import Lab, missing

RUN = ["launch", "mlp.toml", "component.logger.params.console=off", "run.log_level=warning", "max_steps=3", "devices=1",
       "topology.join_timeout_s=8"]
OUTER = {"SLURM_JOB_ID": "7", "SLURM_NNODES": "5", "SLURM_NODEID": "4", "SLURM_JOB_NODELIST": "x[1-5]"}
# A mistake is named when both launches have planned, which takes long on a busy machine.
NAMED_SECONDS = 60


@dataclasses.dataclass
class Mistake:
    """A mistake: its error message, the host that reports it, and how the launches on both hosts end."""
    there: str = ""                # A pattern of the only message on h1 that names the mistake; "" if h0 names it.
    here: str = ""                 # The same for h0.
    codes: tuple = (124, 1)        # The exit codes of h0 and h1.
    first: dict = dataclasses.field(default_factory=dict)    # Variables of h0.
    second: dict = dataclasses.field(default_factory=dict)   # Variables of h1.
    run: list = dataclasses.field(default_factory=lambda: RUN)
    other_run: list = None         # The words of h1, if they are others.
    on_h0: str = ""                # A shell script for h0 before the start.
    on_h1: str = ""
    cpus_of_h1: int = 0            # If not 0, the launch on h1 may use only so many processors.


def over(path, script):
    """A script for a host, on which `path` becomes a copy of itself that `script` changes. Other hosts keep theirs."""
    copy = f"/run/{pathlib.Path(path).name}"
    return f"cp -r {path} {copy} && cd /run && {script} && mount --bind {copy} {path}"


def another_version():
    """The installation as it would be after the next release: the tag is in the program and in all plugins."""
    change = "find {0} -name '*.so' | xargs sed -i 's/trainyard-0\\.1 cxxabi/trainyard-0.9 cxxabi/g'"
    return " && ".join(over(f"{doctor.BUILD}/{folder}", change.format(f"/run/{folder}")) for folder in ("lib", "plugins"))


CSV = ["launch", "mlp.toml", "component.logger.params.console=off", "run.log_level=warning", "max_steps=3", "devices=1",
       "component.data_loader.params.dataset={plugin='csv', path='/mnt/data.csv', validate_fraction=0}",
       "component.data_loader.params.batch_size=4"]

MISTAKES = {
    "a wrong address": Mistake(
        second={"TRAINYARD_MEET_AT": "10.77.9.9"},
        there=r"10\.77\.9\.9 \(10\.77\.9\.9\) (cannot be reached: No route to host|does not answer at the ports)"),
    "a wrong port": Mistake(
        second={"TRAINYARD_MEET_AT": "h0:1234"},
        there=r"h0 \(10\.77\.0\.1\) refuses connections at port 1234: host 0 does not listen there, or not yet, or a "),
    "its own address instead of that of host 0": Mistake(
        second={"TRAINYARD_MEET_AT": "10.77.0.2"},
        there=r"10\.77\.0\.2 \(10\.77\.0\.2, which is this host itself\) refuses connections at the ports"),
    "a name that means the loopback device": Mistake(
        on_h1=over("/etc/hosts", "echo '127.0.1.1 h0' > hosts"),
        there=r"host 1 cannot find host 0: on this host, the name 'h0' means 127\.0\.1\.1, which is this host itself"),
    "a name that cannot be resolved": Mistake(
        second={"TRAINYARD_MEET_AT": "nowhere"}, there=r"the host 'nowhere' has no address: "),
    "a number beyond the hosts": Mistake(
        second={"TRAINYARD_HOST_NUMBER": "2"}, codes=(124, 2), there=r"TRAINYARD_HOST_NUMBER is '?2'?; allowed: .*0 to 1"),
    "another number of hosts": Mistake(
        second={"TRAINYARD_HOST_NAMES": "h0,h1,h2"}, here=r"refused: it counts 3 hosts, and host 0 counts 2",
        there=r"does not accept host 1: it counts 3 hosts, and host 0 counts 2"),
    "another version": Mistake(
        # The plugins have to be described anew there, which takes a busy machine several seconds.
        run=[*RUN[:-1], "topology.join_timeout_s=20"], on_h1=another_version(), here=r"refused: it has another build of Trainyard: 'trainyard-0\.9",
        there=r"does not accept host 1: it has another build of Trainyard: 'trainyard-0\.9"),
    "a plugin that is missing": Mistake(
        on_h1=f"mount -t tmpfs none {doctor.BUILD}/plugins/transforms",
        here=r"refused: it does not have the same plugins: it has no transform '",
        there=r"does not accept host 1: it does not have the same plugins: it has no transform '"),
    "another launch file": Mistake(
        run=["launch", "/mnt/run.toml", *RUN[2:]], on_h1=over("/mnt/run.toml", "sed -i 's/max_steps = 2000/max_steps = 2001/' run.toml"),
        here=r"refused: it has another launch file: the content of /mnt/run\.toml there differs from that of",
        there=r"does not accept host 1: it has another launch file: "),
    "other arguments": Mistake(
        other_run=[*RUN, "seed=2"], here=r"refused: it was started with other arguments: .*seed=2; those of host 0: ",
        there=r"does not accept host 1: it was started with other arguments: "),
    "other data": Mistake(
        run=CSV, on_h1=over("/mnt/data.csv", "sed -i '$ s/9/8/' data.csv"), codes=(1, 1),
        here=r"dataset 'csv' of .*: this rank has other samples than rank 0, although as many: train with 50 samples"),
    "a folder that is not shared": Mistake(
        run=[*RUN, "run.checkpoint_every_steps=2", "component.checkpoint_writer.params.other_hosts=write",
             "component.checkpoint_writer.params.directory=/tmp/checkpoints"], codes=(1, 1),
        here=r"the host h1, with rank 1, does not share the folder of the checkpoints, /tmp/checkpoints: there is no file "
             r"/tmp/"),
    "a folder on whose copy of each host both can write": Mistake(
        run=[*RUN, "run.checkpoint_every_steps=2", "component.checkpoint_writer.params.other_hosts=write",
             "component.checkpoint_writer.params.directory=/mnt/checkpoints"], codes=(1, 1),
        on_h1=over("/mnt/checkpoints", "true"),
        here=r"the host h1, with rank 1, does not share the folder of the checkpoints, /mnt/checkpoints: there is no file "
             r"/mnt/"),
    "a name server that does not answer": Mistake(
        second={"TRAINYARD_MEET_AT": "h9.example.org"},
        # The network takes its packets and returns nothing.
        on_h1=over("/etc/resolv.conf", "echo 'nameserver 10.77.9.9' > resolv.conf") +
        " && ip neigh add 10.77.9.9 lladdr 02:00:00:00:00:09 nud permanent dev eth0",
        there=r"the address of 'h9\.example\.org' is not known yet: no name server has answered"),
    "another number of samples": Mistake(
        run=CSV, on_h1=over("/mnt/data.csv", "sed -i '$ d' data.csv"), codes=(1, 1),
        here=r"the ranks do not have the same data: the number of training samples is 50 on one rank and 49 on another"),
    "variables of an outer engine, which is not used": Mistake(
        run=[*RUN, "topology.environment=hosts"], first=OUTER, second=OUTER, codes=(0, 0),
        here=r"run finished: max_steps = 3 reached"),
    "other kernels of the processor": Mistake(
        second={"ATEN_CPU_CAPABILITY": "default"}, codes=(0, 0),
        here=r"warning: host 1 \(h1, 10\.77\.0\.2\) has another processor, .*ATEN_CPU_CAPABILITY=default"),
    "a clock that is an hour off": Mistake(
        second={"LD_PRELOAD": "/mnt/clock.so"}, codes=(0, 0),
        here=r"warning: host 1 \(h1, 10\.77\.0\.2\) has a clock that is 3600 s ahead of that of host 0"),
    "a firewall that drops": Mistake(
        on_h0="ip route add blackhole 10.77.0.2/32", there=r"h0 \(10\.77\.0\.1\) does not answer at the ports"),
    "a firewall that refuses": Mistake(
        on_h0="ip rule add pref 10 dev eth0 prohibit && ip rule add pref 20 lookup local && ip rule del pref 0",
        # The kernel limits how often it says so, and what is left unsaid looks like a firewall that drops.
        there=r"h0 \(10\.77\.0\.1\) (cannot be reached: (No route to host|Permission denied)|does not answer at the ports)"),
    "no key": Mistake(
        second={"TRAINYARD_KEY_FILE": "/mnt/none"}, codes=(124, 3),
        there=r"a run on several hosts needs a key, .* and there is no /mnt/none"),
    "a key that others can read": Mistake(
        second={"TRAINYARD_KEY_FILE": "/mnt/open"}, codes=(124, 2),
        there=r"/mnt/open: others may read or write this key"),
    "another key": Mistake(
        second={"TRAINYARD_KEY_FILE": "/mnt/other"},
        there=r"h0 \(10\.77\.0\.1\) accepts connections at port \d+, but nobody there knows the key of this host \([0-9a-f-]+ "
              r"from /mnt/other\)"),
    "the variables of another engine": Mistake(
        second={"TRAINYARD_HOST_NUMBER": "", "TRAINYARD_HOST_NAMES": "", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "4",
                "LOCAL_WORLD_SIZE": "4", "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1"}, codes=(124, 124),
        there=r"the environment 'torchrun' says that this is one of several launches .*, because RANK is 0 and LOCAL_RANK "
              r"is 0.*; environment=single_host makes this launch a run of its own"),
    "fewer devices than host 0 has": Mistake(
        run=[*RUN[:-2], "devices=-1", RUN[-1]], cpus_of_h1=1,
        here=r"refused: it has other devices: the planner has chosen devices = 1 there, and devices = \d+ on host 0",
        there=r"does not accept host 1: it has other devices: "),
}


@unittest.skipIf(missing(), missing())
class MisconfigurationsTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        launches.write_key(self.lab)
        launches.write_key(self.lab, "open", mode=0o644)
        launches.write_key(self.lab, "other", launches.OTHER_KEY)
        shutil.copy(pathlib.Path(doctor.BUILD, "share/trainyard/launch/mlp.toml"), self.lab.shared / "run.toml")
        rows = "".join(f"{i % 7}.5,{i % 3}.25,{i % 2}\n" for i in range(49)) + "9.5,1.25,0\n"
        (self.lab.shared / "checkpoints").mkdir()
        (self.lab.shared / "data.csv").write_text("a,b,class\n" + rows)

    def make_clock(self):
        """A library with which the clock of a program is an hour fast."""
        source = self.lab.shared / "clock.c"
        source.write_text("#define _GNU_SOURCE\n#include <time.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
                          "int clock_gettime(clockid_t which, struct timespec* now) {\n"
                          "  int code = syscall(SYS_clock_gettime, which, now);\n"
                          "  if (which == CLOCK_REALTIME) now->tv_sec += 3600;\n  return code;\n}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(self.lab.shared / "clock.so"), str(source)], check=True)

    def check(self, name):
        mistake = MISTAKES[name]
        if "LD_PRELOAD" in mistake.second:
            self.make_clock()
        for host, script in zip(self.lab.hosts, (mistake.on_h0, mistake.on_h1)):
            if script:
                self.assertEqual(host.run(["sh", "-c", script]), ("", 0), host.name)
        here = launches.Launch(self.lab, 0, mistake.run, mistake.first)
        there = self.start_second(mistake)
        for launch, pattern in ((here, mistake.here), (there, mistake.there)):
            self.names(launch, pattern)
        self.assertEqual((here.end(), there.end()), mistake.codes, here.output() + there.output())
        for launch, pattern in ((here, mistake.here), (there, mistake.there)):
            self.names_once(launch, pattern)
        launches.nothing_is_left(self, *self.lab.hosts)

    def start_second(self, mistake):
        allowed = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, sorted(allowed)[:mistake.cpus_of_h1 or None])
            return launches.Launch(self.lab, 1, mistake.other_run or mistake.run, mistake.second)
        finally:
            os.sched_setaffinity(0, allowed)

    def test_a_host_that_is_missing(self):
        here = launches.Launch(self.lab, 0, [*RUN[:-1], "topology.join_timeout_s=11"])
        self.names(here, r"waiting for host 1 \(h1\)")
        self.assertEqual(here.end(), 124, here.output())
        self.assertIn("host 1 (h1) did not join within 11 s", here.output())
        launches.nothing_is_left(self, here.host)

    def test_two_hosts_with_one_number(self):
        three = {"TRAINYARD_HOST_NAMES": "h0,h1,h2"}
        here, there = launches.Launch(self.lab, 0, RUN, three), launches.Launch(self.lab, 1, RUN, three)
        self.names(here, r"host 1 \(h1, 10\.77\.0\.2\) has joined")
        twice = launches.Launch(self.lab, 1, RUN, three)
        self.assertEqual(twice.end(), 1)
        self.names_once(twice, r"it has the same number as host 1 \(h1, 10\.77\.0\.2\), which has already joined")
        self.assertEqual((here.end(), there.end()), (124, 1))
        launches.nothing_is_left(self, *self.lab.hosts)

    def names(self, launch, pattern):
        until = time.monotonic() + NAMED_SECONDS
        while pattern and not re.search(pattern, launch.output()):
            if launch.process.poll() is not None and not re.search(pattern, launch.output()):
                self.fail(f"{launch.host.name} did not say '{pattern}':\n{launch.output()}")
            self.assertLess(time.monotonic(), until, f"{launch.host.name} did not say '{pattern}':\n{launch.output()}")
            time.sleep(0.05)

    def names_once(self, launch, pattern):
        """One message names the mistake; the last message of a launch that fails repeats it."""
        if pattern:
            lines = [line for line in launch.output().splitlines() if re.search(pattern, line)]
            last = [line for line in lines if " did not find host 0 within " in line or "run failed: " in line]
            self.assertEqual(len(lines) - len(last), 1, launch.output())


def add_tests():
    for name in MISTAKES:
        def test(self, name=name):
            self.check(name)
        setattr(MisconfigurationsTest, "test_" + name.replace(",", "").replace(" ", "_"), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
