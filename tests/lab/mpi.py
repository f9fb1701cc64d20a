# SPDX-License-Identifier: Apache-2.0
"""Open MPI's mpirun over the hosts of a lab. Debian package: openmpi-bin."""
import pathlib
import shutil
import subprocess
import sys

import lab as laboratory

SHELL = str(pathlib.Path(__file__).with_name("remote_shell.py").resolve())
PYTHON = (sys.executable, "-B")


def program():
    """The path of mpirun. Other implementations of MPI can have the same name, so Open MPI's own names come first."""
    return shutil.which("orterun") or shutil.which("mpirun.openmpi")


def missing():
    """Why mpirun cannot run in a lab here, or an empty text."""
    return laboratory.missing() if program() else "Open MPI is not installed: orterun"


class OpenMpi:
    """Makes the hosts of a lab ready for mpirun."""

    def __init__(self, lab):
        self.lab = lab
        for host in lab.hosts:
            server = host.start([*PYTHON, SHELL, "serve"], stdout=subprocess.PIPE, text=True)
            if server.stdout.readline() != "ready\n":
                raise RuntimeError(f"the remote shell of {host.name} did not start")
            server.stdout.close()

    def mpirun(self, hosts, *arguments, at=0, timeout=120):
        """Runs mpirun at host number `at`; `hosts` is a list such as "h0:2,h1:2". Returns its output and exit code."""
        options = ["plm_rsh_agent", f"{' '.join(PYTHON)} {SHELL}", "plm_rsh_no_tree_spawn", "1",
                   "oob_tcp_if_include", "eth0", "orte_keep_fqdn_hostnames", "1"]
        pairs = [word for pair in zip(options[::2], options[1::2]) for word in ("--mca", *pair)]
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return self.lab.hosts[at].run([program(), *pairs, "--host", hosts, *arguments], environment=variables,
                                      folder="/mnt", timeout=timeout)
