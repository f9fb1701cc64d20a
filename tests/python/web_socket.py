# SPDX-License-Identifier: Apache-2.0
"""The client side of a WebSocket (RFC 6455), which needs only Python's standard library."""
import base64
import os
import re
import socket
import struct
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PATIENCE_S = 180


class Refused(Exception):
    """The server has refused the connection or the request. The text is the answer of the server."""


class WebSocket:
    """Connects to a server on this host. `fields` contains additional header fields for the request."""

    def __init__(self, address, target, receive_buffer=0, **fields):
        self.unread = b""
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_S)
        try:
            self.socket.connect(address)
            self.head = self._shake_hands(f"{address[0]}:{address[1]}", target, fields)
        except BaseException:
            self.socket.close()
            raise

    def _shake_hands(self, host, target, fields):
        request = {"Host": host, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                   **{name.replace("_", "-"): text for name, text in fields.items() if text}}
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {text}" for name, text in request.items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self.unread:
            self._fill()
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 101"):
            length = re.search(rb"(?i)\r\nContent-Length: (\d+)", head)
            while length and len(self.unread) < int(length[1]):
                self._fill()
            raise Refused((head + self.unread).decode())
        return head.decode()

    def send(self, payload, opcode=TEXT):
        size, mask = len(payload), b"\x01\x02\x03\x04"
        length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def receive(self, seconds=PATIENCE_S):
        """The kind and the bytes of the next message, which is no ping. Raises TimeoutError, and EOFError at the end."""
        until = time.monotonic() + seconds
        while True:
            while (frame := self._frame()) is None:
                self.socket.settimeout(max(until - time.monotonic(), 0.001))
                self._fill()
            kind, payload = frame
            if kind == PING:
                self.send(payload, PONG)
            elif kind == CLOSE:
                raise EOFError("the server has closed the WebSocket")
            else:
                return kind, payload

    def _frame(self):
        """Takes the next frame if it has arrived completely."""
        if len(self.unread) < 2:
            return None
        form, at = {126: ("!H", 4), 127: ("!Q", 10)}.get(self.unread[1], ("!B", 2))
        if len(self.unread) < at:
            return None
        size, = struct.unpack(form, self.unread[at - struct.calcsize(form):at])
        if len(self.unread) < at + size:
            return None
        kind, payload, self.unread = self.unread[0] & 15, self.unread[at:at + size], self.unread[at + size:]
        return kind, payload

    def _fill(self):
        more = self.socket.recv(1 << 16)
        if not more:
            raise EOFError("the server has closed the connection")
        self.unread += more

    def close(self):
        self.socket.close()
