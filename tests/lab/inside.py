# SPDX-License-Identifier: Apache-2.0
"""The programs that run inside the namespaces of a lab: the first process of the network switch and of each host, and
the program that captures packets.

`lab.py` starts these programs. Each prints "ready" when it is ready. """
import os
import signal
import socket
import struct
import subprocess
import sys
import time

SHARED = "/mnt"
RUNTIME = "/run/lab"
SOL_PACKET, PACKET_STATISTICS = 263, 6
ETH_P_ALL = 3


def call(*command):
    subprocess.run(command, check=True)


def ready():
    print("ready", flush=True)


def block_signals():
    """From now on, no signal is lost before somebody waits for it, and Ctrl-C is for others."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGINT})


def wait_and_reap():
    """Waits until it is killed. The first process of a PID namespace inherits orphans; without this they would stay."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        signal.sigwait({signal.SIGCHLD})


def switch():
    """The network's bridge, and the folder that all hosts share."""
    call("mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "lab", SHARED)
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "add", "switch", "type", "bridge")
    call("ip", "link", "set", "switch", "up")
    block_signals()
    ready()
    wait_and_reap()


def empty_folders(visible):
    """Gives the host its own /tmp, /dev/shm and /run. The folders in `visible` stay where they are even below /tmp."""
    for number, path in enumerate(visible):
        os.makedirs(f"{SHARED}/.visible/{number}", exist_ok=True)
        call("mount", "--bind", path, f"{SHARED}/.visible/{number}")
    for path, mode in (("/tmp", "1777"), ("/dev/shm", "1777")):
        call("mount", "-t", "tmpfs", "-o", f"size=512m,mode={mode}", "lab", path)
    for number, path in enumerate(visible):
        os.makedirs(path, exist_ok=True)
        call("mount", "--bind", f"{SHARED}/.visible/{number}", path)
    call("mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "lab", "/run")
    os.makedirs(RUNTIME, mode=0o700)


def host(name, *visible):
    call("mount", "-t", "proc", "proc", "/proc")
    socket.sethostname(name)
    call("mount", "--bind", f"{SHARED}/.hosts", "/etc/hosts")
    empty_folders([path for path in visible if path.startswith(("/tmp/", "/dev/shm/", "/run/"))])
    call("ip", "link", "set", "lo", "up")
    block_signals()
    ready()
    wait_and_reap()


def capture(interface, path):
    """Writes all packets of the interface to a file in the pcap format until SIGTERM, then says how many were lost."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE: beyond the limit for ordinary users.
    packets.bind((interface, ETH_P_ALL))
    packets.settimeout(0.1)
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
        ready()
        while True:
            try:
                packet = packets.recv(1 << 18)
            except TimeoutError:
                if stopping:  # Only when nothing is left: what was sent before the signal is in the file.
                    break
                continue
            now = time.time()
            file.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(packet), len(packet)) + packet)
    _, lost = struct.unpack("II", packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(lost, flush=True)


if __name__ == "__main__":
    {"switch": switch, "host": host, "capture": capture}[sys.argv[1]](*sys.argv[2:])
