# SPDX-License-Identifier: Apache-2.0
"""Tests what every component must do, in whatever language it is written (docs/wire_format.md, section 9). Every test
runs real launches in which the same components are written in each language of languages.py."""
import functools
import os
import pathlib
import re
import shutil
import signal
import sys
import unittest

try:
    import numpy
    import zmq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from harness import DEADLINE_S, MembersTest, trainyard
from languages import CPP, LANGUAGES, PAIRS
from trainyard.member.protocol import EDGES, edge_frames, ring_offer

ENDLESS = "component.tally.params.finish_after=0"
APART = "placement=processes"
RESPAWN = 'respawn = { policy = "always", delay_ms = 10 }\n'
#: A source and a sink that tell more than others. The launcher trusts members, as it trusts plugins.
GOSSIP = '\n[component.{0}]\ncommand = ["PYTHON", "PROGRAMS/gossip.py", "{0}"]\ndeclaration = "describe"\n'
GOSSIPING_SOURCE = GOSSIP.format("ticker") + "params = { count = 0 }\n"
GOSSIPING_SINK = GOSSIP.format("tally")


def in_each_language(test):
    """Calls a test with every language."""
    @functools.wraps(test)
    def call(self):
        for language in LANGUAGES:
            with self.subTest(language.name):
                self.begin_again()
                test(self, language)
    return call


def in_each_pair_of_languages(test):
    """Calls a test with every pair of languages: that of the source and that of the sink."""
    @functools.wraps(test)
    def call(self):
        for source, sink in PAIRS:
            with self.subTest(source=source.name, sink=sink.name):
                self.begin_again()
                test(self, source, sink)
    return call


class ContractTest(MembersTest):
    def begin_again(self):
        """Removes what an earlier run has left, also if it has failed."""
        self.end_all()
        self.programs.clear()
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        for told in ("keys", "subscribers"):
            (self.folder / told).unlink(missing_ok=True)

    def finish_two(self, source, sink, *words, **kinds):
        return self.finish(self.file(source.source + sink.sink), APART, *words, **kinds)

    def start(self, source, sink, *words):
        """Launches a run that does not end by itself."""
        launch = self.launch(self.file(source.source + sink.sink), ENDLESS, APART, *words)
        self.node = self.wait_active("tally")
        return launch

    def directory(self):
        return next(pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).glob("trainyard-*/*-*/"))

    def keys(self):
        """The keys that a member needs, if there is a sink that tells them: public, secret, and that of the server."""
        told = (self.folder / "keys").read_bytes()
        return told[:40], told[40:], told[:40]

    def connect(self, context, path, keys):
        """Returns a socket that is connected to a socket of the run."""
        socket = context.socket(zmq.DEALER)
        socket.linger = 0
        if keys is not None:
            socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = keys
        socket.connect(f"ipc://{path}")
        return socket

    def edge_sockets(self):
        """The sockets at which receivers of edges subscribe."""
        return [path for path in self.directory().iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]

    def edge(self):
        return self.counters("ticker")["edges"][0]

    def wait_sent(self, count):
        return self.wait_for(lambda: self.edge()["sent"] >= count, f"{count} messages")


