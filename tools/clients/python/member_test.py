# SPDX-License-Identifier: Apache-2.0
"""The parts of members that work without a run: policies of edges, shared memory, parameters, declarations."""
import collections
import gc
import json
import math
import os
import random
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
try:
    import numpy
    import zmq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import trainyard
from trainyard.member import StateReader, StateWriter, entry
from trainyard.member import state as state_module
from trainyard.member.edge import Edge
from trainyard.member.gateway import Gateway
from trainyard.member.host import describe
from trainyard.member.log import Log
from trainyard.member.memory import HANDLE, Imports, Pool, Segment
from trainyard.member.outgoing import Outgoing
from trainyard.member.outlet import OutputPort
from trainyard.member.protocol import EDGES, LOG_RECORD, edge_frames
from trainyard.member.sockets import Keys, Sockets

SCHEMA = trainyard.Schema("A {\n  u64 number\n  list<Tensor> tensors\n}\n")


class Message:
    """Stands for an encoded message."""

    def __init__(self, number, size):
        self.number, self.payload_bytes = number, size


class Model:
    """A model of an edge that is as simple as possible, for comparison: a list of the messages in flight, and a list of
    those that wait."""

    def __init__(self, policy, messages, size):
        self.policy, self.messages, self.size = policy, messages, size
        self.under_way, self.waiting, self.sent, self.dropped = [], [], [], []

    def room(self):
        return not self.under_way or (len(self.under_way) < self.messages and
                                      sum(one.payload_bytes for one in self.under_way) < self.size)

    def settle(self):
        while self.waiting and self.room():
            message = self.waiting.pop(0)
            self.under_way.append(message)
            self.sent.append(message.number)

    def send(self, message):
        if self.policy != "block" and (self.waiting or not self.room()):
            keep = 1 if self.policy == "latest" else self.messages
            while self.waiting and (len(self.waiting) + 1 > keep or sum(
                    one.payload_bytes for one in self.waiting) + message.payload_bytes > self.size):
                self.dropped.append(self.waiting.pop(0).number)
        self.waiting.append(message)
        self.settle()

    def credit(self, count):
        del self.under_way[:count]
        self.settle()


