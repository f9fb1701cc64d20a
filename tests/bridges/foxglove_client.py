# SPDX-License-Identifier: Apache-2.0
"""A client for the Foxglove WebSocket protocol that needs only Python's standard library."""
import json
import pathlib
import struct
import sys
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from web_socket import BINARY, PATIENCE_S, TEXT, WebSocket

SUBPROTOCOL = "foxglove.websocket.v1"


class Client(WebSocket):
    """Connects to the address that the bridge prints. All messages that arrive are stored until the test asks for
    them."""

    def __init__(self, url, subprotocol=SUBPROTOCOL, origin="", receive_buffer=0):
        parts = urllib.parse.urlsplit(url)
        self.arrived = []
        super().__init__((parts.hostname, parts.port), f"/?{parts.query}", receive_buffer, Origin=origin,
                         Sec_WebSocket_Protocol=subprotocol)
        assert f"Sec-WebSocket-Protocol: {subprotocol}" in self.head, self.head

    def tell(self, **message):
        self.send(json.dumps(message).encode())

    def call(self, service, call, body, encoding=b"json"):
        self.send(struct.pack("<BIII", 2, service, call, len(encoding)) + encoding + body, BINARY)

    def next(self, seconds=PATIENCE_S):
        """The next message: a JSON object, or a binary message as an object with an `op` that names it."""
        kind, payload = self.receive(seconds)
        return json.loads(payload) if kind == TEXT else self.binary(payload)

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

    def wait(self, op, check=lambda message: True, seconds=PATIENCE_S):
        """The next message of this kind that passes the check."""
        until, seen = time.monotonic() + seconds, 0
        while True:
            for place in range(seen, len(self.arrived)):
                if self.arrived[place]["op"] == op and check(self.arrived[place]):
                    return self.arrived.pop(place)
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError(f"no '{op}'")
            seen = len(self.arrived)
            self.arrived.append(self.next(left))

    def channel(self, topic):
        """The channel of a topic, when the bridge has learned it from the run. Other topics may come before it, or none."""
        def of_topic(message):
            return next((each for each in message["channels"] if each["topic"] == topic), None)

        return of_topic(self.wait("advertise", of_topic))

    def channels(self):
        """All channels by topic, when the bridge has learned them from the run."""
        found = {}
        while not found:
            found = {each["topic"]: each for each in self.wait("advertise")["channels"]}
        return found