class EdgesTest(ContractTest):
    @in_each_pair_of_languages
    def test_every_pair_of_languages_carries_all_messages_in_order(self, source, sink):
        self.finish_two(source, sink)
        self.assertGreaterEqual(int(next(self.folder.glob("runs/*/tally.count")).read_text()), 300)

    @in_each_pair_of_languages
    def test_tensors_arrive_by_handle_inline_and_over_tcp(self, source, sink):
        for size in (1000, 300_000):
            for words in ((), ("component.tally.host=127.0.0.1",)):
                with self.subTest(size=size, words=words):
                    self.finish_two(source, sink, f"component.ticker.params.tensor_bytes={size}", *words)

    @in_each_language
    def test_tensors_that_were_not_made_in_shared_memory_arrive(self, sink):
        python = next((one for one in LANGUAGES if one.name == "python"), None)
        if python is not None:
            self.finish_two(python, sink, "component.ticker.params.tensor_bytes=300000",
                            "component.ticker.params.shared=false")

    @in_each_pair_of_languages
    def test_a_kept_tensor_is_not_changed(self, source, sink):
        self.finish_two(source, sink, "component.tally.params.kind=kept", "component.ticker.params.tensor_bytes=100000")

    @in_each_pair_of_languages
    def test_shared_memory_is_used_again(self, source, sink):
        """Without returned references, every message would have a segment of its own."""
        launch = self.start(source, sink, "component.ticker.params.tensor_bytes=1000000",
                            "component.tally.inputs.ticks.window_messages=4")
        self.wait_sent(400)
        self.assertLess(self.counters("ticker")["shared_bytes"], 64 << 20)
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_block_holds_a_source_back(self, source, sink):
        launch = self.start(source, sink, "component.tally.params.slow_ms=20",
                            "component.tally.inputs.ticks.window_messages=8")
        self.wait_sent(16)
        # The order matters: what was received later is no less.
        sent = self.edge()["sent"]
        received = self.call("tally", "add", '{"number": 0}')["total"]
        self.assertLessEqual(sent, received + 8 + 1)
        self.assertEqual(self.edge()["dropped"], 0)
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_bytes_under_way_are_limited_too(self, source, sink):
        """A window of two tensors and a little: at most three are under way, since the last may exceed it."""
        launch = self.start(source, sink, "component.tally.params.slow_ms=20",
                            "component.ticker.params.tensor_bytes=100000",
                            "component.tally.inputs.ticks.window_bytes=200100")
        self.wait_sent(8)
        sent = self.edge()["sent"]
        received = self.call("tally", "add", '{"number": 0}')["total"]
        self.assertLessEqual(sent, received + 3 + 1)
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_latest_and_drop_oldest_drop_and_count(self, source, sink):
        for policy in ("latest", "drop_oldest"):
            with self.subTest(policy=policy):
                launch = self.start(source, sink, "component.tally.params.slow_ms=10",
                                    "component.tally.params.strict=false",
                                    f"component.tally.inputs.ticks.policy={policy}",
                                    "component.tally.inputs.ticks.window_messages=4")
                self.wait_for(lambda: self.edge()["dropped"] > 100, "dropped messages")
                self.assertGreater(self.edge()["sent"], 0)
                self.interrupt(launch)

    @in_each_language
    def test_a_source_that_nobody_limits_sends_without_end_and_answers(self, source):
        launch = self.start(source, CPP, "component.tally.inputs.ticks.policy=latest", "component.tally.params.strict=false")
        for _ in range(3):
            sent = self.edge()["sent"]
            self.assertIn("count", self.trainyard("param", "list", "ticker"))
            self.wait_for(lambda: self.edge()["sent"] > sent, "more messages")
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_a_trace_is_passed_on(self, source, sink):
        launch = self.start(source, sink)
        subscription = self.run_now().subscribe("/counts")
        header, message = subscription.receive(DEADLINE_S)
        self.assertEqual(header.trace, message["count"], "the ticker numbers its ticks from 1")
        subscription.close()
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_everything_that_was_sent_is_handled_before_the_end(self, source, sink):
        launch = self.start(source, sink, "component.ticker.params.count=200", "component.tally.params.slow_ms=2")
        self.wait_sent(200)
        self.interrupt(launch)
        self.assertEqual(int(next(self.folder.glob("runs/*/tally.count")).read_text()), 200)


