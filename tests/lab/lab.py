#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine, for tests of runs over several hosts. Needs root.

    with Lab(hosts=3, rate="1gbit") as lab:
        lab.hosts[0].start(["trainyard", "launch", "mnist.toml"])
        lab.hosts[1].unplug()

A host consists of namespaces: it has its own network interface, host name, processes, /tmp, /dev/shm and
XDG_RUNTIME_DIR. All other folders are those of the machine, and the folder `/mnt` is shared by the hosts of a lab. Hosts
reach each other by name (h0, h1, ...) and by address (10.77.0.1, ...), and nothing else: not the machine, and not the
hosts of another lab.

All parts of a lab exist only as long as its processes, and these are killed when the process that made the lab ends,
however it ends. So nothing of a lab can be left behind.

As a command, it runs a program on every host, which finds the others through the environment `hosts`:

    sudo python3 tests/lab/lab.py --hosts 2 --rate 100mbit -- build/check/bin/trainyard doctor --environment
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import inside

INSIDE = str(pathlib.Path(inside.__file__).resolve())
SOURCE = str(pathlib.Path(__file__).resolve().parents[2])
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
PYTHON = (sys.executable, "-B")


def missing():
    """Why no lab can be made here, or an empty text."""
    for program in ("ip", "tc", "unshare", "nsenter", "setpriv"):
        if not shutil.which(program):
            return f"a lab needs the program {program}"
    if os.geteuid() != 0:
        return "a lab needs root"
    attempt = subprocess.run(
        ["unshare", "--net", "--uts", "--mount", "--pid", "--ipc", "--fork", "ip", "link", "add", "type", "veth"],
        capture_output=True, text=True,
    )
    return f"namespaces are not allowed here: {attempt.stderr.strip()}" if attempt.returncode else ""


