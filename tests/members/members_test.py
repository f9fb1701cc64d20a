# SPDX-License-Identifier: Apache-2.0
"""Members in Python, in real launches, at both ends of edges with plugins (docs/wire_format.md, section 9)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

try:
    import numpy
    import zmq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from harness import PYTHON, SOURCES, TRAINYARD, MembersTest

SOURCE = """
[component.ticker]
plugin = "ticker"
params = { count = 0 }
"""
PY_SOURCE = """
[component.ticker]
command = ["PYTHON", "PROGRAMS/ticker.py"]
declaration = "describe"
params = { count = 0 }
"""
SINK = """
[component.tally]
plugin = "tally"
params = { finish_after = 300 }
"""
PY_SINK = """
[component.tally]
command = ["PYTHON", "PROGRAMS/tally.py"]
declaration = "describe"
params = { finish_after = 300 }
"""
ENDLESS = "component.tally.params.finish_after=0"


class EdgesTest(MembersTest):
    """Messages between members and plugins."""

    def test_every_pair_of_ends_carries_all_messages_in_order(self):
        for source in (SOURCE, PY_SOURCE):
            for sink in (SINK, PY_SINK):
                if source + sink == SOURCE + SINK:
                    continue
                with self.subTest(source=source, sink=sink):
                    self.finish(self.file(source + sink))
                    self.assertGreaterEqual(int(next(self.folder.glob("runs/*/tally.count")).read_text()), 300)

    def test_tensors_travel_in_shared_memory_and_inline(self):
        for bytes_ in (1000, 300_000):
            for words in ((), ("component.ticker.params.shared=false",), ("component.tally.host=127.0.0.1",)):
                for source, sink in ((SOURCE, PY_SINK), (PY_SOURCE, SINK), (PY_SOURCE, PY_SINK)):
                    if source == SOURCE and "shared" in str(words):
                        continue
                    with self.subTest(bytes=bytes_, words=words, source=source, sink=sink):
                        self.finish(self.file(source + sink), f"component.ticker.params.tensor_bytes={bytes_}", *words)

    def test_a_kept_tensor_is_not_reused(self):
        for source in (SOURCE, PY_SOURCE):
            with self.subTest(source=source):
                self.finish(self.file(source + PY_SINK), "component.tally.params.kind=kept",
                            "component.ticker.params.tensor_bytes=100000")

    def test_shared_memory_is_reused(self):
        """Without returned references, every message would have a segment of its own."""
        for source, sink in ((SOURCE, PY_SINK), (PY_SOURCE, SINK), (PY_SOURCE, PY_SINK)):
            with self.subTest(source=source, sink=sink):
                launch = self.launch(self.file(source + sink), ENDLESS, "component.ticker.params.tensor_bytes=1000000",
                                     "component.tally.inputs.ticks.window_messages=4", "placement=processes")
                self.wait_active("tally")
                self.wait_for(lambda: self.counters("ticker")["edges"][0]["sent"] > 400, "400 messages")
                self.assertLess(self.counters("ticker")["shared_bytes"], 64 << 20)
                self.interrupt(launch)

    def test_block_holds_a_source_back(self):
        for source, sink in ((SOURCE, PY_SINK), (PY_SOURCE, PY_SINK)):
            with self.subTest(source=source):
                launch = self.launch(self.file(source + sink), ENDLESS, "component.tally.params.slow_ms=20",
                                     "component.tally.inputs.ticks.window_messages=8", "placement=processes")
                self.wait_active("tally")
                self.wait_for(lambda: self.counters("ticker")["edges"][0]["sent"] >= 16, "16 messages")
                # The order matters: what was received later is no less.
                sent = self.counters("ticker")["edges"][0]["sent"]
                received = self.call("tally", "add", '{"number": 0}')["total"]
                self.assertLessEqual(sent, received + 8 + 1)
                self.assertEqual(self.counters("ticker")["edges"][0]["dropped"], 0)
                self.interrupt(launch)

    def test_latest_and_drop_oldest_drop_and_count(self):
        for policy in ("latest", "drop_oldest"):
            for source in (SOURCE, PY_SOURCE):
                with self.subTest(policy=policy, source=source):
                    launch = self.launch(
                        self.file(source + PY_SINK), ENDLESS, "component.tally.params.slow_ms=10",
                        "component.tally.params.strict=false", f"component.tally.inputs.ticks.policy={policy}",
                        "component.tally.inputs.ticks.window_messages=4", "placement=processes",
                        # A source whose receivers all drop is always ready.
                        *(["component.ticker.params.interval_ms=1"] if source == SOURCE else []))
                    self.wait_active("tally")
                    edge = self.wait_for(lambda: next(
                        (edge for edge in self.counters("ticker")["edges"] if edge["dropped"] > 100), None), "dropped")
                    self.assertGreater(edge["sent"], 0)
                    self.interrupt(launch)

    def test_a_trace_is_passed_on(self):
        launch = self.launch(self.file(PY_SOURCE + PY_SINK), ENDLESS)
        self.wait_active("tally")
        subscription = self.run_now().subscribe("/counts")
        header, message = subscription.receive(30)
        self.assertEqual(header.trace, message["count"], "the ticker numbers its ticks from 1")
        subscription.close()
        self.interrupt(launch)

    def counters(self, process):
        return self.run_now().request("call", process=process, method="counters")

    def call(self, target, method, body):
        return json.loads(self.trainyard("service", "call", target, method, body))

    def interrupt(self, launch):
        launch.send_signal(signal.SIGINT)
        text, _ = launch.communicate(timeout=60)
        self.assertNotIn("Traceback", text)
        self.assertIn(launch.returncode, (0, 130), text)
        return text


class CommandsTest(EdgesTest):
    """A member looks like any other component."""

    def test_plan_and_check_show_it(self):
        path = self.file(SOURCE + PY_SINK)
        self.assertIn("ok (2 components in 2 processes, 1 edges)", self.trainyard("check", path))
        plan = self.trainyard("plan", path)
        self.assertIn("process tally\n", plan)
        self.assertIn("finish_after = 300", plan)
        self.assertIn("/ticks: ticker.ticks -> tally.ticks", plan)
        processes = json.loads(self.trainyard("plan", path, "--json"))["processes"]
        self.assertEqual([process["member"] for process in processes], [True, False])

    def test_node_param_service_and_topic(self):
        launch = self.launch(self.file(SOURCE + PY_SINK), ENDLESS)
        node = self.wait_active("tally")
        self.assertEqual((node["plugin"], node["process"]), ("tally", "tally"))
        self.assertIn("counts", self.trainyard("node", "info", "tally"))
        self.assertIn("factor", self.trainyard("param", "list", "tally"))
        self.trainyard("param", "set", "tally", "factor", "0.25")
        self.assertIn("0.25", self.trainyard("param", "get", "tally", "factor"))
        self.assertIn("factor: 2 is not allowed; a number >= 0 and <= 1",
                      self.trainyard("param", "set", "tally", "factor", "2", code=2))
        self.assertIn("cannot be changed", self.trainyard("param", "set", "tally", "strict", "false", code=2))
        self.assertGreaterEqual(self.call("tally", "add", '{"number": 7}')["total"], 7)
        self.assertIn("the request of add has the fields: number",
                      self.trainyard("service", "call", "tally", "add", '{"numbers": 7}', code=2))
        refused = self.trainyard("service", "call", "tally", "add", '{"number": 13}', code=2)
        self.assertRegex(refused, r"ValueError: 13 is not wanted \(tally\.py:\d+\)")
        self.assertIn("no service 'ad'", self.trainyard("service", "call", "tally", "ad", code=2))
        echoed = self.trainyard("topic", "echo", "/counts", "--count", "2", "--json")
        self.assertIn("0.25", echoed)
        text = self.interrupt(launch)
        self.assertRegex(text, r"info \[tally\] the factor is 0\.25")

    def test_a_latched_output_gives_its_last_message(self):
        launch = self.launch(self.file(PY_SOURCE + PY_SINK), ENDLESS, "component.ticker.params.count=3")
        self.wait_active("tally")
        self.wait_for(lambda: self.call("tally", "add", '{"number": 0}')["total"] == 3, "3 ticks")
        self.assertIn('"number": 2', self.trainyard("topic", "echo", "/last", "--count", "1"))
        self.interrupt(launch)


class FailuresTest(EdgesTest):
    """What goes wrong is named."""

    def test_an_exception_ends_the_run_with_one_sentence(self):
        text = self.finish(self.file(SOURCE + PY_SINK), "component.tally.params.fail_at=5", code=1)
        self.assertRegex(text, r"component 'tally' \(process tally, plugin tally\) failed: "
                               r"KeyError: 'no such key' \(tally\.py:\d+\)\n")
        self.assertNotIn("Traceback", text)

    def test_an_exception_in_what_is_called_when_there_is_room_ends_the_run(self):
        text = self.finish(self.file(PY_SOURCE + PY_SINK), "component.ticker.params.fail_at=50",
                           "component.tally.inputs.ticks.window_messages=4", code=1)
        self.assertRegex(text, r"component 'ticker' .* failed: ValueError: enough \(ticker\.py:\d+\)\n")
        self.assertNotIn("Traceback", text)

    def test_the_traceback_is_shown_if_asked_for(self):
        text = self.finish(self.file(SOURCE + PY_SINK + 'environment = { TRAINYARD_TRACEBACK = "1" }\n'),
                           "component.tally.params.fail_at=5", code=1)
        self.assertIn("Traceback", text)

    def test_a_killed_member_ends_the_run_and_is_named(self):
        text = self.finish(self.file(SOURCE + PY_SINK), "component.tally.params.die_at=5", code=1)
        self.assertIn("process 'tally' (tally) was killed by signal 9", text)

    def test_a_respawned_member_goes_on(self):
        text = self.finish(self.file(SOURCE + PY_SINK + 'respawn = { policy = "always", delay_ms = 10 }\n'),
                           "component.tally.params.die_at=5", "component.tally.params.strict=false",
                           # Without a receiver, a source that does not pause drops messages as fast as it can.
                           "component.ticker.params.interval_ms=1")
        self.assertIn("run finished: counted 300", text)

    def test_a_respawned_source_goes_on(self):
        for sink in (SINK, PY_SINK):
            with self.subTest(sink=sink):
                path = self.file(PY_SOURCE + 'respawn = { policy = "always", delay_ms = 10 }\n' + sink)
                launch = self.launch(path, ENDLESS, "component.tally.params.strict=false", "placement=processes")
                node = self.wait_active("ticker")
                os.kill(node["pid"], signal.SIGKILL)
                self.wait_for(lambda: self.nodes().get("ticker", {}).get("pid") not in (0, node["pid"], None), "respawn")
                self.wait_active("ticker")
                before = self.counters("ticker")["edges"][0]["sent"]
                self.wait_for(lambda: self.counters("ticker")["edges"][0]["sent"] > before + 200, "messages")
                self.interrupt(launch)

    def test_a_member_that_hangs_is_ended(self):
        text = self.finish(self.file("[run]\nprogress_timeout_s = 3\nstop_timeout_s = 1\n" + SOURCE + PY_SINK),
                           "component.tally.params.hang_at=5", code=1)
        self.assertIn("the run has made no progress", text)
        self.assertIn("tally", text)

    def test_a_member_of_another_version_is_refused(self):
        text = self.finish(self.file('[component.new]\ncommand = ["PYTHON", "PROGRAMS/newer.py"]\ndeclaration = "describe"\n'),
                           code=1)
        self.assertIn("the member 'new' implements 'wire 9', and this launcher 'wire 1' (docs/wire_format.md)", text)

    def test_a_program_that_does_not_exist_or_ends_at_once_is_named(self):
        declaration = self.folder / "tally.json"
        described = subprocess.run([PYTHON, SOURCES / "tests/members/programs/tally.py", "--describe"], check=True,
                                   capture_output=True, env=self.environment)
        declaration.write_bytes(described.stdout)
        for command, words in ((["no_such_program"], "no_such_program"), (["true"], "ended with exit code 0"),
                               (["sh", "-c", "exit 3"], "ended with exit code 3")):
            with self.subTest(command=command):
                path = self.file(f"{SOURCE}\n[component.tally]\ncommand = {json.dumps(command)}\n"
                                 'declaration = "tally.json"\n')
                self.assertIn(words, self.finish(path, code=1))


class DeclarationsTest(EdgesTest):
    """The planner does not trust what a program prints."""

    def plan_error(self, program, extra=""):
        """Returns the error of `trainyard plan` for a member that prints what the shell command prints."""
        path = self.file(f"[component.x]\ncommand = {json.dumps(['sh', '-c', program])}\ndeclaration = \"describe\"\n{extra}")
        text = self.trainyard("plan", path, code=2)
        self.assertTrue(text.startswith(f"trainyard: {path}:3: component.x.declaration: "), text)
        return text

    def test_what_is_wrong_is_named_with_its_place(self):
        good = '{"name": "x", "outputs": [{"name": "a", "schema": "A {\\n  u64 b\\n}\\n"}]}'
        for wrong, right, words in (
                ('"name": "x"', '"nam": "x"', "unknown key 'nam'; did you mean 'name'?"),
                ('"name": "x", ', "", "name: must be given"),
                ('"name": "x"', '"name": "x y"', 'name: "x y" is not allowed; a name of letters'),
                ('{"name": "a"', '{"name": 5', "outputs[0].name: 5 is not allowed; a string"),
                ("u64 b", "u65 b", "outputs[0].schema: "),
                (', "schema"', ', "scheme": "", "schema"', "outputs[0]: unknown key 'scheme'; did you mean 'schema'?"),
                ('"outputs": [', '"outputs": [{"name": "a", "schema": "A {\\n}\\n"}, ', "outputs[1]: there are two ports"),
                ('"outputs"', '"inputs": [{"name": "i", "schema": "A {\\n}\\n", "policy": "hold"}], "outputs"',
                 'inputs[0].policy: "hold" is not allowed; one of: block, latest, drop_oldest'),
                ('"outputs"', '"parameters": [{"name": "p", "kind": "number", "default": "true"}], "outputs"',
                 "parameters[0].default: p: true is not allowed; a number"),
                ('"outputs"', '"parameters": [{"name": "p", "kind": "numbre"}], "outputs"', 'parameters[0].kind: "numbre"'),
                ('"outputs"', '"traits": {"per_rank": 1}, "outputs"', "traits.per_rank: 1 is not allowed; true or false"),
                ("}]}", "}]", "it is not JSON"),
                ("}]}", "}]} and more", "it is not JSON")):
            with self.subTest(right=right):
                (self.folder / "out").write_text(good.replace(wrong, right).replace("\\n", "\\\\n").replace("\\\\n", "\\n"))
                self.assertIn(words, self.plan_error("cat out"))

    def test_a_program_that_fails_prints_too_much_or_nothing(self):
        self.assertIn("failed: no database", self.plan_error("echo no database >&2; exit 3"))
        self.assertIn("it ended with code 4", self.plan_error("exit 4"))
        self.assertIn("it crashed (Killed)", self.plan_error("kill -9 $$$$"))
        self.assertIn("it wrote more than is allowed", self.plan_error("yes"))
        self.assertIn("it is not JSON", self.plan_error("true"))

    def test_a_file_declares_a_member(self):
        (self.folder / "x.json").write_text('{"name": "x"}')
        path = self.file('[component.x]\ncommand = ["sleep", "9"]\ndeclaration = "x.json"\n')
        self.assertIn("process x\n", self.trainyard("plan", path))
        (self.folder / "x.json").unlink()
        self.assertIn("x.json", self.trainyard("plan", path, code=2))

    def test_keys_that_are_not_for_members_or_programs_are_refused(self):
        for key in ('process = "p"', 'thread = "t"'):
            path = self.file(PY_SINK + key + "\n" + SOURCE)
            self.assertIn("is not for a member", self.trainyard("plan", path, code=2))
        path = self.file('[component.x]\ncommand = ["true"]\nremap = { a = "b" }\n')
        self.assertIn("or for a program with the key 'declaration'", self.trainyard("plan", path, code=2))
        path = self.file('[component.x]\nplugin = "tally"\ndeclaration = "describe"\n')
        self.assertIn("is not for a plugin", self.trainyard("plan", path, code=2))
        path = self.file('[topology]\nplacement = { io = ["tally"] }\n' + SOURCE + PY_SINK)
        self.assertIn("'tally' cannot be placed", self.trainyard("plan", path, code=2))
        path = self.file(SOURCE + 'process = "tally"\n' + PY_SINK)
        self.assertIn("the process 'tally' is that of a member", self.trainyard("plan", path, code=2))

    def test_parameters_and_ports_are_checked(self):
        path = self.file(SOURCE + PY_SINK)
        for word, error in (("component.tally.params.factor=2", "factor: 2 is not allowed; a number >= 0 and <= 1"),
                            ("component.tally.params.facto=1", "unknown parameter; did you mean 'factor'?"),
                            ("component.tally.inputs.tick.policy=block", "'tally' has no input 'tick'; did you mean 'ticks'?"),
                            ("component.tally.remap.ticks=/nothing", "input 'ticks' is not connected")):
            with self.subTest(word=word):
                self.assertIn(error, self.trainyard("plan", path, word, code=2))

    def test_types_that_differ_are_shown_with_the_field(self):
        for field, words in (("  string name\n  bool data\n", "they differ in the field 'data' of ArenaBlock: Tensor here, bool there"),
                             ("  string name\n", "they differ in the field 'data' of ArenaBlock, which is only here")):
            declaration = {"name": "x", "inputs": [{"name": "ticks", "schema": f"ArenaBlock {{\n{field}}}\n"}]}
            (self.folder / "x.json").write_text(json.dumps(declaration))
            path = self.file(SOURCE + '[component.x]\ncommand = ["true"]\ndeclaration = "x.json"\n')
            text = self.trainyard("plan", path, code=2)
            self.assertIn(words, text)
            self.assertIn("--- sent:\nArenaBlock {\n  string name\n  Tensor data\n}\n", text)


class KeysTest(EdgesTest):
    """The sockets of members accept only the keys of the run."""

    def test_a_stranger_gets_no_answer_from_the_socket_of_the_edges(self):
        launch = self.launch(self.file(PY_SOURCE + SINK), ENDLESS)
        node = self.wait_active("ticker")
        directory = next(pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).glob("trainyard-*/*-*/"))
        sockets = [path for path in directory.iterdir() if path.is_socket()]
        numbered = [path for path in sockets if re.fullmatch(r"\d+\.\d+", path.name)]
        self.assertTrue(numbered, sockets)
        request = b"\0\0\0\0" + b"\6\0\0\0/ticks" + b"\0\0\0\0" + bytes(8) + b"\5\0\0\0block"
        request += (10).to_bytes(8, "little") * 2 + b"\6\0\0\0inline" + bytes(4)
        context = zmq.Context()
        for curve in (False, True):
            for path in numbered:
                socket = context.socket(zmq.DEALER)
                socket.linger = 0
                if curve:
                    public, secret = zmq.curve_keypair()
                    socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = public, secret, public
                socket.connect(f"ipc://{path}")
                socket.send_multipart([b"", b"Subscribe", request])
                self.assertFalse(socket.poll(300), f"{path} answered a stranger")
                socket.close()
        context.term()
        # The run did not notice.
        before = self.counters("ticker")["edges"][0]["sent"]
        self.wait_for(lambda: self.counters("ticker")["edges"][0]["sent"] > before, "messages")
        self.assertEqual(self.nodes()["ticker"]["pid"], node["pid"])
        self.interrupt(launch)

    def test_the_gateway_of_a_member_refuses_what_only_members_may(self):
        from trainyard.member.protocol import EDGES, edge_frames
        launch = self.launch(self.file(PY_SOURCE + SINK), ENDLESS)
        self.wait_active("ticker")
        gateway = next(pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).glob("trainyard-*/*-*/ticker.gateway"))
        context = zmq.Context()
        socket = context.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(f"ipc://{gateway}")
        good = {"subscription": 0, "topic": "/ticks", "edge": 0xFFFFFFFF, "fingerprint": 0, "policy": "latest",
                "window_messages": 4, "window_bytes": 4096, "payloads": "none", "process_index": 0}
        for nonsense in ([b""], [b"", b"Subscribe"], [b"", b"Subscribe", b"short"], [b"x", b"y", b"z"], [b"", b"Credit", b""]):
            socket.send_multipart(nonsense)
        for wrong, words in (({"policy": "block"}, "may not ask for the policy 'block'"),
                             ({"payloads": "handle"}, "may not ask for payloads 'handle'"),
                             ({"window_messages": 1025}, "the window is too large"),
                             ({"window_bytes": 1 << 40}, "the window is too large"),
                             ({"fingerprint": 5}, "the message types differ"),
                             ({"topic": "/tick"}, "no topic '/tick' here"), ({}, "")):
            with self.subTest(wrong=wrong):
                socket.send_multipart(edge_frames("Subscribe", **{**good, **wrong}))
                frames = socket.recv_multipart() if socket.poll(20_000) else []
                while frames == [b""]:  # This is the question whether somebody is still there.
                    frames = socket.recv_multipart() if socket.poll(20_000) else []
                self.assertEqual(frames[1], b"Subscribed")
                error = EDGES["Subscribed"].decode(frames[2])["error"]
                self.assertIn(words, error)
                self.assertEqual(bool(words), bool(error), error)
        # A message without the bytes of its tensors follows, and no more than the window allows.
        arrived = 0
        while socket.poll(500):
            arrived += bool(socket.recv_multipart()[0])
        self.assertEqual(arrived, 4)
        socket.close()
        context.term()
        self.interrupt(launch)

    def test_a_program_without_keys_or_arguments_says_what_it_is(self):
        program = str(SOURCES / "tests/members/programs/tally.py")
        alone = subprocess.run([PYTHON, program], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("name this program in a launch file", alone.stderr)
        without = subprocess.run([PYTHON, program, "--control", "ipc:///nowhere", "--process", "x"], check=False,
                                 env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(without.returncode, 1)
        self.assertIn("tally.py: the standard input has 0 bytes; the launcher writes the keys", without.stderr)


# The cases of the base class are run once.
for derived in (CommandsTest, FailuresTest, DeclarationsTest, KeysTest):
    for name in [name for name in vars(EdgesTest) if name.startswith("test_")]:
        setattr(derived, name, None)

if __name__ == "__main__":
    unittest.main(verbosity=2)
