#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the bridge to Foxglove with real training runs, and kills the bridge during training."""
import json
import os
import pathlib
import re
import signal
import stat
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from foxglove_client import Client
from launches import DEADLINE_S, EVERY_TENTH_STEP, TRAINYARD, TrainingTest, free_port
from web_socket import PONG, Refused

REQUIRED = "TRAINYARD_READERS_REQUIRED" in os.environ  # Then a reader that is missing is an error.


class FoxgloveTest(TrainingTest):
    def launch_bridge(self, more=""):
        self.port = free_port()
        run = self.train(EVERY_TENTH_STEP, more=(
            f'[component.foxglove]\nplugin = "foxglove"\nparams.port = {self.port}\n{more}'
            'process = "bridge"\nrespawn = { policy = "always", delay_ms = 10 }\n'))
        self.url = re.search(r"foxglove: connect to (ws://\S+)", run.said()).group(1)
        return run

    def client(self, **options):
        made = Client(self.url, **options)
        self.addCleanup(made.close)
        return made

    def test_a_client_gets_what_it_subscribes_to(self):
        self.launch_bridge()
        client = self.client()
        info = client.wait("serverInfo")
        self.assertEqual(set(info["capabilities"]),
                         {"time", "parameters", "parametersSubscribe", "connectionGraph", "services"})
        self.assertEqual(info["supportedEncodings"], ["json"])
        channels = client.channels()
        topics = {each["topic"]: each for each in json.loads(self.trainyard("topic", "list", "--json"))}
        self.assertEqual(set(channels), set(topics))
        for topic, channel in channels.items():
            self.assertEqual((channel["encoding"], channel["schemaEncoding"], channel["schemaName"]),
                             ("json", "jsonschema", topics[topic]["type"]))
            self.assertEqual(json.loads(channel["schema"])["title"], topics[topic]["type"])

        client.tell(op="subscribe", subscriptions=[{"id": 7, "channelId": channels["/metrics"]["id"]},
                                                   {"id": 8, "channelId": channels["/model"]["id"]}])
        first = client.wait("message", lambda message: message["subscription"] == 7)
        self.assertEqual(set(first["data"]), set(json.loads(channels["/metrics"]["schema"])["properties"]))
        later = client.wait("message", lambda message: message["subscription"] == 7)
        # A bridge that gets no processor time may miss messages.
        self.assertGreater(later["data"]["step"], first["data"]["step"])
        self.assertEqual((later["data"]["step"] - first["data"]["step"]) % 10, 0, "every tenth step")
        self.assertGreater(later["time"], first["time"])
        # The model was announced before anybody subscribed. The second client gets it, too.
        model = client.wait("message", lambda message: message["subscription"] == 8)
        self.assertIn("mlp", json.dumps(model["data"]))
        other = self.client()
        other.tell(op="subscribe", subscriptions=[{"id": 1, "channelId": channels["/model"]["id"]}])
        self.assertEqual(other.wait("message")["data"], model["data"])
        # The clock of the server and that of the messages are the same.
        now = client.wait("time", lambda message: message["time"] > later["time"])
        self.assertLess(now["time"] - later["time"], 60e9)

        client.tell(op="unsubscribe", subscriptionIds=[7])
        client.tell(op="subscribe", subscriptions=[{"id": 9, "channelId": channels["/orders"]["id"]}])
        client.wait("message", lambda message: message["subscription"] == 9)

    def test_parameters_are_read_set_and_watched(self):
        self.launch_bridge()
        client, watcher = self.client(), self.client()
        channels = client.channels()
        client.tell(op="getParameters", parameterNames=["/optimizer/lr"], id="one")
        answer = client.wait("parameterValues", lambda message: message["id"] == "one")
        self.assertEqual(answer["parameters"], [{"name": "/optimizer/lr", "value": 0.001, "type": "float64"}])
        client.tell(op="getParameters", parameterNames=[], id="all")
        answer = client.wait("parameterValues", lambda message: message["id"] == "all")
        names = {each["name"] for each in answer["parameters"]}
        self.assertLessEqual({"/optimizer/lr", "/logger/console", "/data_loader/batch_size", "/foxglove/port"}, names)

        watcher.tell(op="subscribeParameterUpdates", parameterNames=["/optimizer/lr"])
        client.tell(op="subscribe", subscriptions=[{"id": 7, "channelId": channels["/metrics"]["id"]}])
        # What has changed is known when all parameters have been read once, so the value changes until it is seen.
        for attempt in range(1, 30):
            value = 0.001 / (1 + attempt)
            client.tell(op="setParameters", parameters=[{"name": "/optimizer/lr", "value": value}], id=str(attempt))
            answer = client.wait("parameterValues", lambda message, wanted=str(attempt): message.get("id") == wanted)
            self.assertEqual(answer["parameters"][0]["value"], value)
            try:
                update = watcher.wait("parameterValues", seconds=5)
                break
            except TimeoutError:
                pass
        self.assertEqual([each["name"] for each in update["parameters"]], ["/optimizer/lr"])
        self.assertNotIn("id", update)

        def rate(message):
            return {each["name"]: each["value"] for each in message["data"]["values"]}["learning_rate"]

        client.wait("message", lambda message: rate(message) == value)
        # What is refused is said, and the value that the parameter still has.
        for given, reason in (({"name": "/optimizer/lr", "value": "fast"}, "lr"),
                              ({"name": "/optimizer/lr"}, "cannot be removed"),
                              ({"name": "/optimizer/lr", "value": "QUJD", "type": "byte_array"}, "list of bytes"),
                              ({"name": "/optimiser/lr", "value": 1}, "optimizer"),
                              ({"name": "lr", "value": 1}, "/COMPONENT/PARAMETER")):
            client.tell(op="setParameters", parameters=[given], id="bad")
            self.assertIn(reason, client.wait("status", lambda message: message["level"] == 2)["message"])
            answer = client.wait("parameterValues", lambda message: message.get("id") == "bad")
            self.assertTrue(all(each["value"] == value for each in answer["parameters"]), answer)

    def test_services_and_the_graph(self):
        self.launch_bridge()
        client = self.client()
        client.channels()
        services = {}
        while "/strategy_manager/checkpoint" not in services:
            services = {each["name"]: each for each in client.wait("advertiseServices")["services"]}
        checkpoint = services["/strategy_manager/checkpoint"]
        for side in ("request", "response"):
            self.assertEqual(checkpoint[side]["encoding"], "json")
            json.loads(checkpoint[side]["schema"])
        client.call(checkpoint["id"], 5, b"{}")
        answer = client.wait("response")
        self.assertEqual((answer["service"], answer["call"], answer["encoding"]), (checkpoint["id"], 5, "json"))
        self.assertIn("text", answer["data"])
        for service, body, encoding, reason in ((99999, b"{}", b"json", "no service"),
                                                (checkpoint["id"], b"{}", b"cdr", "only 'json'"),
                                                (checkpoint["id"], b"[1]", b"json", "not a JSON object"),
                                                (checkpoint["id"], b'{"raeson": ""}', b"json", "raeson")):
            client.call(service, 6, body, encoding)
            failure = client.wait("serviceCallFailure")
            self.assertEqual((failure["serviceId"], failure["callId"]), (service, 6))
            self.assertIn(reason, failure["message"])

        client.tell(op="subscribeConnectionGraph")
        graph = client.wait("connectionGraphUpdate")
        published = {each["name"]: each["publisherIds"] for each in graph["publishedTopics"]}
        subscribed = {each["name"]: each["subscriberIds"] for each in graph["subscribedTopics"]}
        provided = {each["name"]: each["providerIds"] for each in graph["advertisedServices"]}
        self.assertIn("accelerator_host", published["/metrics"])
        self.assertEqual(subscribed["/gradients"], ["optimizer"])
        self.assertEqual(provided["/strategy_manager/stop"], ["strategy_manager"])

    def test_mistakes_of_a_client_are_told_and_nothing_else_happens(self):
        self.launch_bridge()
        client = self.client()
        channels = client.channels()
        metrics = channels["/metrics"]["id"]
        for payload, opcode, reason in (
                (b"not json", 1, "not a JSON object"), (b"[" * 60000, 1, "not a JSON object"), (b"[]", 1, "not a JSON"),
                (b'{"op": "subscrib"}', 1, "did you mean 'subscribe'"), (b'{"op": 1}', 1, "no operation"),
                (b'{"op": "subscribe"}', 1, "no list 'subscriptions'"), (b"\x01\x00\x00\x00\x00{}", 2, "only calls"),
                (b"\x02\x01\x00", 2, "cut off"), (b"\x02" + bytes(8) + b"\xff\xff\xff\xff", 2, "cut off"), (b"", 2, "only"),
                (b'{"op": "getParameters", "parameterNames": [1]}', 1, "not a text")):
            client.send(payload, opcode)
            self.assertIn(reason, client.wait("status")["message"])
        for subscription, reason in (({"id": 1, "channelId": 99999}, "no channel"), ({"id": -1, "channelId": 1}, "'-1'"),
                                     ({"id": 1 << 33, "channelId": 1}, "8589934592"), ({"id": 1}, "'null'"), (7, "'null'")):
            client.tell(op="subscribe", subscriptions=[subscription, {"id": 3, "channelId": metrics}])
            self.assertIn(reason, client.wait("status")["message"])
            client.wait("message")  # The other one was accepted.
            client.tell(op="unsubscribe", subscriptionIds=[3])
        client.tell(op="subscribe", subscriptions=[{"id": 3, "channelId": metrics}, {"id": 3, "channelId": metrics},
                                                   {"id": 4, "channelId": metrics}])
        self.assertIn("exists already", client.wait("status")["message"])
        self.assertIn("subscribed already", client.wait("status")["message"])
        client.tell(op="unsubscribe", subscriptionIds=[5])
        self.assertIn("no subscription", client.wait("status")["message"])

    def test_who_is_let_in(self):
        self.launch_bridge()
        token = self.url.partition("token=")[2]
        self.client(origin="https://app.foxglove.dev").wait("serverInfo")
        for url, options, reason in ((self.url.replace(token, ""), {}, "403"), (self.url.replace(token, "wrong"), {}, "403"),
                                     (self.url.replace(token, ""), {"origin": "https://app.foxglove.dev"}, "403"),
                                     (self.url, {"subprotocol": "other"}, "foxglove.websocket.v1"),
                                     (self.url, {"subprotocol": ""}, "foxglove.websocket.v1")):
            with self.assertRaisesRegex(Refused, reason):
                Client(url, **options)
        self.assertEqual(stat.S_IMODE((self.folder / "out/foxglove.token").stat().st_mode), 0o600)
        self.assertNotIn(token, (self.folder / "out/metrics.jsonl").read_text(encoding="utf-8"))

    def test_a_watcher_changes_nothing(self):
        self.launch_bridge('params.role = "watch"\n')
        client = self.client()
        self.assertNotIn("services", client.wait("serverInfo")["capabilities"])
        client.channels()
        client.tell(op="setParameters", parameters=[{"name": "/optimizer/lr", "value": 1}], id="no")
        self.assertIn("may only watch", client.wait("status")["message"])
        for service in range(1, 60):  # Also not by guessing numbers.
            client.call(service, service, b"{}")
            self.assertIn("may only watch", client.wait("serviceCallFailure")["message"])
        client.tell(op="getParameters", parameterNames=["/optimizer/lr"], id="yes")
        self.assertEqual(client.wait("parameterValues")["parameters"][0]["value"], 0.001)

    def test_a_slow_client_misses_messages_and_is_told(self):
        self.launch_bridge()
        slow, bridge = self.client(receive_buffer=4096), self.pid_of("foxglove")
        # A hundred megabytes, of which the server and the kernel keep less than ten.
        pub = self.program(TRAINYARD, "topic", "pub", "/note", json.dumps({"text": "x" * 100_000}), "--rate", "200",
                           "--count", "1000", "--timeout", DEADLINE_S)
        channel = slow.channel("/note")
        slow.tell(op="subscribe", subscriptions=[{"id": 1, "channelId": channel["id"]}])
        slow.wait("message")
        # A client that says nothing for a minute is given up.
        self.wait_for(lambda: slow.send(b"", PONG) or pub.poll() is not None, "the end of the publisher")
        self.assertIn("\n1000 message(s) published\n", pub.said())
        status = pathlib.Path(f"/proc/{bridge}/status").read_text(encoding="utf-8")
        self.assertLess(int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)), 200 << 10)
        told = slow.wait("status")
        self.assertEqual((told["level"], told["id"]), (1, "missed"))
        self.assertGreater(int(re.match(r"(\d+) messages were left out", told["message"]).group(1)), 0)

    def test_the_bridge_can_be_killed_while_training_goes_on(self):
        run = self.launch_bridge()
        first = self.client()
        session = first.wait("serverInfo")["sessionId"]
        pid, before = self.pid_of("foxglove"), self.step()
        os.kill(pid, signal.SIGKILL)

        def connected_again():
            try:
                return self.client()
            except (OSError, Refused, EOFError):
                return None

        again = self.wait_for(connected_again)  # At the same address.
        self.assertNotEqual(again.wait("serverInfo")["sessionId"], session)
        again.tell(op="subscribe", subscriptions=[{"id": 1, "channelId": again.channels()["/metrics"]["id"]}])
        self.assertGreater(again.wait("message")["data"]["step"], 0)
        self.wait_for(lambda: self.step() > before + 100)
        self.trainyard("service", "call", "strategy_manager", "stop")
        self.assertEqual(run.wait(DEADLINE_S), 0, run.said())
        with self.assertRaises((EOFError, ConnectionError)):
            while True:
                again.receive()

    def test_the_published_client_understands_the_bridge(self):
        modules = os.environ.get("TRAINYARD_FOXGLOVE_NODE_MODULES")
        if modules is None:
            self.assertFalse(REQUIRED, "@foxglove/ws-protocol is missing")
            self.skipTest("@foxglove/ws-protocol is not installed")
        self.launch_bridge()
        script = pathlib.Path(__file__).with_name("foxglove_client.cjs")
        done = self.completed("node", script, modules, self.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertGreater(seen["step"], 0)
        self.assertEqual(seen["lr"], 0.0625)
        self.assertEqual(seen["update"], "/optimizer/lr")
        self.assertIn("text", seen["checkpoint"])
        self.assertIn("no service", seen["failure"])
        self.assertIn("accelerator_host", seen["publishers"])
        self.assertGreater(seen["time"], 1.7e9)
        self.assertIn("did you mean", seen["status"])


if __name__ == "__main__":
    unittest.main()