def start_first_process(command):
    """Starts the first process of a namespace; returns it and its PID as we see it."""
    process = subprocess.Popen([*DIES_WITH_US, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(f"a part of the lab did not start: {' '.join(command)}")
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return process, int(children[0])


class Host:
    """One host of a lab."""

    def __init__(self, lab, number):
        self.lab, self.number = lab, number
        self._started = []
        self.name, self.address = f"h{number}", f"10.77.{number // 250}.{number % 250 + 1}"
        self.port = f"to-{self.name}"  # The interface of the switch to which the host is connected.
        self._process, self.pid = start_first_process([
            "nsenter", "--mount", "--target", str(lab.pid), "--", "unshare", "--net", "--uts", "--mount", "--pid", "--ipc",
            "--fork", "--kill-child=KILL", *PYTHON, INSIDE, "host", self.name, *lab.visible])
        lab.on_switch("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        lab.on_switch("ip", "link", "set", self.port, "master", "switch", "up")
        self.on_network("ip", "address", "add", f"{self.address}/16", "dev", "eth0")
        self.on_network("ip", "link", "set", "eth0", "up")

    def on_network(self, *command):
        """Runs a command of the machine with the network of the host."""
        subprocess.run(["nsenter", "--net", "--target", str(self.pid), "--", *command], check=True)

    def start(self, command, environment=None, folder="/", **options):
        """Starts a program on the host. `environment` is added to that of this process; returns a Popen.

        Use end() or the functions below to end it: the Popen is a process outside that waits for the program."""
        variables = dict(os.environ, XDG_RUNTIME_DIR=inside.RUNTIME, HOSTNAME=self.name, **(environment or {}))
        variables.pop("TMPDIR", None)
        entered = ["nsenter", "--net", "--uts", "--mount", "--pid", "--ipc", "--target", str(self.pid), "--",
                   *DIES_WITH_US, "env", "-C", str(folder)]
        process = subprocess.Popen([*DIES_WITH_US, *entered, *command], env=variables, **options)
        self._started.append(process)
        return process

    def run(self, command, timeout=60, **options):
        """Runs a program on the host to its end; returns what it printed to stdout and stderr, and its exit code."""
        process = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        try:
            return process.communicate(timeout=timeout)[0], process.returncode
        finally:
            process.kill()
            process.communicate()

    def end(self, process, number=signal.SIGTERM):
        """Sends a signal to a program that start() has started, not to those that the program has started."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), number)

    def processes(self):
        """The names of the programs that run on the host, without the host's own first process."""
        listed, _ = self.run(["ps", "-e", "-o", "pid=,comm="])
        return [line.split(None, 1)[1] for line in listed.splitlines() if int(line.split()[0]) != 1][:-1]

    def kill_processes(self):
        """Kills all programs of the host at once; the host itself closes their connections."""
        self.run(["kill", "-KILL", "-1"])

    def power_off(self):
        """The host vanishes with all its programs, and nobody is told. It cannot come back."""
        self.unplug()  # The kernel would say farewell for the programs.
        self.close()

    def close(self):
        """Ends the host and all its programs; may be called again."""
        self._process.kill()
        for process in (self._process, *self._started):
            process.wait()
        self._process.stdout.close()

    def unplug(self):
        """Takes the link to the switch down; programs go on."""
        self.lab.on_switch("ip", "link", "set", self.port, "down")

    def plug(self):
        self.lab.on_switch("ip", "link", "set", self.port, "up")

    def set_rate(self, rate):
        """Limits the link in both directions to a rate such as "100mbit"; an empty text lifts the limit."""
        for run, interface in ((self.on_network, "eth0"), (self.lab.on_switch, self.port)):
            # The burst is what passes at once: at least the largest segment that the kernel passes on, 64 KiB, and what a
            # fast link carries between two looks of the limiter.
            burst = "2mb" if "gbit" in rate else "256kb"
            limit = ["tbf", "rate", rate, "burst", burst, "latency", "50ms"] if rate else ["noqueue"]
            run("tc", "qdisc", "replace", "dev", interface, "root", *limit)

    @contextlib.contextmanager
    def capture(self, path):
        """Writes all packets from and to the host to a pcap file. Yields a list; afterwards it holds how many packets the
        capture has lost, which should be 0."""
        lost = []
        command = ["nsenter", "--net", "--target", str(self.lab.pid), "--", *PYTHON, INSIDE, "capture", self.port, str(path)]
        process = subprocess.Popen([*DIES_WITH_US, *command], stdout=subprocess.PIPE, text=True)
        try:
            if process.stdout.readline() != "ready\n":
                raise RuntimeError("the capture did not start")
            yield lost
            process.terminate()
            lost.append(int(process.communicate(timeout=30)[0]))
        finally:
            process.kill()
            process.communicate()


class Lab:
    """Hosts and the switch that connects them. `visible` are folders that hosts see even if they are below /tmp."""

    def __init__(self, hosts, rate="", visible=()):
        reason = missing()
        if reason:
            raise RuntimeError(reason)
        self.visible = [SOURCE, *map(str, visible)]
        self.hosts = []
        self._process, self.pid = start_first_process([
            "unshare", "--net", "--mount", "--propagation", "private", "--fork", "--kill-child=KILL",
            *PYTHON, INSIDE, "switch"])
        try:
            self._add_hosts(hosts, rate)
        except BaseException:
            self.close()
            raise

    def _add_hosts(self, count, rate):
        self.shared.joinpath(".hosts").write_text("127.0.0.1 localhost\n")
        for number in range(count):
            self.hosts.append(Host(self, number))
            if rate:
                self.hosts[-1].set_rate(rate)
        names = "".join(f"{host.address} {host.name}\n" for host in self.hosts)
        self.shared.joinpath(".hosts").write_text("127.0.0.1 localhost\n" + names)

    @property
    def shared(self):
        """The folder that the hosts see as /mnt, as a path of this process."""
        return pathlib.Path(f"/proc/{self.pid}/root{inside.SHARED}")

    def on_switch(self, *command):
        subprocess.run(["nsenter", "--net", "--target", str(self.pid), "--", *command], check=True)

    def close(self):
        for host in self.hosts:
            host.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def show(host, process):
    for line in process.stdout:
        print(f"{host.name}: {line}", end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Runs a program on several hosts, which are namespaces of this machine.")
    parser.add_argument("--hosts", type=int, default=2, metavar="N", help="how many hosts (2)")
    parser.add_argument("--rate", default="", help="the rate of every link, such as 100mbit")
    parser.add_argument("command", nargs="+", help="the program and its arguments, after --")
    given = parser.parse_args()
    if missing():
        print(f"lab.py: {missing()}", file=sys.stderr)
        return 2
    with Lab(given.hosts, given.rate) as lab:
        names = ",".join(host.name for host in lab.hosts)
        started = [
            host.start(given.command, {"TRAINYARD_HOST_NAMES": names, "TRAINYARD_HOST_NUMBER": str(host.number)},
                       folder=os.getcwd(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for host in lab.hosts
        ]
        printers = [threading.Thread(target=show, args=pair) for pair in zip(lab.hosts, started)]
        for printer in printers:
            printer.start()
        codes = [process.wait() for process in started]
        for printer in printers:
            printer.join()
    return max(codes, key=abs)


if __name__ == "__main__":
    sys.exit(main())
