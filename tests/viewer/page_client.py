# SPDX-License-Identifier: Apache-2.0
"""A client of the viewer as a page would be one: HTTP and a WebSocket, with Python's own library alone."""
import base64
import http.client
import json
import os
import socket
import struct
import time
import urllib.parse


class Refused(Exception):
    """The viewer has refused a question. The text is its reason."""


class Page:
    """Opens the address that the viewer prints, and then the WebSocket."""

    def __init__(self, url, receive_buffer=0):
        parts = urllib.parse.urlsplit(url)
        self.host, self.pushes, self.next_id = parts.netloc, [], 1
        connection = http.client.HTTPConnection(parts.netloc, timeout=20)
        connection.request("GET", f"/?{parts.query}")
        answer = connection.getresponse()
        answer.read()
        assert (answer.status, answer.headers["Location"]) == (303, "/"), answer.status
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        connection.request("GET", "/", headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        self.html = answer.read().decode()
        assert answer.status == 200, answer.status
        connection.close()
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        self.socket.connect((parts.hostname, parts.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /ws HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nCookie: {self.cookie}\r\n"
                             f"Origin: http://{parts.netloc}\r\n\r\n").encode())
        self.unread = b""
        while b"\r\n\r\n" not in self.unread:
            self.fill(len(self.unread) + 1)
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101"), head

    def fill(self, size):
        while len(self.unread) < size:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError("the viewer has closed the connection")
            self.unread += more

    def take(self, size):
        self.fill(size)
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def send(self, payload, opcode=1):
        size, mask = len(payload), b"\x01\x02\x03\x04"
        length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def receive(self):
        while True:
            first, size = self.take(2)
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            payload = self.take(size)
            if first & 15 == 9:
                self.send(payload, 10)
            elif first & 15 == 8:
                raise EOFError("the viewer has closed the WebSocket")
            else:
                return json.loads(payload)

    def ask(self, op, **arguments):
        number, self.next_id = self.next_id, self.next_id + 1
        self.send(json.dumps({"id": number, "op": op, **arguments}).encode())
        while True:
            message = self.receive()
            if message.get("id") != number:
                self.pushes.append(message)
            elif message["ok"]:
                return message["result"]
            else:
                raise Refused(message["error"])

    def push(self, kind):
        """The next push of this kind."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            for i, message in enumerate(self.pushes):
                if message.get("push") == kind:
                    return self.pushes.pop(i)
            self.pushes.append(self.receive())
        raise TimeoutError(f"no push '{kind}'")

    def close(self):
        self.socket.close()
