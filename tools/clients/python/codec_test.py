# SPDX-License-Identifier: Apache-2.0
"""Tests the codec of the Python client with random types, with tensors, and with messages as objects."""
import dataclasses
import pathlib
import re
import struct
import sys
import typing
import unittest

try:
    import zmq  # noqa: F401
except ImportError:
    print("skipped: pyzmq is missing (Debian: python3-zmq)")
    sys.exit(77)

import trainyard
import random_messages
from trainyard.generate import dataclasses_of

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/wire_format.md"
METRICS = "Metrics {\n  u64 step\n  string stage\n  list<Value> values\n  optional<Value> best\n}\nValue {\n  string name\n  f64 value\n}\n"
MESSAGE = {"step": 7, "stage": "train", "values": [{"name": "loss", "value": 0.5}], "best": None}


def page_example():
    """Returns the schema and the frames of the example in section 7 of docs/wire_format.md."""
    text = PAGE.read_text(encoding="utf-8")
    text = text[text.index("## 7. An example"):]
    schema = "".join(f"{line[4:]}\n" for line in re.search(r"(    Prediction \{\n(?:    .*\n)+)", text)[1].splitlines())
    frames = {}
    for line in text[text.index("```hex\n") + 7:].split("```")[0].splitlines():
        if re.match(r"[0-9a-f]{2} ", line):
            name = list(frames)[-1]
            frames[name] += bytes.fromhex(re.match(r"(?:[0-9a-f]{2} {0,2})+", line)[0])
        else:
            frames[line] = b""
    return schema, frames


class PageTest(unittest.TestCase):
    def test_the_example_of_the_page_is_decoded_and_encoded(self):
        text, frames = page_example()
        schema = trainyard.Schema(text)
        header = trainyard.read_header(frames["header"])
        self.assertEqual((schema.fingerprint, header.fingerprint), (0xee6766f6a2560b42, 0xee6766f6a2560b42))
        self.assertEqual((header.sequence, header.source, header.trace), (5, 3, 9))
        message = schema.decode(frames["body"], [frames["payload"]])
        self.assertEqual((message["order"], message["step"], message["title"], message["text"]), (2, 7, "digit", "seven"))
        pixels, none = message["tensors"]
        self.assertEqual((pixels.dtype, pixels.shape, bytes(pixels.data)), ("uint8", [2, 2], bytes([10, 20, 30, 40])))
        self.assertEqual((none.dtype, none.shape, none.data), ("float32", [3], None))
        self.assertEqual(schema.encode(message), (frames["body"], [frames["payload"]]))


class VersionTest(unittest.TestCase):
    def test_the_package_has_the_version_of_the_project(self):
        project = (PAGE.parents[1] / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"project(trainyard VERSION {trainyard.__version__} ", project)


class RandomTest(unittest.TestCase):
    def test_random_messages_survive_encoding_and_decoding(self):
        for sample in random_messages.samples(300):
            schema = trainyard.Schema(sample["schema"])
            body, payloads = bytes.fromhex(sample["body"]), [bytes.fromhex(each) for each in sample["payloads"]]
            message = schema.decode(body, payloads)
            self.assertEqual(random_messages.line(schema, message, *schema.encode(message), sample["schema"]), sample)

    def test_a_random_message_cut_at_any_byte_is_refused(self):
        for sample in random_messages.samples(60):
            schema, body = trainyard.Schema(sample["schema"]), bytes.fromhex(sample["body"])
            for length in range(len(body)):
                with self.assertRaises(trainyard.BadMessage):
                    schema.decode(body[:length])

    def test_random_bytes_are_decoded_or_refused_and_nothing_else(self):
        for seed, sample in enumerate(random_messages.samples(100)):
            schema, source = trainyard.Schema(sample["schema"]), random_messages.random.Random(seed)
            for _ in range(20):
                body = bytearray(bytes.fromhex(sample["body"]))
                body[source.randrange(len(body))] = source.randrange(256)
                try:
                    schema.decode(bytes(body), [bytes.fromhex(each) for each in sample["payloads"]])
                except trainyard.BadMessage:
                    pass


    def test_a_body_full_of_small_objects_is_refused_before_memory_is_taken(self):
        for kind, element in (("list<B>", b"\0"), ("list<string>", bytes(4)), ("list<list<B>>", b"\1\0\0\0\0")):
            schema = trainyard.Schema(f"A {{\n  {kind} a\n}}\n" + ("B {\n  u8 b\n}\n" if "B" in kind else ""))
            count = (2 << 20) + 1 if kind != "list<list<B>>" else (1 << 20) + 1
            body = struct.pack("<I", count) + element * count
            with self.assertRaisesRegex(trainyard.BadMessage, "more than 2097152 objects in lists and maps"):
                schema.decode(body)
            self.assertEqual(len(schema.decode(struct.pack("<I", 9) + element * 9)["a"]), 9)