class CommandsTest(ContractTest):
    @in_each_language
    def test_it_looks_like_any_component(self, sink):
        launch = self.start(CPP, sink)
        self.assertEqual((self.node["plugin"], self.node["process"]), (sink.plugin, "tally"))
        self.assertEqual([port["topic"] for port in self.node["outputs"]], ["/counts"])
        self.assertIn("add", str(self.node["services"]))
        self.assertIn("counts", self.trainyard("node", "info", "tally"))
        counters = self.run_now().request("call", process=self.node["process"], method="counters", body={})
        self.assertGreater(counters["cpu_ns"], 0)
        self.assertGreater(counters["memory_bytes"], 1 << 20)
        self.interrupt(launch)

    @in_each_language
    def test_parameters_are_listed_checked_and_set(self, sink):
        launch = self.start(CPP, sink)
        listed = {one["name"]: one for one in self.run_now().request("params", target="tally")}
        self.assertEqual(list(listed), ["finish_after", "strict", "slow_ms", "factor", "kind", "fail_at", "die_at",
                                        "hang_at"])
        self.assertEqual({name: one["kind"] for name, one in listed.items()}, {
            "finish_after": "integer", "strict": "bool", "slow_ms": "number", "factor": "number", "kind": "string",
            "fail_at": "integer", "die_at": "integer", "hang_at": "integer"})
        self.assertEqual((listed["factor"]["value"], listed["factor"]["settable"], listed["factor"]["allowed"]),
                         (0.5, True, "a number >= 0 and <= 1"))
        self.assertEqual(listed["kind"]["allowed"], "one of: plain, kept")
        self.assertEqual((listed["factor"]["default"], listed["kind"]["choices"]), (0.5, ["plain", "kept"]))
        self.assertIn("default: 0.5", self.trainyard("param", "describe", "tally"))
        self.trainyard("param", "set", "tally", "factor", "0.25")
        self.assertIn("0.25", self.trainyard("param", "get", "tally", "factor"))
        echoed = self.trainyard("topic", "echo", "/counts", "--count", "2", "--json")
        self.assertIn("0.25", echoed)
        self.assertIn("factor: 2 is not allowed; a number >= 0 and <= 1",
                      self.trainyard("param", "set", "tally", "factor", "2", code=2))
        self.assertIn("cannot be changed", self.trainyard("param", "set", "tally", "strict", "false", code=2))
        self.assertIn("did you mean 'factor'?", self.trainyard("param", "set", "tally", "facto", "1", code=2))
        # What is done when it changes.
        self.assertRegex(self.interrupt(launch), r"info \[tally\] the factor is 0\.25")

    @in_each_language
    def test_a_service_answers_refuses_and_fails(self, sink):
        launch = self.start(CPP, sink)
        self.assertGreaterEqual(self.call("tally", "add", '{"number": 7}')["total"], 7)
        self.assertGreaterEqual(self.call("tally", "add", '{"number": 0}')["total"], 0)
        self.assertIn("number", self.trainyard("service", "call", "tally", "add", '{"numbers": 7}', code=2))
        self.assertIn("number", self.trainyard("service", "call", "tally", "add", '{"number": "x"}', code=2))
        refused = self.trainyard("service", "call", "tally", "add", '{"number": 13}', code=2)
        self.assertRegex(refused, sink.not_wanted)
        self.assertIn("no service 'ad'", self.trainyard("service", "call", "tally", "ad", code=2))
        # An error of a call does not stop the component.
        before = self.call("tally", "add", '{"number": 0}')["total"]
        self.wait_for(lambda: self.call("tally", "add", '{"number": 0}')["total"] > before, "more messages")
        self.interrupt(launch)

    @in_each_language
    def test_visitors_see_types_of_its_own(self, sink):
        launch = self.start(CPP, sink)
        topic = next(one for one in self.run_now().request("topics") if one["topic"] == "/counts")
        self.assertEqual(topic["schema"], "Count {\n  u64 count\n  map<f64> values\n}\n")
        with self.run_now().subscribe("/counts") as subscription:
            _, message = subscription.receive(DEADLINE_S)
        self.assertEqual(message["values"], {"factor": 0.5})
        self.interrupt(launch)

    @in_each_language
    def test_a_latched_output_gives_its_last_message(self, source):
        launch = self.start(source, CPP, "component.ticker.params.count=3")
        self.wait_for(lambda: self.call("tally", "add", '{"number": 0}')["total"] == 3, "3 ticks")
        self.assertIn('"number": 2', self.trainyard("topic", "echo", "/last", "--count", "1"))
        self.interrupt(launch)

    @in_each_language
    def test_its_log_is_shown_and_published(self, sink):
        launch = self.start(CPP, sink)
        subscription = self.run_now().subscribe("/log")

        def record():
            # The subscription begins with the first attempt to receive.
            self.trainyard("param", "set", "tally", "factor", "0.75")
            try:
                return next((one for _, one in iter(lambda: subscription.receive(1), None)
                             if one["text"] == "the factor is 0.75"), None)
            except trainyard.Timeout:
                return None

        found = self.wait_for(record, "a log record")
        self.assertEqual((found["level"], found["component"]), ("info", "tally"))
        subscription.close()
        self.interrupt(launch)