class EdgeTest(unittest.TestCase):
    def edge(self, policy, messages=4, size=100):
        self.sent, self.rooms = [], 0

        def transmit(_, message):
            self.sent.append(message.number)
            return message.payload_bytes

        def changed():
            self.rooms += 1

        edge = Edge({"id": 3, "policy": policy, "window_messages": messages, "window_bytes": size}, transmit, changed)
        return edge

    def attach(self, edge, messages=4, size=100):
        edge.attach(b"peer", {"subscription": 0, "process_index": 1, "payloads": "inline", "window_messages": messages,
                              "window_bytes": size})
        edge.on_room()

    def test_it_does_what_the_model_does(self):
        for seed in range(300):
            draw = random.Random(seed)
            policy, messages, size = draw.choice(["block", "latest", "drop_oldest"]), draw.randint(1, 5), draw.randint(1, 50)
            edge, model = self.edge(policy, messages, size), Model(policy, messages, size)
            self.attach(edge, messages, size)
            for number in range(60):
                if draw.random() < 0.6:
                    message = Message(number, draw.randint(0, 20))
                    edge.send(message)
                    model.send(message)
                elif model.under_way:
                    count = draw.randint(1, len(model.under_way))
                    edge.credit(count, sum(one.payload_bytes for one in model.under_way[:count]))
                    model.credit(count)
                self.assertEqual(self.sent, model.sent, (seed, policy))
                self.assertEqual(edge.dropped, len(model.dropped))
                self.assertEqual(edge.is_blocked(), policy == "block" and bool(model.waiting))
            self.assertEqual(edge.sent, len(model.sent))

    def test_without_a_receiver_messages_wait(self):
        edge = self.edge("block")
        edge.send(Message(0, 1))
        self.assertTrue(edge.is_blocked())
        self.assertTrue(edge.drained(), "nobody is there who could handle it")
        self.attach(edge)
        self.assertEqual(self.sent, [0])
        self.assertFalse(edge.drained())
        edge.credit(1, 1)
        self.assertTrue(edge.drained())

    def test_a_dead_receiver_holds_nobody_up(self):
        edge = self.edge("block", messages=1)
        self.attach(edge, messages=1)
        for number in range(3):
            edge.send(Message(number, 1))
        edge.lose()
        self.assertFalse(edge.is_blocked())
        self.assertTrue(edge.ready())
        edge.send(Message(3, 1))
        self.assertEqual((self.sent, edge.dropped), ([0], 3))
        self.attach(edge, messages=1)
        edge.send(Message(4, 1))
        self.assertEqual(self.sent, [0, 4])

    def test_a_receiver_that_was_started_again_is_told_from_its_dead_predecessor(self):
        edge = self.edge("block")
        self.attach(edge)
        self.assertFalse(edge.has_successor_of(8), "it has not said which process it is")
        request = {"subscription": 0, "process_index": 1, "payloads": "inline", "window_messages": 4, "window_bytes": 9}
        edge.attach(b"peer", request, os.getpid())
        self.assertTrue(edge.has_successor_of(os.getpid() + 1))
        self.assertFalse(edge.has_successor_of(os.getpid()), "a pid of another host may be one of a process here")
        self.assertFalse(edge.has_successor_of(0), "it is not known which process has died")

    def test_a_component_that_nobody_limits_pauses(self):
        timers, rounds = [], []
        declared = trainyard.Output("numbers", "A {\n  u64 number\n}\n", name="numbers")
        port = OutputPort(declared, 0, Pool(), lambda: 0, lambda: None, lambda action: action(),
                          lambda seconds, action: timers.append(action))

        def send_while_ready():
            sent = 0
            while sent < 1_000_000 and port.ready():
                port.send({"number": sent})
                sent += 1
            rounds.append(sent)

        port.on_ready(send_while_ready)
        send_while_ready()
        timers.pop()()
        self.assertEqual(len(rounds), 2)
        self.assertTrue(all(64 <= sent < 1_000_000 for sent in rounds), rounds)
        self.assertEqual(len(timers), 1)
        gone = self.edge("block")
        gone.lose()
        port.edges.append(gone)
        self.assertFalse(port.ready(), "it still pauses")

    def test_a_message_must_fit_also_if_nobody_listens(self):
        declared = trainyard.Output("numbers", "A {\n  u64 number\n  list<Tensor> tensors\n}\n", name="numbers")
        port = OutputPort(declared, 0, Pool(), lambda: 0, lambda: None, lambda action: action(), lambda *_: None)
        port.send({"number": 1, "tensors": [numpy.ones(100_000), numpy.ones((100, 100))[:, ::2]]})
        for message, words in (({"number": -1, "tensors": []}, ".number: -1 does not fit u64"),
                               ({"number": 1}, "tensors"),
                               ({"number": 1, "tensors": [numpy.zeros(2, complex)]}, "complex128 cannot be sent"),
                               ({"number": 1, "tensors": [numpy.ones(1)] * 65}, "65 payloads; at most .* 64")):
            with self.subTest(message=message), self.assertRaisesRegex(trainyard.TrainyardError, words):
                port.send(message)

    def test_a_receiver_cannot_return_more_than_was_sent(self):
        edge = self.edge("block", messages=2)
        self.attach(edge, messages=2)
        edge.send(Message(0, 1))
        edge.credit(1 << 60, 1 << 60)
        for number in (1, 2, 3):
            edge.send(Message(number, 1))
        self.assertEqual(self.sent, [0, 1, 2])


