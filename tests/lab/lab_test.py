# SPDX-License-Identifier: Apache-2.0
"""Tests the lab: its hosts are isolated, can reach each other, can fail like real hosts, and leave nothing behind."""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from lab import Lab, missing

MARKER = "91357.25"  # A number of seconds that no other `sleep` waits.


def eventually(done, what, seconds=30):
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            raise AssertionError(f"it did not happen in time: {what}")
        time.sleep(0.02)


def markers():
    """The PIDs of the programs of this machine that wait for the marker."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"sleep\0{MARKER}\0" in folder.joinpath("cmdline").read_text():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


LISTEN = "import socket; s=socket.create_server(('', 5000)); print('ready', flush=True); c, _ = s.accept(); "
CONNECT = "import socket; c=socket.create_connection(('h0', 5000), 5); c.settimeout({}); "


def reaches(host, address):
    """Whether a host can connect to a port that refuses: the refusal comes from the other host."""
    code = ("import socket,sys\ns=socket.socket(); s.settimeout(1)\ntry: s.connect((sys.argv[1], 9))\n"
            "except ConnectionRefusedError: print('yes')\nexcept OSError: print('no')")
    return host.run([sys.executable, "-c", code, address])[0] == "yes\n"


@unittest.skipIf(missing(), missing())
class LabTest(unittest.TestCase):
    def test_a_host_has_its_own_name_processes_and_folders(self):
        with Lab(hosts=2) as lab:
            first, second = lab.hosts
            self.assertEqual(first.run(["hostname"]), ("h0\n", 0))
            self.assertEqual(second.run(["hostname"]), ("h1\n", 0))
            for folder in ("/tmp", "/dev/shm", "/run", "/run/lab"):
                self.assertEqual(first.run(["touch", f"{folder}/of_h0"]), ("", 0))
                self.assertEqual(second.run(["test", "-e", f"{folder}/of_h0"])[1], 1, folder)
                self.assertFalse(os.path.exists(f"{folder}/of_h0"), folder)
            self.assertEqual(first.run(["sh", "-c", "stat -c %a $XDG_RUNTIME_DIR"]), ("700\n", 0))
            sleeper = first.start(["sleep", MARKER])
            eventually(lambda: "sleep" in first.processes(), "the program is listed")
            self.assertNotIn("sleep", second.processes())
            first.end(sleeper)
            self.assertNotEqual(sleeper.wait(30), 0)

    def test_orphans_of_a_host_are_reaped(self):
        with Lab(hosts=1) as lab:
            # The shell ends at once, so its children end as orphans.
            lab.hosts[0].run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.$i & done"], stdin=subprocess.DEVNULL)
            eventually(lambda: not [name for name in lab.hosts[0].processes() if "sleep" in name], "no zombie is left")

    def test_hosts_share_one_folder_with_each_other_and_with_the_test(self):
        with Lab(hosts=2) as lab:
            lab.hosts[0].run(["sh", "-c", "echo shared > /mnt/file"])
            self.assertEqual(lab.hosts[1].run(["cat", "/mnt/file"]), ("shared\n", 0))
            self.assertEqual(lab.shared.joinpath("file").read_text(), "shared\n")
            self.assertFalse(os.path.exists("/mnt/file"))

    def test_a_visible_folder_stays_where_it_is(self):
        with tempfile.TemporaryDirectory() as folder, Lab(hosts=1, visible=[folder]) as lab:
            pathlib.Path(folder, "file").write_text("seen")
            self.assertEqual(lab.hosts[0].run(["cat", f"{folder}/file"]), ("seen", 0))

    def test_hosts_reach_each_other_by_name_and_nothing_else(self):
        with Lab(hosts=3) as lab, Lab(hosts=2) as other:
            self.assertTrue(reaches(lab.hosts[0], "h1"))
            self.assertTrue(reaches(lab.hosts[1], "10.77.0.3"))
            self.assertFalse(reaches(other.hosts[0], "10.77.0.3"), "a host of another lab")
            self.assertEqual(other.hosts[1].run(["hostname"]), ("h1\n", 0))

    def test_a_link_can_be_taken_down_and_come_back(self):
        with Lab(hosts=2) as lab:
            lab.hosts[1].unplug()
            self.assertFalse(reaches(lab.hosts[0], "h1"))
            lab.hosts[1].plug()
            eventually(lambda: reaches(lab.hosts[0], "h1"), "the link is up again")

    def test_a_rate_limits_a_link(self):
        send = CONNECT.format(60) + "c.sendall(bytes(3_000_000)); c.shutdown(1); c.recv(1)"
        receive = LISTEN + "\nwhile c.recv(1 << 20): pass"
        seconds = {}
        for rate in ("", "20mbit"):
            with Lab(hosts=2, rate=rate) as lab:
                receiver = lab.hosts[0].start([sys.executable, "-c", receive], stdout=subprocess.PIPE, text=True)
                self.assertEqual(receiver.stdout.readline(), "ready\n")
                begin = time.monotonic()
                self.assertEqual(lab.hosts[1].run([sys.executable, "-c", send]), ("", 0))
                seconds[rate] = time.monotonic() - begin
                receiver.communicate(timeout=30)
        # 24 Mbit at 20 Mbit/s, less the burst. The other time depends on the machine, so it is only shown.
        self.assertGreater(seconds["20mbit"], 0.9, seconds)

    def test_a_capture_contains_what_was_sent(self):
        with tempfile.TemporaryDirectory() as folder, Lab(hosts=3) as lab:
            receiver = lab.hosts[0].start([sys.executable, "-c", LISTEN + "c.recv(100); c.close()"],
                                          stdout=subprocess.PIPE, text=True)
            self.assertEqual(receiver.stdout.readline(), "ready\n")
            path = pathlib.Path(folder, "packets.pcap")
            with lab.hosts[0].capture(path) as lost:
                lab.hosts[1].run([sys.executable, "-c", CONNECT.format(10) + "c.sendall(b'marker-in-clear'); c.recv(1)"])
            receiver.communicate(timeout=30)
            self.assertEqual(lost, [0])
            packets = path.read_bytes()
            self.assertEqual(struct.unpack("<I", packets[:4])[0], 0xA1B2C3D4)
            self.assertIn(b"marker-in-clear", packets)

    def test_killed_programs_close_their_connections_and_a_host_without_power_does_not(self):
        for vanish, expected in (("kill_processes", "closed\n"), ("power_off", "silence\n")):
            with Lab(hosts=2) as lab:
                server = lab.hosts[0].start([sys.executable, "-c", LISTEN + "import time; time.sleep(1000)"],
                                            stdout=subprocess.PIPE, text=True)
                self.assertEqual(server.stdout.readline(), "ready\n")
                client = lab.hosts[1].start(
                    [sys.executable, "-c", CONNECT.format(2) + "print('ready', flush=True)\n"
                     "try: c.recv(1); print('closed')\n"
                     "except ConnectionError: print('closed')\nexcept TimeoutError: print('silence')"],
                    stdout=subprocess.PIPE, text=True)
                self.assertEqual(client.stdout.readline(), "ready\n")
                getattr(lab.hosts[0], vanish)()
                self.assertEqual(client.communicate(timeout=30)[0], expected, vanish)
                server.wait(30)
                if vanish == "kill_processes":
                    self.assertEqual(lab.hosts[0].run(["hostname"]), ("h0\n", 0), "the host itself goes on")

    def test_nothing_is_left_behind_however_the_lab_ends(self):
        links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout.count("\n")
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        program = ("import lab, signal\nwith lab.Lab(hosts=2) as one:\n"
                   f"    for host in one.hosts: host.start(['sh', '-c', 'sleep {MARKER} & wait'])\n"
                   "    print('ready', flush=True)\n    signal.pause()")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            owner = subprocess.Popen([sys.executable, "-B", "-c", program], cwd=pathlib.Path(__file__).parent,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(owner.stdout.readline(), "ready\n")
            eventually(lambda: len(markers()) == 2, "the programs run")
            owner.send_signal(number)
            owner.communicate(timeout=30)
            eventually(lambda: not markers(), f"no program is left after {number.name}")
        self.assertEqual(subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout.count("\n"), links)
        self.assertEqual(pathlib.Path("/proc/self/mounts").read_text(), mounts)

    def test_the_command_runs_a_program_on_every_host_and_returns_its_failure(self):
        command = [sys.executable, "-B", str(pathlib.Path(__file__).with_name("lab.py")), "--hosts", "2", "--"]
        script = "echo $(hostname) $TRAINYARD_HOST_NUMBER $TRAINYARD_HOST_NAMES; exit $TRAINYARD_HOST_NUMBER"
        found = subprocess.run([*command, "sh", "-c", script], capture_output=True, text=True)
        self.assertEqual(sorted(found.stdout.splitlines()), ["h0: h0 0 h0,h1", "h1: h1 1 h0,h1"])
        self.assertEqual(found.returncode, 1)


if __name__ == "__main__":
    unittest.main()