class FailuresTest(ContractTest):
    @in_each_language
    def test_an_exception_ends_the_run_with_one_sentence(self, sink):
        text = self.finish_two(CPP, sink, "component.tally.params.fail_at=5", code=1)
        self.assertRegex(text, rf"component 'tally' \(process tally, plugin {sink.plugin}\) failed: .*{sink.no_such_key}\n")
        self.assertNotIn("Traceback", text)

    @in_each_language
    def test_an_exception_in_what_is_called_when_there_is_room_ends_the_run(self, source):
        text = self.finish_two(source, CPP, "component.ticker.params.fail_at=50",
                               "component.tally.inputs.ticks.window_messages=4", code=1)
        self.assertRegex(text, rf"component 'ticker' .* failed: .*{source.enough}\n")
        self.assertNotIn("Traceback", text)

    @in_each_language
    def test_one_that_was_killed_ends_the_run_and_is_named(self, sink):
        text = self.finish_two(CPP, sink, "component.tally.params.die_at=5", code=1)
        self.assertRegex(text, r"process 'tally' \(.*\) was killed by signal 9")

    @in_each_language
    def test_a_signal_that_an_engine_sends_to_all_processes_does_not_end_it(self, sink):
        self.environment.update(SLURM_JOB_ID="7", SLURMD_NODENAME="here")
        launch = self.start(CPP, sink, "environment=slurm")
        for one in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
            os.kill(self.node["pid"], one)
        total = self.call("tally", "add", '{"number": 0}')["total"]
        self.wait_for(lambda: self.call("tally", "add", '{"number": 0}')["total"] > total, "more messages")
        self.assertEqual(self.nodes()["tally"]["pid"], self.node["pid"])
        self.interrupt(launch)

    def kill(self, name):
        """Kills a component of a run that has started: what ends before that ends the run. Returns its process."""
        killed = {one: self.wait_active(one)["pid"] for one in ("ticker", "tally")}[name]
        self.wait_sent(1)
        os.kill(killed, signal.SIGKILL)
        return killed

    def wait_respawned(self, name, killed):
        self.wait_for(lambda: self.nodes().get(name, {}).get("pid") not in (0, killed, None), "respawn")
        self.wait_active(name)
        self.assertEqual(self.nodes()[name]["restarts"], 1)

    @in_each_pair_of_languages
    def test_a_sink_that_was_killed_is_started_again_and_goes_on(self, source, sink):
        launch = self.launch(self.file(source.source + sink.sink + RESPAWN), ENDLESS, APART,
                             "component.tally.params.strict=false")
        self.wait_respawned("tally", self.kill("tally"))
        self.wait_for(lambda: self.call("tally", "add", '{"number": 0}')["total"] > 200, "more messages")
        self.interrupt(launch)

    @in_each_pair_of_languages
    def test_a_source_that_was_killed_is_started_again_and_goes_on(self, source, sink):
        launch = self.launch(self.file(source.source + RESPAWN + sink.sink), ENDLESS, APART,
                             "component.tally.params.strict=false")
        self.wait_respawned("ticker", self.kill("ticker"))
        self.wait_sent(self.edge()["sent"] + 200)
        self.interrupt(launch)

    @in_each_language
    def test_one_that_hangs_is_named_and_ended(self, sink):
        text = self.finish_two(CPP, sink, "progress_timeout_s=8", "stop_timeout_s=1", "component.tally.params.hang_at=5",
                               code=1)
        self.assertRegex(text, "run failed: the run has made no progress for .* s: .*'tally' .*has been busy for")

    @in_each_language
    def test_a_sink_that_is_gone_for_good_does_not_hold_its_source_up(self, source):
        launch = self.launch(self.file(source.source + CPP.sink + "required = false\n"), ENDLESS, APART)
        self.kill("tally")
        self.wait_for(lambda: self.edge()["dropped"] > 1000, "dropped messages")
        self.interrupt(launch)

    @in_each_language
    def test_a_subscription_says_which_process_receives(self, sink):
        launch = self.launch(self.file(GOSSIPING_SOURCE + sink.sink), ENDLESS, APART)
        node = self.wait_active("tally")
        self.assertEqual((self.folder / "subscribers").read_text().split(), [str(node["pid"])])
        self.interrupt(launch)

    @in_each_language
    def test_a_receiver_that_has_subscribed_before_the_end_of_its_predecessor_is_known_is_kept(self, source):
        """This process takes the place of the sink before the sink ends."""
        launch = self.launch(self.file(source.source + GOSSIPING_SINK + "required = false\n"), APART)
        sink = self.wait_active("tally")
        self.wait_sent(1)
        with zmq.Context() as context, self.connect(context, *self.edge_sockets(), self.keys()) as socket:
            request = edge_frames("Subscribe", subscription=7, topic="/ticks", edge=self.edge()["edge"], fingerprint=0,
                                  policy="block", window_messages=4, window_bytes=1 << 20, payloads="inline",
                                  process_index=1)

            def receive():
                self.assertTrue(socket.poll(DEADLINE_S * 1000), "the source sends nothing")
                frames = socket.recv_multipart()
                if frames[0]:
                    socket.send_multipart(edge_frames("Credit", subscription=7, messages=1, bytes=len(frames[2])))
                return frames

            socket.send_multipart([*request, ring_offer(os.getpid())])
            self.assertEqual(receive()[1], b"Subscribed")
            receive()
            os.kill(sink["pid"], signal.SIGKILL)
            self.wait_for(lambda: self.nodes().get("tally", {}).get("state") == "gone", "the end of the sink")
            # The launcher has told the source before it passes this question on.
            self.trainyard("param", "list", "ticker")
            for _ in range(20):
                self.assertEqual(receive()[0], b"/ticks")
            socket.linger = 1000
            socket.send_multipart(edge_frames("Unsubscribe", subscription=7))
        self.interrupt(launch)