class SchemaTest(unittest.TestCase):
    def refusal(self, text):
        with self.assertRaises(trainyard.BadMessage) as raised:
            trainyard.Schema(text)
        return str(raised.exception)

    @staticmethod
    def nested_lists(depth):
        return "A {\n  " + "list<" * depth + "u8" + ">" * depth + " a\n}\n"

    @staticmethod
    def nested_structs(depth):
        return "".join(f"A{i} {{\n  A{i + 1} a\n}}\n" for i in range(depth)) + f"A{depth} {{\n  u8 a\n}}\n"

    def test_nesting_is_bounded_as_the_page_says(self):
        for make in (self.nested_lists, self.nested_structs):
            trainyard.Schema(make(32))
            self.assertIn("too deeply", self.refusal(make(33)))
            self.assertIn("too deeply", self.refusal(make(1000)))

    def test_only_the_one_spelling_of_the_grammar_is_a_schema(self):
        good = "A {\n  u8 a\n  B b\n}\nB {\n  u8 a\n}\n"
        trainyard.Schema(good)
        for bad, complaint in ((good[:-1], "closing brace"), (good + "\n", "closing brace"), ("A {\n  u8 a\n  u8 a\n}\n", "new field"),
                               ("u8 {\n  u8 a\n}\n", "new struct"), (good + "B {\n  u8 a\n}\n", "new struct"),
                               (good + "C {\n  u8 a\n}\n", "in no field"), ("A {\n  u8 a'\n}\n", "new field"),
                               ("A {\n  u8 a\n", "closing brace"), ("A {\n  u8 é\n}\n", "new field"),
                               ("A {\n" + "  u8 a\n" * 20000 + "}\n", "at most 65536")):
            self.assertIn(complaint, self.refusal(bad), bad[:60])

    def test_a_schema_that_grows_exponentially_is_compiled_at_once(self):
        text = "".join(f"A{i} {{\n  A{i + 1} a\n  A{i + 1} b\n}}\n" for i in range(31)) + "A31 {\n  u8 a\n}\n"
        with self.assertRaises(trainyard.BadMessage):
            trainyard.Schema(text).decode(bytes(1000))

    def test_names_that_python_reserves_are_names_of_fields(self):
        schema = trainyard.Schema("A {\n  u8 class\n  u8 __class__\n  u8 lambda\n  u8 values\n}\n", trainyard.Record)
        record = schema.decode(b"\1\2\3\4")
        self.assertEqual([record["class"], record["__class__"], getattr(record, "lambda"), record.values], [1, 2, 3, 4])


