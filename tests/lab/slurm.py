# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on the hosts of a lab: the controller on h0, and a node on each of the other hosts.

Debian packages: slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins and munge. Nothing needs to be configured, and
the daemons of the machine, if there are any, are not touched.
"""
import os
import pathlib
import shutil
import time

import lab as laboratory

FOLDER = "/mnt/slurm"
CONFIGURATION = """
ClusterName=lab
SlurmctldHost=h0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/run/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/{proctrack}
TaskPlugin=task/none
SelectType=select/cons_tres
MpiParams=ports=17000-17099
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName={nodes} CPUs=4 RealMemory=1024
PartitionName=lab Nodes={nodes} Default=YES State=UP MaxTime=10
"""


def program(name):
    """The path of a program of Slurm; some of Debian's own names end with -wlm."""
    path = os.environ["PATH"] + ":/usr/sbin"
    return shutil.which(name, path=path) or shutil.which(f"{name}-wlm", path=path)


def missing():
    """Why Slurm cannot run in a lab here, or an empty text."""
    absent = [name for name in ("munged", "slurmctld", "slurmd", "slurmstepd", "srun") if not program(name)]
    return f"Slurm is not installed: {', '.join(absent)}" if absent else laboratory.missing()


def kinds_of_mpi():
    """The values of `srun --mpi` that work here."""
    has_pmix = any(pathlib.Path("/usr/lib").glob("*/pmix2/lib/libpmix.so"))  # In Debian's libpmix-dev only.
    return ("none", "pmi2", "pmix") if has_pmix else ("none", "pmi2")


class Slurm:
    """Starts Slurm on a lab, and is ready when all nodes are. The lab ends it. With `proctrack` "linuxproc", Slurm sends
    signals to all processes of a step, as it does with control groups, and not only to the tasks."""

    def __init__(self, lab, proctrack="pgid"):
        self.lab, self.login = lab, lab.hosts[0]
        folder = lab.shared / "slurm"
        folder.mkdir()
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        nodes = f"h[1-{len(lab.hosts) - 1}]"
        (folder / "slurm.conf").write_text(CONFIGURATION.format(nodes=nodes, proctrack=proctrack))
        for host in lab.hosts:
            self._start(host, "munged", f"mkdir -p -m 755 /run/munge /run/slurmd /run/slurmctld; mkdir -m 700 /run/munged; "
                        f"exec {program('munged')} --foreground --key-file={FOLDER}/munge.key "
                        "--pid-file=/run/munged/pid --log-file=/run/munged/log --seed-file=/run/munged/seed")
        for host in lab.hosts:
            self._wait_for(host, ["test", "-S", "/run/munge/munge.socket.2"], "munged")
        self._start(self.login, "slurmctld", f"exec {program('slurmctld')} -D -f {FOLDER}/slurm.conf")
        for host in lab.hosts[1:]:
            self._start(host, "slurmd", f"exec {program('slurmd')} -D -f {FOLDER}/slurm.conf -d {program('slurmstepd')}")
        idle = f"[ $(sinfo -h -N -t idle -o %N | wc -l) = {len(lab.hosts) - 1} ]"
        self._wait_for(self.login, ["sh", "-c", idle], "slurmctld")

    def _start(self, host, name, script):
        log = open(self.lab.shared / "slurm" / f"{name}-{host.name}.log", "w", encoding="utf-8")
        with log:
            host.start(["sh", "-c", script], {"SLURM_CONF": f"{FOLDER}/slurm.conf"}, stdout=log, stderr=log)

    def _wait_for(self, host, command, name, seconds=60):
        until = time.monotonic() + seconds
        while self.run(command, host=host)[1] != 0:
            if time.monotonic() > until:
                log = (self.lab.shared / "slurm" / f"{name}-{host.name}.log").read_text()
                raise RuntimeError(f"{name} of {host.name} is not ready after {seconds} s:\n{log[-2000:]}")
            time.sleep(0.1)

    def run(self, command, host=None, environment=None, timeout=120):
        """Runs a command, such as srun or sbatch, on the login node; returns its output and its exit code."""
        variables = {"SLURM_CONF": f"{FOLDER}/slurm.conf", **(environment or {})}
        return (host or self.login).run(command, environment=variables, folder="/mnt", timeout=timeout)

    def batch(self, script, *options):
        """Submits a batch script and waits for its end; returns what it printed."""
        (self.lab.shared / "script.sh").write_text(f"#!/bin/sh\n{script}\n")
        output, code = self.run(["sbatch", "--parsable", "--output=/mnt/batch.out", *options, "/mnt/script.sh"])
        if code != 0:
            raise RuntimeError(f"sbatch returned {code}: {output}")
        # `sbatch --wait` would look only now and then.
        self._wait_for(self.login, ["sh", "-c", f'[ -z "$(squeue -h -j {output.strip()})" ]'], "slurmctld")
        return (self.lab.shared / "batch.out").read_text()