class StateTest(ContractTest):
    @in_each_pair_of_languages
    def test_state_is_saved_in_a_checkpoint_and_given_back(self, saves, takes):
        """Also to a component in another language: a checkpoint does not know who made it."""
        words = ("max_steps=20", "run.checkpoint_every_steps=10")
        self.finish(self.file('include = ["mlp.toml"]\n' + saves.keeper), *words, "run.directory=first")
        checkpoint = self.folder / "first" / "checkpoints" / "step-00000020"
        self.assertTrue(checkpoint.is_dir(), list((self.folder / "first").rglob("*")))
        text = self.finish(self.file('include = ["mlp.toml"]\n' + takes.keeper), "max_steps=30", "run.directory=second",
                           f"component.checkpoint_writer.params.resume={checkpoint}")
        shutil.rmtree(self.folder / "first")
        shutil.rmtree(self.folder / "second")
        self.assertIn("[keeper] was in 2 checkpoints, the last at step 20\n", text)

    @in_each_language
    def test_with_several_ranks_each_gets_its_own_state_and_what_is_common(self, language):
        path = self.file('include = ["mlp.toml"]\n' + language.keeper)
        self.finish(path, "max_steps=20", "run.directory=first", "devices=2", "strategy=ddp")
        checkpoint = self.folder / "first" / "checkpoints" / "step-00000020"
        text = self.finish(path, "max_steps=30", "run.directory=second", "devices=2", "strategy=ddp",
                           f"component.checkpoint_writer.params.resume={checkpoint}")
        shutil.rmtree(self.folder / "first")
        shutil.rmtree(self.folder / "second")
        for rank in range(2):
            self.assertIn(f"[rank{rank}/keeper] was in 1 checkpoints, the last at step 20\n", text)


