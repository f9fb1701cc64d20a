# SPDX-License-Identifier: Apache-2.0
"""A client of the Foxglove WebSocket protocol, with Python's own library alone."""
import base64
import json
import os
import socket
import struct
import time
import urllib.parse

SUBPROTOCOL = "foxglove.websocket.v1"


class Refused(Exception):
    """The server has refused the connection. The text is the head and the body of its answer."""


class Client:
    """Connects to the address that the bridge prints. Everything that arrives is kept until somebody asks for it."""

    def __init__(self, url, subprotocol=SUBPROTOCOL, origin="", receive_buffer=0):
        parts = urllib.parse.urlsplit(url)
        self.unread, self.arrived = b"", []
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        try:
            self.connect(parts, subprotocol, origin)
        except BaseException:
            self.socket.close()
            raise

    def connect(self, parts, subprotocol, origin):
        self.socket.connect((parts.hostname, parts.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\n"
                             f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
                             + (f"Sec-WebSocket-Protocol: {subprotocol}\r\n" if subprotocol else "")
                             + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode())
        while b"\r\n\r\n" not in self.unread:
            self.fill(len(self.unread) + 1)
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 101"):
            raise Refused((head + self.unread).decode())
        assert f"Sec-WebSocket-Protocol: {subprotocol}".encode() in head, head

    def fill(self, size):
        while len(self.unread) < size:
            more = self.socket.recv(1 << 20)
            if not more:
                raise EOFError("the server has closed the connection")
            self.unread += more

    def take(self, size):
        self.fill(size)
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def send_frame(self, payload, opcode):
        size, mask = len(payload), b"\x01\x02\x03\x04"
        length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def send(self, **message):
        self.send_frame(json.dumps(message).encode(), 1)

    def call(self, service, call, body, encoding=b"json"):
        self.send_frame(struct.pack("<BIII", 2, service, call, len(encoding)) + encoding + body, 2)

    def receive(self):
        """The next message: a JSON object, or a binary message as an object with an `op` that names it."""
        while True:
            first, size = self.take(2)
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            payload = self.take(size)
            if first & 15 == 9:
                self.send_frame(payload, 10)
            elif first & 15 == 8:
                raise EOFError("the server has closed the WebSocket")
            elif first & 15 == 1:
                return json.loads(payload)
            else:
                return self.binary(payload)

    @staticmethod
    def binary(payload):
        if payload[0] == 1:
            subscription, nanoseconds = struct.unpack_from("<IQ", payload, 1)
            return {"op": "message", "subscription": subscription, "time": nanoseconds, "data": json.loads(payload[13:])}
        if payload[0] == 2:
            return {"op": "time", "time": struct.unpack_from("<Q", payload, 1)[0]}
        service, call, length = struct.unpack_from("<III", payload, 1)
        return {"op": "response", "service": service, "call": call, "encoding": payload[13:13 + length].decode(),
                "data": json.loads(payload[13 + length:])}

    def wait(self, op, check=lambda message: True, seconds=60):
        """The next message of this kind that passes the check."""
        until = time.monotonic() + seconds
        seen = 0
        while time.monotonic() < until:
            while seen < len(self.arrived):
                message = self.arrived[seen]
                if message["op"] == op and check(message):
                    return self.arrived.pop(seen)
                seen += 1
            self.arrived.append(self.receive())
        raise TimeoutError(f"no '{op}'")

    def channels(self):
        """All channels by topic, when the bridge has learned them from the run."""
        found = {}
        while not found:
            found = {each["topic"]: each for each in self.wait("advertise")["channels"]}
        return found

    def close(self):
        self.socket.close()
