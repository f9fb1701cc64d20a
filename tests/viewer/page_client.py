# SPDX-License-Identifier: Apache-2.0
"""A client that communicates with the viewer in the same way as its browser page: with HTTP and a WebSocket. It needs
only Python's standard library."""
import http.client
import json
import pathlib
import sys
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from web_socket import PATIENCE_S, Refused, WebSocket


class Page(WebSocket):
    """Opens the address that the viewer prints, and then the WebSocket."""

    def __init__(self, url, receive_buffer=0):
        parts = urllib.parse.urlsplit(url)
        self.pushes, self.next_id = [], 1
        connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_S)
        connection.request("GET", f"/?{parts.query}")
        answer = connection.getresponse()
        answer.read()
        assert (answer.status, answer.headers["Location"]) == (303, "/"), answer.status
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        connection.request("GET", "/", headers={"Cookie": cookie})
        answer = connection.getresponse()
        self.html = answer.read().decode()
        assert answer.status == 200, answer.status
        connection.close()
        super().__init__((parts.hostname, parts.port), "/ws", receive_buffer, Cookie=cookie,
                         Origin=f"http://{parts.netloc}")

    def ask(self, op, **arguments):
        number, self.next_id = self.next_id, self.next_id + 1
        self.send(json.dumps({"id": number, "op": op, **arguments}).encode())
        while True:
            message = json.loads(self.receive()[1])
            if message.get("id") != number:
                self.pushes.append(message)
            elif message["ok"]:
                return message["result"]
            else:
                raise Refused(message["error"])

    def push(self, kind):
        """The next push of this kind."""
        until = time.monotonic() + PATIENCE_S
        while True:
            for i, message in enumerate(self.pushes):
                if message.get("push") == kind:
                    return self.pushes.pop(i)
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError(f"no push '{kind}'")
            self.pushes.append(json.loads(self.receive(left)[1]))