class TensorTest(unittest.TestCase):
    def test_tensors_become_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is missing")
        bits = struct.pack("<4H", 0x3F80, 0xC000, 0x7F80, 0x0001)
        array = trainyard.Tensor("bfloat16", [2, 2], bits).numpy()
        self.assertEqual((array.dtype, array.tolist()), (numpy.float32, [[1.0, -2.0], [float("inf"), 2.0 ** -133]]))
        half = trainyard.Tensor("float16", [2], numpy.array([0.5, -3], "<f2").tobytes()).numpy()
        self.assertEqual((half.dtype, half.tolist()), (numpy.float16, [0.5, -3.0]))
        flags = trainyard.Tensor("bool", [3], b"\1\0\1").numpy()
        self.assertEqual(flags.tolist(), [True, False, True])
        self.assertEqual(trainyard.Tensor("int64", [], struct.pack("<q", -5)).numpy().tolist(), -5)
        with self.assertRaisesRegex(trainyard.TrainyardError, 'no elements; subscribe with payloads="inline"'):
            trainyard.Tensor("int64", [2]).numpy()
        schema = trainyard.Schema("A {\n  Tensor a\n}\n")
        for data in (None, b""):
            body, payloads = schema.encode({"a": trainyard.Tensor("bfloat16", [0, 2], data)})
            for received in (payloads, None):
                self.assertEqual(schema.decode(body, received)["a"].numpy().shape, (0, 2))

    def test_a_tensor_is_read_like_a_dictionary_too(self):
        tensor = trainyard.Tensor("uint8", [2], b"ab")
        self.assertEqual((dict(tensor)["dtype"], tensor["shape"], bytes(tensor["data"])), ("uint8", [2], b"ab"))
        with self.assertRaises(KeyError):
            tensor["__class__"]


@dataclasses.dataclass
class Value:
    name: str
    value: float


@dataclasses.dataclass
class Metrics:
    step: int
    values: typing.List[Value]
    best: typing.Optional[Value]


class ObjectsTest(unittest.TestCase):
    def setUp(self):
        self.body, _ = trainyard.Schema(METRICS).encode(MESSAGE)

    def test_messages_become_records(self):
        record = trainyard.Schema(METRICS, trainyard.Record).decode(self.body)
        self.assertEqual((record.step, record.values[0].name, record["values"][0]["value"], record.best),
                         (7, "loss", 0.5, None))
        with self.assertRaisesRegex(AttributeError, "no field 'steps'; there are: step, stage, values, best"):
            record.steps

    def test_messages_become_dataclasses_that_may_have_fewer_fields(self):
        self.assertEqual(trainyard.Schema(METRICS, Metrics).decode(self.body), Metrics(7, [Value("loss", 0.5)], None))
        self.assertEqual(trainyard.Schema(METRICS).encode(MESSAGE | {"best": Value("b", 1)})[0][-10:-8], b"\0b")

    def test_a_dataclass_that_does_not_fit_is_refused(self):
        for name, kind, complaint in (("steps", int, r"X.steps: Metrics has no such field; it has: step, stage"),
                                      ("step", str, "X.step: the type str does not fit u64"),
                                      ("values", typing.List[int], "X.values: the type int does not fit Value"),
                                      ("best", Value, "X.best: the type Value does not fit optional<Value>")):
            with self.assertRaisesRegex(trainyard.TrainyardError, complaint):
                trainyard.Schema(METRICS, dataclasses.make_dataclass("X", [(name, kind)]))
        with self.assertRaisesRegex(trainyard.TrainyardError, "allowed are dict, trainyard.Record and dataclasses"):
            trainyard.Schema(METRICS, int)

    def test_generated_dataclasses_fit(self):
        for sample in random_messages.samples(100):
            names = {"__name__": "generated"}
            sys.modules["generated"] = type(sys)("generated")
            sys.modules["generated"].__dict__.update(names)
            text = dataclasses_of(sample["schema"])
            exec(compile(text, "generated", "exec"), sys.modules["generated"].__dict__)
            name = sample["schema"].split(" ")[0]
            wanted = getattr(sys.modules["generated"], name)
            message = trainyard.Schema(sample["schema"], wanted).decode(bytes.fromhex(sample["body"]))
            self.assertIsInstance(message, wanted)

    def test_a_value_that_does_not_fit_is_refused_with_its_place(self):
        for change, complaint in (({"step": -1}, r"\.step: -1 does not fit u64"), ({"stage": 3}, r"\.stage: 3 does not fit string"),
                                  ({"values": [{"name": "a"}]}, r"\.values\[0\]")):
            with self.assertRaisesRegex(trainyard.TrainyardError, complaint):
                trainyard.Schema(METRICS).encode({**MESSAGE, **change})


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
