# SPDX-License-Identifier: Apache-2.0
"""Imitates the server of Weights & Biases: it answers the requests that the package makes for a run, and stores the
data that the run sends. Unknown requests get an empty answer."""
import gzip
import http.server
import json
import re
import threading

_VIEWER = {"viewer": {"id": "u", "username": "me", "entity": "me", "flags": "{}", "teams": {"edges": []}},
           "serverInfo": {"cliVersionInfo": {"max_cli_version": "99.0.0"}, "latestLocalVersionInfo": None, "features": []}}


class WandbServer:
    """Listens on a port of 127.0.0.1 while it is used in a `with` statement."""

    def __init__(self):
        self.history, self.buckets = [], {}
        self.exit_codes, self._lock = [], threading.Lock()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._answer({})

            def do_PUT(self):
                self._body()
                self._answer({})

            def do_POST(self):
                body = self._body()
                if "graphql" in self.path:
                    self._answer({"data": server.answer(json.loads(body))})
                elif self.path.endswith("file_stream"):
                    server.keep(json.loads(body))
                    self._answer({"limits": {}})
                else:
                    self._answer({})

            def _body(self):
                body = b""
                if self.headers.get("Transfer-Encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

            def _answer(self, reply):
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # Clients that are killed close their connections.
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, question):
        """Returns the answer to a question in GraphQL."""
        text, given = question["query"], question.get("variables") or {}
        if "upsertBucket" in text:
            return {"upsertBucket": {"inserted": True, "bucket": self._bucket(given)}}
        if "createRunFiles" in text:
            files = [{"name": name, "uploadUrl": f"{self.url}/upload/{name}"} for name in given.get("files", [])]
            return {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}}
        if "viewer" in text or "serverInfo" in text:
            return _VIEWER
        return {"model": {"bucket": None}} if re.search(r"\bmodel\b", text) else {}

    def _bucket(self, given):
        with self._lock:
            kept = self.buckets.setdefault(given["name"], {})
            kept.update({name: value for name, value in given.items() if value is not None})
        return {"id": "b", "name": given["name"], "displayName": kept.get("displayName"), "description": None,
                "config": None, "sweepName": None, "historyLineCount": 0,
                "project": {"id": "p", "name": kept["project"], "entity": {"id": "e", "name": "me"}}}

    def keep(self, sent):
        """Keeps what came with a file stream."""
        with self._lock:
            for name, part in (sent.get("files") or {}).items():
                if "history" in name:
                    self.history += [json.loads(line) for line in part["content"]]
            if sent.get("complete"):
                self.exit_codes.append(sent.get("exitcode"))