class MemoryTest(unittest.TestCase):
    def setUp(self):
        self.pool, self.imports = Pool(), Imports(7, lambda: None)

    def test_a_segment_is_used_again_when_it_was_returned(self):
        array = self.pool.allocate(10_000)
        array[:] = 5
        segment, count, offset = self.pool.find(array)[1:]
        self.assertEqual((count, offset), (10_000, 0))
        segment.lend(7)
        view = numpy.frombuffer(self.imports.open(segment.handle(count)), numpy.uint8)
        self.assertTrue((view == 5).all())
        self.assertFalse(view.flags.writeable)
        del array
        gc.collect()
        self.assertIsNot(self.pool.find(other := self.pool.allocate(10_000))[1], segment, "it is still read")
        part = view[100:200].reshape(10, 10)
        del view
        gc.collect()
        self.imports.release()
        self.assertFalse(segment.free(), "a part of it is still used")
        del part
        gc.collect()
        self.assertFalse(segment.free(), "it is returned on the thread of the component")
        self.imports.release()
        self.assertTrue(segment.free())
        self.assertIs(self.pool.find(again := self.pool.allocate(9_000))[1], segment)
        del other, again

    def test_what_a_dead_process_held_is_free(self):
        array = self.pool.allocate(100)
        segment = self.pool.find(array)[1]
        for _ in range(3):
            segment.lend(9)
        del array
        gc.collect()
        self.assertFalse(segment.free())
        self.pool.forget(8)
        self.assertFalse(segment.free())
        self.pool.forget(9)
        self.assertTrue(segment.free())

    def test_permanent_memory_is_shared_and_writable(self):
        array = self.pool.allocate(64, permanent=True)
        segment, count = self.pool.find(array)[1:3]
        view = numpy.frombuffer(self.imports.open(segment.handle(count)), numpy.uint8)
        view[3] = 9
        self.assertEqual(array[3], 9)

    def test_handles_that_do_not_fit_are_refused(self):
        segment = Segment(8192, counted=True)
        good = [os.getpid(), segment.fd, segment.inode, segment.size, 4096, 8192, 1]
        self.assertEqual(len(self.imports.open(HANDLE.pack(*good))), 8192)
        for place, value in ((1, 9999), (2, segment.inode + 1), (3, segment.size + 1), (4, 100), (4, segment.size + 1),
                             (5, 8193), (5, (1 << 64) - 1), (4, (1 << 64) - 4096)):
            bad = list(good)
            bad[place] = value
            with self.subTest(bad=bad), self.assertRaises(trainyard.BadMessage):
                Imports(7, lambda: None).open(HANDLE.pack(*bad))
        with self.assertRaises(trainyard.BadMessage):
            self.imports.open(b"short")


class OutgoingTest(unittest.TestCase):
    def setUp(self):
        self.pool, self.imports = Pool(), Imports(0, lambda: None)

    def decoded(self, outgoing, mode="inline", reader=0):
        frames, size = outgoing.frames(b"/t", 5, mode, reader)
        handles = int.from_bytes(frames[1][48:56], "little")
        payloads = [self.imports.open(bytes(frame)) if handles >> index & 1 else bytes(frame)
                    for index, frame in enumerate(frames[3:])]
        self.assertEqual(size, len(frames[2]) + sum(map(len, payloads)))
        return SCHEMA.decode(frames[2], payloads), handles

    def test_arrays_arrive_in_every_way(self):
        shared = self.pool.allocate(4 * 30_000).view(numpy.float32)
        shared[:] = numpy.arange(30_000)
        arrays = [numpy.arange(6, dtype=numpy.int64).reshape(2, 3)[:, ::2], numpy.ones((100, 200), numpy.float64),
                  shared[:10_000].reshape(100, 100), shared[10_000:], numpy.float32(3), numpy.zeros((0, 4), numpy.uint8)]
        for share in (False, True):
            outgoing = Outgoing(SCHEMA, {"number": 1, "tensors": arrays}, self.pool, share)
            for mode in ("inline", "handle"):
                message, handles = self.decoded(outgoing, mode)
                self.assertEqual(handles != 0, mode == "handle")
                for tensor, array in zip(message["tensors"], arrays):
                    numpy.testing.assert_array_equal(tensor.numpy(), array)
                    self.assertEqual(tensor.numpy().dtype, array.dtype)
                del message, tensor
                gc.collect()
                self.imports.release()

    def test_tensors_of_one_piece_of_memory_share_a_payload(self):
        piece = self.pool.allocate(100)
        outgoing = Outgoing(SCHEMA, {"number": 1, "tensors": [piece[:40], piece[60:]]}, self.pool, True)
        self.assertEqual([payload.size for payload in outgoing.payloads], [100])

    def test_what_others_hold_is_not_lent_once_more(self):
        array = numpy.ones(100_000, numpy.uint8)
        outgoing = Outgoing(SCHEMA, {"number": 1, "tensors": [array]}, self.pool, True)
        outgoing.lend_ahead([3, 4])
        handles = [int.from_bytes(outgoing.frames(b"/t", 0, "handle", reader)[0][1][48:56], "little")
                   for reader in (3, 4, 5)]
        self.assertEqual(handles, [1, 1, 0], "another process may lend it at the same time")

    def test_what_cannot_be_sent_is_named(self):
        for message, words in (({"number": -1, "tensors": []}, ".number: -1 does not fit u64"),
                               ({"tensors": []}, "does not fit"),
                               ({"number": 1, "tensors": [numpy.zeros(2, complex)]}, "complex128 cannot be sent"),
                               ({"number": 1, "tensors": [5]}, "5")):
            with self.subTest(message=message), self.assertRaisesRegex(trainyard.TrainyardError, words):
                Outgoing(SCHEMA, message, self.pool, True)


