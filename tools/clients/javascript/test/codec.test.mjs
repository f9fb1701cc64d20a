// SPDX-License-Identifier: Apache-2.0
// Tests the codec with the example in docs/wire_format.md, with random messages that the Python codec also encodes, and
// with hostile bytes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BadMessage, readHeader, TrainyardError } from "trainyard/codec";
import { line, randomValue, Schema, Tensor, unhex } from "./canonical.mjs";

const page = readFileSync(new URL("../../../../docs/wire_format.md", import.meta.url), "utf8");
const python = process.env.TRAINYARD_PYTHON ?? "/usr/bin/python3";
const randomMessages = new URL("../../python/random_messages.py", import.meta.url).pathname;
const runPython = (words, input = "") => execFileSync(python, ["-B", randomMessages, ...words],
  { input, encoding: "utf8", maxBuffer: 2 ** 28, timeout: 120_000 });

function pageExample() {
  const text = page.slice(page.indexOf("## 7. An example"));
  const schema = /( {4}Prediction \{\n(?: {4}.*\n)+)/.exec(text)[1].replace(/^ {4}/gm, "");
  const frames = {};
  let name;
  for (const row of text.slice(text.indexOf("```hex\n") + 7).split("```")[0].trim().split("\n")) {
    const bytes = /^(?:[0-9a-f]{2} {0,2})+(?= |$)/.exec(row);
    if (bytes) frames[name] += bytes[0].replaceAll(" ", "");
    else frames[name = row] = "";
  }
  return { schema, frames: Object.fromEntries(Object.entries(frames).map(([key, value]) => [key, unhex(value)])) };
}

test("the example of the page is decoded and encoded", () => {
  const { schema: text, frames } = pageExample();
  const schema = new Schema(text);
  const header = readHeader(frames.header);
  assert.equal(schema.fingerprint, 0xee6766f6a2560b42n);
  assert.deepEqual([header.fingerprint, header.sequence, header.source, header.trace, header.sendTimeNs],
    [0xee6766f6a2560b42n, 5n, 3, 9n, 1700000000000000000n]);
  const message = schema.decode(frames.body, [frames.payload]);
  assert.deepEqual([message.order, message.step, message.title, message.text], [2n, 7n, "digit", "seven"]);
  const [pixels, none] = message.tensors;
  assert.deepEqual([pixels.dtype, pixels.shape, pixels.array()], ["uint8", [2, 2], Uint8Array.of(10, 20, 30, 40)]);
  assert.deepEqual([none.dtype, none.shape, none.data], ["float32", [3], null]);
  const encoded = schema.encode(message);
  assert.deepEqual([encoded.body, encoded.payloads], [frames.body, [frames.payload]]);
});

const samples = runPython(["400"]).trim().split("\n").map((text) => JSON.parse(text));

test("what the Python codec writes is read, and written again as the same bytes", () => {
  for (const sample of samples) {
    const schema = new Schema(sample.schema);
    const message = schema.decode(unhex(sample.body), sample.payloads.map(unhex));
    assert.deepEqual(line(schema, message, sample.schema), sample);
  }
});

test("what this codec writes is read by the Python codec", () => {
  const lines = samples.map(({ schema: text }) => {
    const schema = new Schema(text);
    return JSON.stringify(line(schema, schema.decode(...Object.values(schema.encode(
      randomValue(schema.structs, { kind: "struct", name: schema.name })))), text));
  });
  assert.equal(runPython(["--check"], `${lines.join("\n")}\n`), `${samples.length}\n`);
});

test("with integers: number, integers are numbers, and one that is not exact is refused", () => {
  const schema = new Schema("A {\n  u64 a\n  list<i64> b\n}\n", { integers: "number" });
  const { body } = schema.encode({ a: 7, b: [-5, 2 ** 53 - 1] });
  assert.deepEqual(schema.decode(body), { a: 7, b: [-5, 2 ** 53 - 1] });
  assert.throws(() => schema.decode(schema.encode({ a: 2n ** 53n, b: [] }).body),
    /has the integer 9007199254740992, which a number cannot represent/);
});

test("a message cut at any byte is refused", () => {
  for (const sample of samples.slice(0, 80)) {
    const schema = new Schema(sample.schema);
    const body = unhex(sample.body);
    for (let length = 0; length < body.length; ++length) {
      assert.throws(() => schema.decode(body.subarray(0, length)), BadMessage);
    }
  }
});

test("a message with changed bytes is decoded or refused, and nothing else", () => {
  for (const sample of samples.slice(0, 150)) {
    const schema = new Schema(sample.schema);
    for (let round = 0; round < 20; ++round) {
      const body = unhex(sample.body);
      body[Math.floor(Math.random() * body.length)] = Math.floor(Math.random() * 256);
      try {
        schema.decode(body, sample.payloads.map(unhex));
      } catch (error) {
        assert.ok(error instanceof BadMessage, String(error));
      }
    }
  }
});

test("hostile counts are refused before memory is taken", () => {
  const claim = Uint8Array.of(0, 0, 0, 16, 1, 2, 3, 4, 5, 6);
  const refusal = (type, body) => assert.throws.bind(null, () => new Schema(`A {\n  ${type} a\n}\n`).decode(body));
  refusal("list<f32>", claim)(/^BadMessage: message claims 268435456 elements of 4 bytes or more; 6 bytes remain$/);
  refusal("string", claim)(/claims 268435456/);
  refusal("map<u8>", claim)(/claims 268435456/);
  refusal("list<A1>\n  A1", claim)(/new field|claims/);
  refusal("bool", Uint8Array.of(2))(/message has 2 for a bool; 0 or 1/);
  refusal("u8", Uint8Array.of(1, 2))(/1 bytes after its last field/);
});

test("a body full of small objects is refused before memory is taken", () => {
  const schema = new Schema("A {\n  list<B> a\n}\nB {\n  u8 b\n}\n");
  const body = new Uint8Array(4 + 2 ** 21 + 1);
  new DataView(body.buffer).setUint32(0, 2 ** 21 + 1, true);
  assert.throws(() => schema.decode(body), /more than 2097152 objects in lists and maps/);
});

test("tensors lie within their payload", () => {
  const schema = new Schema("A {\n  Tensor a\n}\n");
  const tensor = (extent, offset, payload = 0) => {
    const body = new DataView(new ArrayBuffer(22));
    body.setUint8(0, 7);
    body.setUint8(1, 1);
    body.setBigInt64(2, extent, true);
    body.setUint32(10, payload, true);
    body.setBigUint64(14, offset, true);
    return new Uint8Array(body.buffer);
  };
  const payloads = [new Uint8Array(16)];
  assert.equal(schema.decode(tensor(4n, 0n), payloads).a.array().length, 4);
  for (const [extent, offset, payload, complaint] of [
    [5n, 0n, 0, /needs 20 bytes at 0/], [4n, 1n, 0, /needs 16 bytes at 1/], [-1n, 0n, 0, /impossible extent -1/],
    [2n ** 62n, 0n, 0, /impossible extent/], [2n ** 52n, 0n, 0, /needs/], [1n, 2n ** 64n - 1n, 0, /needs/],
    [1n, 0n, 1, /tensor in payload 1; the message has 1/]]) {
    assert.throws(() => schema.decode(tensor(extent, offset, payload), payloads), complaint);
  }
});

test("16-bit floats become float32", () => {
  const halves = new Uint16Array([0x3c00, 0xc000, 0x7c00, 0x0001, 0x3555, 0x8000]);
  assert.deepEqual([...new Tensor("float16", [6], new Uint8Array(halves.buffer)).array()],
    [1, -2, Infinity, 2 ** -24, 0.333251953125, -0]);
  assert.ok(Number.isNaN(new Tensor("float16", [1], Uint8Array.of(1, 0x7c)).array()[0]));
  const brain = new Uint16Array([0x3f80, 0xc000, 0x7f80, 0x0001]);
  assert.deepEqual([...new Tensor("bfloat16", [4], new Uint8Array(brain.buffer)).array()], [1, -2, Infinity, 2 ** -133]);
  assert.throws(() => new Tensor("bfloat16", [4]).array(), /payloads: "inline"/);
  assert.throws(() => new Tensor("float32", [4]).view(), /payloads: "inline"/);
});

test("a tensor without elements can be read in whatever way it was sent", () => {
  const schema = new Schema("A {\n  Tensor a\n}\n");
  for (const [dtype, elements] of [["bfloat16", new Float32Array(0)], ["int32", new Int32Array(0)]]) {
    for (const data of [null, new Uint8Array(0)]) {
      const { body, payloads } = schema.encode({ a: new Tensor(dtype, [2, 0], data) });
      for (const received of [payloads, null]) {
        const { a } = schema.decode(body, received);
        assert.deepEqual([a.shape, a.array(), a.view()], [[2, 0], elements, elements]);
      }
    }
  }
});

const nestedLists = (depth) => `A {\n  ${"list<".repeat(depth)}u8${">".repeat(depth)} a\n}\n`;
const nestedStructs = (depth) => Array.from({ length: depth }, (_, i) => `A${i} {\n  A${i + 1} a\n}\n`).join("") +
  `A${depth} {\n  u8 a\n}\n`;

test("only what the page allows is a schema", () => {
  for (const make of [nestedLists, nestedStructs]) {
    new Schema(make(32));
    assert.throws(() => new Schema(make(33)), /too deeply/);
    assert.throws(() => new Schema(make(1000)), /too deeply/);
  }
  const good = "A {\n  u8 a\n  B b\n}\nB {\n  u8 a\n}\n";
  new Schema(good);
  for (const bad of ["", good.slice(0, -1), `${good}\n`, "A {\n  u8 a\n  u8 a\n}\n", "u8 {\n  u8 a\n}\n",
    `${good}B {\n  u8 a\n}\n`, `${good}C {\n  u8 a\n}\n`, "A {\n  u8 é\n}\n", "A {\n  A a\n}\n", "A {\n  B b\n}\nB {\n}\n",
    "A {\n  list<u8 a\n}\n", `A {\n${"  u8 a\n".repeat(20000)}}\n`, "A {\n  B a\n}\n"]) {
    assert.throws(() => new Schema(bad), BadMessage, bad.slice(0, 60));
  }
});

test("a value that does not fit is refused with its place", () => {
  const schema = new Schema("A {\n  u8 a\n  list<B> b\n}\nB {\n  string c\n}\n");
  assert.throws(() => schema.encode({ a: 256, b: [] }), /^TrainyardError: \.a: 256 does not fit u8: out of range$/);
  assert.throws(() => schema.encode({ a: 1, b: [{ c: 7 }] }), /\.b\[0\]\.c: 7 does not fit string/);
  assert.throws(() => schema.encode({ a: 1 }), TrainyardError);
});

test("headers are read and strangers refused", () => {
  const { frames } = pageExample();
  for (const change of [[0, 1], [4, 2], [6, 65], [48, 1]]) {
    const header = Uint8Array.from(frames.header);
    header[change[0]] = change[1];
    assert.throws(() => readHeader(header), BadMessage);
  }
  assert.throws(() => readHeader(frames.header.subarray(1)), BadMessage);
});

test("the codec needs nothing of node, and generates no code", () => {
  const seen = new Set(["codec.js"]);
  for (const name of seen) {
    const text = readFileSync(new URL(`../src/${name}`, import.meta.url), "utf8");
    for (const [, from] of text.matchAll(/^(?:import|export) .*?from "(.*?)";/gms)) {
      assert.ok(from.startsWith("./"), `${name} imports ${from}`);
      seen.add(from.slice(2));
    }
  }
  assert.ok(seen.has("tensor.js"));
  const program = `import { Schema } from "trainyard/codec";
    console.log(new Schema("A {\\n  u8 a\\n}\\n").decode(Uint8Array.of(7)).a);`;
  const words = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", program];
  assert.equal(execFileSync(process.execPath, words, { encoding: "utf8", cwd: new URL("..", import.meta.url) }), "7\n");
});