class StrangersTest(ContractTest):
    """Tests invalid requests from programs that attach to a member."""

    @in_each_language
    def test_the_socket_of_the_edges_answers_only_those_who_have_the_keys_of_the_run(self, source):
        launch = self.launch(self.file(source.source + GOSSIPING_SINK), APART)
        self.wait_active("tally")
        keys, stranger, sockets = self.keys(), zmq.curve_keypair(), self.edge_sockets()
        self.assertTrue(sockets)
        # There is no such edge, so the answer is a refusal.
        request = edge_frames("Subscribe", subscription=0, topic="/ticks", edge=77, fingerprint=0, policy="block",
                              window_messages=10, window_bytes=10, payloads="inline", process_index=0)
        with zmq.Context() as context:
            for path in sockets:
                self.assertTrue(self.answers(context, path, request, keys, DEADLINE_S * 1000), path)
                self.assertFalse(self.answers(context, path, request, None), path)
                self.assertFalse(self.answers(context, path, request, (*stranger, stranger[0])), path)
                # Knowing whom to ask is not enough.
                self.assertFalse(self.answers(context, path, request, (*stranger, keys[2])), path)
        # The run did not notice.
        self.wait_sent(self.edge()["sent"] + 1)
        self.interrupt(launch)

    def answers(self, context, path, request, keys, milliseconds=300):
        """Asks with these keys, and returns whether there was an answer."""
        with self.connect(context, path, keys) as socket:
            socket.send_multipart(request)
            return bool(socket.poll(milliseconds))

    def arrival(self, socket):
        """The next message, except for the question whether somebody is still there."""
        while True:
            self.assertTrue(socket.poll(DEADLINE_S * 1000), "nothing arrives")
            if (frames := socket.recv_multipart()) != [b""]:
                return frames

    @in_each_language
    def test_the_gateway_refuses_what_only_components_may(self, source):
        good = {"subscription": 0, "topic": "/ticks", "edge": 0xFFFFFFFF, "fingerprint": 0, "policy": "latest",
                "window_messages": 4, "window_bytes": 4096, "payloads": "none", "process_index": 0}
        launch = self.start(source, CPP)
        context = zmq.Context()
        socket = self.connect(context, self.directory() / "ticker.gateway", None)
        for nonsense in ([b""], [b"", b"Subscribe"], [b"", b"Subscribe", b"short"], [b"x", b"y", b"z"],
                         [b"", b"Credit", b""], [b"", b"\xff\xfe", b"?"], [b"", b"Credit", b"\xff" * 20]):
            socket.send_multipart(nonsense)
        for wrong, is_refused in (({"policy": "block"}, True), ({"payloads": "handle"}, True),
                                  ({"window_messages": 1025}, True), ({"window_bytes": 1 << 40}, True),
                                  ({"fingerprint": 5}, True), ({"topic": "/tick"}, True), ({}, False)):
            with self.subTest(wrong=wrong):
                socket.send_multipart(edge_frames("Subscribe", **{**good, **wrong}))
                frames = self.arrival(socket)
                self.assertEqual(frames[1], b"Subscribed")
                self.assertEqual(bool(EDGES["Subscribed"].decode(frames[2])["error"]), is_refused)
        # Messages without the bytes of their tensors follow, and no more than the window allows.
        for _ in range(4):
            self.assertEqual(self.arrival(socket)[0], b"/ticks")
        self.wait_sent(self.edge()["sent"] + 100)
        while socket.poll(0):
            self.assertEqual(socket.recv_multipart(), [b""])
        socket.close()
        context.term()
        self.interrupt(launch)


if __name__ == "__main__":
    unittest.main(verbosity=2)