class GatewayTest(unittest.TestCase):
    """A gateway with a latched output, and visitors that are connected to it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        sockets = Sockets(Keys(b"", b""))
        self.addCleanup(sockets.context.destroy, 0)
        self.declared = trainyard.Output("/a", "A {\n  u64 number\n}\n", latched=True, name="a")
        self.wanted = []
        self.gateway = Gateway(sockets, f"ipc://{folder.name}/gateway", {"/a": self.declared},
                               lambda topic, is_wanted: self.wanted.append((topic, is_wanted)))
        self.visitor = sockets.dealer(None)
        self.visitor.connect(self.gateway.endpoint)

    def subscribe(self, number, topic):
        self.visitor.send_multipart(edge_frames(
            "Subscribe", subscription=number, topic=topic, edge=0, fingerprint=0, policy="drop_oldest", window_messages=9,
            window_bytes=9 << 20, payloads="inline", process_index=0))
        self.assertEqual(EDGES["Subscribed"].decode(self.receive()[2])["error"], "")

    def receive(self):
        """Lets the gateway work until the visitor gets a message, and returns its frames."""
        self.work_until(lambda: self.visitor.poll(1))
        return self.visitor.recv_multipart()

    def work_until(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            self.gateway.poll()

    def publish(self, number):
        self.gateway.publish("/a", Outgoing(self.declared.schema, {"number": number}, Pool(), share=False))

    def test_a_visitor_gets_messages_also_if_one_was_sent_after_its_predecessor_left(self):
        self.subscribe(0, "/a")
        self.visitor.send_multipart(edge_frames("Unsubscribe", subscription=0))
        self.work_until(lambda: self.wanted == [("/a", True), ("/a", False)])
        self.publish(1)  # The component does not know yet that nobody listens.
        self.subscribe(1, "/a")
        self.assertEqual(self.wanted, [("/a", True), ("/a", False), ("/a", True)])
        self.publish(2)
        self.assertEqual(self.declared.schema.decode(self.receive()[2]), {"number": 2})
        self.subscribe(2, "/a")
        self.assertEqual(self.declared.schema.decode(self.receive()[2]), {"number": 2}, "the last message is kept")
        self.assertEqual(len(self.wanted), 3)

    def test_a_line_of_the_log_may_contain_anything(self):
        self.subscribe(0, "/log")
        log = Log("a", "off", self.gateway.tell)
        for text, expected in (("good \udce4.txt", "good ?.txt"), ("x" * (65 << 20), "x" * 65536)):
            log.info(text)
            record = LOG_RECORD.decode(self.receive()[2])
            self.assertEqual((record["level"], record["text"] == expected), ("info", True))
        self.gateway.tell({"time_ns": 0, "level": "info", "component": "a", "text": "\udce4"})
        log.info("next")
        self.assertEqual(LOG_RECORD.decode(self.receive()[2])["text"], "next")


class DeclarationTest(unittest.TestCase):
    def test_a_class_declares_what_it_has(self):
        class HTTPLogger2(trainyard.Component):
            """Writes
            to a server.

            Nothing else."""
            metrics = trainyard.Input("", "Metrics", policy="latest", window_messages=3)
            records = trainyard.Input("/log", "LogRecord", name="log", optional=True)
            out = trainyard.Output("/x", "Out {\n  bool b\n}\n")
            port = trainyard.Parameter(80, "where", between=(1, 65535), unit="port")
            names = trainyard.Parameter(["a"])
            must = trainyard.Parameter(kind=float)
            mode = trainyard.Parameter("fast", one_of=["fast", "slow"])

            @trainyard.service
            def go_on(self, request):
                """Goes on."""

        found = HTTPLogger2.declaration()
        self.assertEqual(found["name"], "http_logger2")
        self.assertEqual(found["description"], "Writes to a server.")
        self.assertEqual([one["name"] for one in found["inputs"]], ["metrics", "log"])
        self.assertTrue(found["inputs"][0]["schema"].startswith("Metrics {\n  u64 step\n"))
        self.assertEqual([one["kind"] for one in found["parameters"]],
                         ["integer", "list of strings", "number", "string"])
        self.assertNotIn("default", found["parameters"][2])
        self.assertTrue(all(one["latched"] is False for one in found["outputs"]))
        self.assertEqual(found["services"], [{"name": "go_on", "request": "GoOnRequest {\n}\n",
                                              "reply": "GoOnReply {\n}\n", "help": "Goes on."}])
        json.dumps(found)

    def test_derived_classes_add_to_what_their_bases_declare(self):
        class Base(trainyard.Component):
            a = trainyard.Parameter(1)
            b = trainyard.Parameter(2)

        class Derived(Base):
            b = trainyard.Parameter(3)
            c = trainyard.Parameter(4)

        self.assertEqual([(one["name"], one["default"]) for one in Derived.declaration()["parameters"]],
                         [("a", "1"), ("b", "3"), ("c", "4")])

    def test_parameters_are_checked(self):
        number = trainyard.Parameter(0.5, between=(0, 1), name="x")
        self.assertEqual(number.check(1), 1.0)
        for bad in (2, -0.1, "1", True, None, [0.5], float("nan"), float("inf")):
            with self.subTest(bad=bad), self.assertRaisesRegex(trainyard.TrainyardError, "x: .* is not allowed; a number"):
                number.check(bad)
        self.assertRaises(trainyard.TrainyardError, trainyard.Parameter(1, positive=True).check, 0)
        self.assertRaises(trainyard.TrainyardError, trainyard.Parameter(1).check, 1.5)
        self.assertEqual(trainyard.Parameter([0.5], at_least=0).check([1, 2]), [1.0, 2.0])

    def test_an_unknown_type_is_named_with_the_nearest(self):
        with self.assertRaisesRegex(trainyard.TrainyardError, "no message type 'Metric'; did you mean 'Metrics'"):
            trainyard.schema_of("Metric")

    def test_an_error_names_the_place_in_the_program(self):
        try:
            {}["x"]
        except KeyError as error:
            self.assertRegex(describe(error), r"^KeyError: 'x' \(member_test\.py:\d+\)$")
        self.assertEqual(describe(trainyard.TrainyardError("so")), "so")
        self.assertEqual(describe(ValueError("no \udce4.txt")), "ValueError: no ?.txt")
        self.assertEqual(describe(trainyard.TrainyardError("no \udce4.txt")), "no ?.txt")

    def test_keys_are_in_no_error(self):
        with self.assertRaises(trainyard.TrainyardError) as caught:
            Keys.read(b"secret" * 10)
        self.assertNotIn("secret", str(caught.exception))


class StateTest(unittest.TestCase):
    class Keeper:
        """Stands for a component of rank 1."""
        name, rank = "rank1/keeper", 1

        def __init__(self):
            self.pool = Pool()

        def allocate(self, size, dtype):
            return self.pool.allocate(max(size, 1))[:size].view(dtype)

    def reader(self, states, owner="keeper", rank=1):
        return StateReader({"path": "/c", "step": 5, "ranks": 2, "states": states}, owner, rank)

    def sent(self, writer, pool):
        """Returns what arrives when the state is sent, and the number of payloads."""
        schema = trainyard.Schema(trainyard.schema_of("StateAnswer"))
        outgoing = Outgoing(schema, {"order": 1, "component": "rank1/keeper", "states": writer.take()}, pool, share=True)
        payloads = [bytes(payload.data) for payload in outgoing.payloads]
        return schema.decode(outgoing.body, payloads)["states"], len(payloads)

    def test_it_may_contain_many_arrays(self):
        arrays = {f"array {i}": numpy.arange(i, dtype=kind) for i, kind in zip(range(100), (">i2", "<f4", "u1", "f8") * 25)}
        arrays.update({"scalar": numpy.array(2.5), "turned": numpy.arange(6).reshape(2, 3).T, "none": numpy.ones((0, 3))})
        for most, buffers in ((1 << 30, {1}), (2000, range(2, 65))):
            with self.subTest(most=most), unittest.mock.patch.object(state_module, "_BUFFER_BYTES", most):
                keeper = self.Keeper()
                writer = StateWriter(keeper)
                for place, (name, array) in enumerate(arrays.items()):
                    writer.set(name, array, per_rank=place % 2 == 1)
                states, payloads = self.sent(writer, keeper.pool)
                self.assertIn(payloads, buffers)
                self.assertEqual({one["data"].offset % 64 for state in states for one in state["tensors"]}, {0})
                reader = self.reader(states)
                for name, array in arrays.items():
                    self.assertEqual((reader[name].dtype, reader[name].shape, reader[name].tolist()),
                                     (array.dtype.newbyteorder("<"), array.shape, array.tolist()))

    def test_it_may_contain_an_array_without_elements(self):
        # C++ sends no payload for such a tensor, and Python an empty one.
        for dtype in ("float32", "bfloat16"):
            for data in (None, b""):
                tensors = [{"name": "a", "data": trainyard.Tensor(dtype, [0, 3], data)}]
                found = self.reader([{"owner": "keeper", "rank": 1, "per_rank": False, "values": "", "tensors": tensors}])
                self.assertEqual((found["a"].shape, found["a"].dtype), ((0, 3), numpy.float32))

    def test_it_comes_back_as_it_was_saved(self):
        keeper = self.Keeper()
        writer = StateWriter(keeper)
        array = numpy.array([1.5, 2.5], numpy.float32)
        for name, value in (("a", -math.inf), ("b", [1, "x", None]), ("c", array), ("d", {"e": True})):
            writer.set(name, value)
        array[0] = 7  # What was saved does not change.
        writer.set("mine", 7, per_rank=True)
        decoded, _ = self.sent(writer, keeper.pool)
        self.assertEqual([(one["owner"], one["rank"], one["per_rank"]) for one in decoded],
                         [("keeper", 1, False), ("keeper", 1, True)])
        reader = self.reader(decoded)
        self.assertEqual((reader.number("a"), reader["b"], list(reader["c"]), reader["d"], reader["mine"]),
                         (-math.inf, [1, "x", None], [1.5, 2.5], {"e": True}, 7))
        reader["c"][0] = 3  # It belongs to the component.
        self.assertNotIn("mine", self.reader(decoded, rank=0))
        self.assertTrue(self.reader(decoded, owner="other").empty())

    def test_what_is_wrong_is_named(self):
        writer = StateWriter(self.Keeper())
        for value in (object(), [math.nan]):
            with self.assertRaisesRegex(trainyard.TrainyardError, "the state 'x' cannot be saved: "):
                writer.set("x", value)
        writer.set("word", "a")
        reader = self.reader(writer.take())
        with self.assertRaisesRegex(trainyard.TrainyardError, "^/c: the state of 'keeper' has no value 'z'; it has word$"):
            reader["z"]
        with self.assertRaisesRegex(trainyard.TrainyardError, "'word' is 'a'; a number is allowed"):
            reader.number("word")
        with self.assertRaisesRegex(trainyard.TrainyardError, "the values are no JSON object"):
            self.reader([{"owner": "keeper", "rank": 0, "per_rank": False, "values": "[1", "tensors": []}])

    def test_a_class_with_state_has_the_ports_for_it(self):
        class Keeper(trainyard.Component):
            def save_state(self, into):
                pass

            def restore_state(self, saved):
                pass

        class Heir(Keeper):
            pass

        for kind in (Keeper, Heir):
            declared = kind.declaration()
            self.assertEqual([port["topic"] for port in declared["inputs"] + declared["outputs"]],
                             ["/state_request", "/restored_states", "/states", "/states_taken"])
        self.assertEqual(trainyard.Component.declaration()["inputs"], [])

        class Half(trainyard.Component):
            def save_state(self, into):
                pass

        with self.assertRaisesRegex(trainyard.TrainyardError, "overrides only one of save_state"):
            entry._check(Half)


if __name__ == "__main__":
    unittest.main()
