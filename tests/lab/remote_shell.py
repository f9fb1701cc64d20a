# SPDX-License-Identifier: Apache-2.0
"""A minimal replacement for ssh, as far as mpirun needs it: a server on each host of a lab, and a client that runs a
command on a host.

    remote_shell.py serve               on the host
    remote_shell.py HOST COMMAND...     elsewhere in the lab; prints what the command prints, and returns its exit code

The connection is not protected, because only the hosts of the lab can reach the server. """
import os
import socket
import socketserver
import subprocess
import sys

PORT = 22


class Session(socketserver.StreamRequestHandler):
    """One command: a line from the client, then the output, then a zero byte and the exit code."""

    def handle(self):
        command = self.rfile.readline().decode()
        process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=self.connection,
                                   stderr=self.connection, cwd="/mnt")
        code = process.wait()
        self.wfile.write(b"\0" + str(code if code >= 0 else 128 - code).encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def serve():
    with Server(("", PORT), Session) as server:
        print("ready", flush=True)
        server.serve_forever()


def run(host, words):
    with socket.create_connection((host, PORT), 10) as connection:
        connection.settimeout(None)
        connection.sendall(" ".join(words).encode() + b"\n")
        answer = b""
        while True:
            piece = connection.recv(1 << 16)
            if not piece:
                break
            answer += piece
            shown, zero, _ = answer.partition(b"\0")
            os.write(1, shown)
            answer = answer[len(shown):] if zero else b""
    return int(answer[1:] or 255)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    sys.exit(run(sys.argv[1], sys.argv[2:]))
