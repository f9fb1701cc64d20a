// SPDX-License-Identifier: Apache-2.0
// The parts of members that work without a run: policies of edges, turns, shared memory, parameters, declarations. What a
// member does in a run is tested by tests/members.
import assert from "node:assert/strict";
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Component, schemaOf, StateReader, StateWriter, Tensor } from "trainyard/member";
import { Declared, Output } from "../src/member/declared.js";
import { Edge } from "../src/member/edge.js";
import { describe } from "../src/member/describe.js";
import { Mailbox } from "../src/member/mailbox.js";
import { Log } from "../src/member/log.js";
import { Imports } from "../src/member/memory.js";
import { OutputPort } from "../src/member/outlet.js";
import { fromZ85, readKeys } from "../src/member/sockets.js";
import { pack } from "../src/member/state.js";
import { Schema, TrainyardError } from "../src/codec.js";

/**
 * A model of an edge that is as simple as possible, for comparison: a list of the messages in flight, and a list of
 * those that wait.
 */
class Model {
  underWay = [];
  waiting = [];
  sent = [];
  dropped = 0;

  constructor(policy, messages, bytes) { Object.assign(this, { policy, messages, bytes }); }

  room() {
    const sum = this.underWay.reduce((total, one) => total + one.payloadBytes, 0);
    return this.underWay.length === 0 || (this.underWay.length < this.messages && sum < this.bytes);
  }

  settle() {
    while (this.waiting.length > 0 && this.room()) {
      this.underWay.push(this.waiting.shift());
      this.sent.push(this.underWay.at(-1).number);
    }
  }

  send(message) {
    const keep = this.policy === "latest" ? 1 : this.messages;
    if (this.policy !== "block" && (this.waiting.length > 0 || !this.room())) {
      while (this.waiting.length > 0 && (this.waiting.length + 1 > keep ||
          this.waiting.reduce((total, one) => total + one.payloadBytes, message.payloadBytes) > this.bytes)) {
        this.waiting.shift();
        this.dropped += 1;
      }
    }
    this.waiting.push(message);
    this.settle();
  }

  credit(count) {
    this.underWay.splice(0, count);
    this.settle();
  }
}

const pick = (most) => Math.floor(Math.random() * most);
const attached = (policy, messages, bytes, transmit) => {
  const edge = new Edge({ policy, window_messages: 1n, window_bytes: 1n }, transmit, () => {});
  edge.attach(Buffer.from("peer"), { subscription: 0, payloads: "inline", window_messages: BigInt(messages),
    window_bytes: BigInt(bytes) });
  return edge;
};

test("an edge does what the model does", () => {
  for (let round = 0; round < 300; ++round) {
    const policy = ["block", "latest", "drop_oldest"][round % 3];
    const [messages, bytes] = [1 + pick(5), 1 + pick(50)];
    const sent = [];
    const model = new Model(policy, messages, bytes);
    const edge = attached(policy, messages, bytes, (message) => {
      sent.push(message.number);
      return message.payloadBytes;
    });
    for (let number = 0; number < 60; ++number) {
      if (Math.random() < 0.6) {
        const message = { number, payloadBytes: pick(20) };
        edge.send(message);
        model.send(message);
      } else if (model.underWay.length > 0) {
        const count = 1 + pick(model.underWay.length);
        edge.credit(count, model.underWay.slice(0, count).reduce((sum, one) => sum + one.payloadBytes, 0));
        model.credit(count);
      }
      assert.deepEqual(sent, model.sent);
      assert.deepEqual([edge.dropped, edge.isBlocked()],
        [model.dropped, policy === "block" && model.waiting.length > 0]);
    }
  }
});

test("a dead receiver holds nobody up, and credit for more than was sent counts for what was sent", () => {
  const edge = attached("block", 1, 100, () => 10);
  for (let i = 0; i < 3; ++i) edge.send({ payloadBytes: 10 });
  assert.deepEqual([edge.sent, edge.isBlocked(), edge.drained()], [1, true, false]);
  edge.lose();
  edge.send({ payloadBytes: 10 });
  assert.deepEqual([edge.sent, edge.dropped, edge.isBlocked(), edge.ready(), edge.drained()], [1, 3, false, true, true]);
  const other = attached("block", 4, 100, () => 10);
  other.send({ payloadBytes: 10 });
  other.credit(1000, 1_000_000);
  assert.deepEqual([other.underWay, other.bytesUnderWay], [0, 0]);
});

test("a component has one turn at a time, and what is asynchronous keeps its turn", async () => {
  const done = [];
  let release = () => {};
  const port = { paused: false, aside: [] };
  const mailbox = new Mailbox(() => false, ({ number }) => {
    done.push(number);
    if (number === 1) return new Promise((resolve) => { release = resolve; });
    if (number === 4) mailbox.run(() => { done.push("later"); });
  });
  for (const number of [0, 1, 2]) mailbox.deliver({ number, port });
  mailbox.run(() => { done.push("call"); });
  assert.deepEqual(done, [0, 1]);
  assert.equal(mailbox.isIdle, false);
  release();
  await new Promise(setImmediate);
  assert.deepEqual(done, [0, 1, "call", 2]);
  assert.equal(mailbox.isIdle, true);
  port.paused = true;
  mailbox.deliver({ number: 3, port });
  mailbox.deliver({ number: 4, port });
  assert.equal(port.aside.length, 2);
  mailbox.resume(port);
  mailbox.deliver({ number: 5, port });
  assert.deepEqual(done.slice(4), [3, 4, "later", 5]);
});

const makeOutput = (post = () => {}) => new OutputPort(new Output("here", "ticks", { type: "A {\n  u8 a\n}\n" }), "/ticks",
  { source: 0, trace: () => 0n, roomAgain() {}, post });

test("a receiver that was started again is told from its dead predecessor", () => {
  const edge = attached("block", 1, 100, () => 10);
  assert.equal(edge.hasSuccessorOf(8), false, "it has not said which process it is");
  const request = { subscription: 0, payloads: "inline", window_messages: 1n, window_bytes: 1n };
  edge.attach(Buffer.from("peer"), request, process.pid);
  assert.equal(edge.hasSuccessorOf(process.pid + 1), true);
  assert.equal(edge.hasSuccessorOf(process.pid), false, "a pid of another host may be one of a process here");
  assert.equal(edge.hasSuccessorOf(0), false, "it is not known which process has died");
});

test("a component that nobody limits pauses", async () => {
  const rounds = [];
  let ended = () => {};
  const twice = new Promise((resolve) => { ended = resolve; });
  const output = makeOutput((action) => action());
  const sendWhileReady = () => {
    let sent = 0;
    while (sent < 1_000_000 && output.ready()) {
      output.send({ a: 1 });
      sent += 1;
    }
    rounds.push(sent);
    if (rounds.length === 2) ended();
  };
  output.onReady(sendWhileReady);
  sendWhileReady();
  assert.equal(output.ready(), false);
  await twice;
  assert.ok(rounds.every((sent) => sent >= 64 && sent < 1_000_000), String(rounds));
  const gone = attached("block", 1, 100, () => 1);
  gone.lose();
  output.edges.push(gone);
  assert.equal(output.ready(), false, "it still pauses");
  output.onReady(() => {});
  await output.whenReady();
});

test("a message must fit also if nobody listens", () => {
  const output = makeOutput();
  output.send({ a: 1 });
  assert.throws(() => output.send({ a: -1 }), /\.a: -1 does not fit u8/);
  assert.throws(() => output.send({}), /the field 'a' is missing/);
});

test("an asynchronous method waits for room at an output", async () => {
  const output = makeOutput();
  const edge = attached("block", 2, 100, () => 1);
  edge.changed = () => output.changed();
  output.edges.push(edge);
  const waited = [];
  await output.whenReady();
  output.send({ a: 1 });
  output.send({ a: 2 });
  const waiting = output.whenReady().then(() => { waited.push(edge.underWay); });
  await new Promise(setImmediate);
  assert.deepEqual(waited, []);
  edge.credit(1, 1);
  await waiting;
  assert.deepEqual(waited, [1]);
  assert.throws(() => output.send({ a: 256 }), /\.a: 256 does not fit u8: out of range/);
});

/** Makes a segment as another process would make it, and a handle for it. */
function segment({ counted = true, elements = Float32Array.of(1, 2, 3, 4) } = {}) {
  const path = join(tmpdir(), `trainyard-segment-${process.pid}`);
  const file = openSync(path, "w+");
  unlinkSync(path);
  ftruncateSync(file, 8192);
  writeSync(file, new Uint8Array(elements.buffer), 0, elements.byteLength, 4096);
  const handle = Buffer.alloc(48);
  handle.writeInt32LE(process.pid, 0);
  handle.writeInt32LE(file, 4);
  handle.writeBigUInt64LE(BigInt(fstatSync(file).ino), 8);
  handle.writeBigUInt64LE(8192n, 16);
  handle.writeBigUInt64LE(4096n, 24);
  handle.writeBigUInt64LE(BigInt(elements.byteLength), 32);
  handle.writeBigUInt64LE(counted ? 1n : 0n, 40);
  const returned = (index) => {
    const counter = Buffer.alloc(4);
    readSync(file, counter, 0, 4, (256 + index) * 4);
    return counter.readUInt32LE(0);
  };
  return { file, handle, returned };
}

const TENSOR = new Schema("A {\n  Tensor a\n}\n");
const received = (imports, handle) => {
  const loan = imports.open(handle);
  const { body } = TENSOR.encode({ a: Tensor.from(Float32Array.of(0, 0, 0, 0), [2, 2]) });
  return { loan, tensor: TENSOR.decode(body, [loan]).a };
};

test("a tensor in shared memory is read when it is asked for, and returned once", () => {
  const { file, handle, returned } = segment();
  const imports = new Imports(7);
  const { loan, tensor } = received(imports, handle);
  assert.deepEqual([tensor.dtype, tensor.shape, tensor.byteLength], ["float32", [2, 2], 16]);
  assert.deepEqual([tensor.view(), tensor.array()], [Float32Array.of(1, 2, 3, 4), Float32Array.of(1, 2, 3, 4)]);
  assert.throws(() => tensor.write(new Uint8Array(16)), /only the arena can be written/);
  assert.equal(returned(7), 0);
  const kept = tensor.array();
  loan.giveBack();
  loan.giveBack();
  assert.deepEqual([returned(7), returned(6)], [1, 0]);
  for (const use of [() => tensor.data, () => tensor.view(), () => tensor.array()]) {
    assert.throws(use, /only while the handler of its message runs/);
  }
  // The memory of the first copy is used for the next message.
  const again = received(imports, handle);
  writeSync(file, new Uint8Array(Float32Array.of(9).buffer), 0, 4, 4096);
  assert.equal(again.tensor.view()[0], 9);
  again.loan.giveBack();
  assert.deepEqual([kept[0], returned(7)], [1, 2]);
  // The counter wraps around.
  writeSync(file, Buffer.from([255, 255, 255, 255]), 0, 4, (256 + 7) * 4);
  received(imports, handle).loan.giveBack();
  assert.equal(returned(7), 0);
  closeSync(file);
});

test("a tensor of the arena is read anew each time, and can be written", () => {
  const { file, handle } = segment({ counted: false });
  const { loan, tensor } = received(new Imports(7), handle);
  loan.giveBack(); // The memory is not reused.
  assert.equal(tensor.view()[3], 4);
  tensor.write(new Uint8Array(Float32Array.of(5, 6, 7, 8).buffer));
  assert.deepEqual(tensor.view(), Float32Array.of(5, 6, 7, 8));
  assert.throws(() => tensor.write(new Uint8Array(17)), /the tensor has 16 bytes; 17 do not fit/);
  closeSync(file);
});

test("a new segment stays open even if all others are in use", () => {
  const imports = new Imports(7);
  const segments = Array.from({ length: 130 }, () => segment({ counted: false })); // Segments of the arena stay in use.
  for (const { handle } of segments) assert.equal(received(imports, handle).tensor.view()[3], 4);
  // A surplus of segments that are no longer used is closed.
  const unused = Array.from({ length: 2 }, () => segment());
  for (const { handle } of unused) {
    const { loan, tensor } = received(imports, handle);
    assert.equal(tensor.view()[3], 4);
    loan.giveBack();
  }
  assert.equal(received(imports, unused[0].handle).tensor.view()[3], 4);
  for (const { file } of [...segments, ...unused]) closeSync(file);
});

test("handles that lead nowhere are refused", () => {
  const { file, handle } = segment();
  const changed = (change) => {
    const other = Buffer.from(handle);
    change(other);
    return () => new Imports(7).open(other);
  };
  assert.throws(changed((other) => other.writeBigUInt64LE(8193n, 32)), /is not in its segment of 8192 bytes/);
  assert.throws(changed((other) => other.writeBigUInt64LE(0n, 24)), /is not in its segment/);
  assert.throws(changed((other) => other.writeBigUInt64LE(5n, 8)), /its owner is gone/);
  assert.throws(changed((other) => other.writeInt32LE(999, 4)), /cannot open shared memory/);
  assert.throws(() => new Imports(7).open(handle.subarray(1)), /a handle has 47 bytes; 48 expected/);
  closeSync(file);
});

test("a class that cannot work is refused with its place", () => {
  const refused = (declared, words) => {
    class Wrong extends Component { onTicks() {} }
    Object.assign(Wrong, declared);
    assert.throws(() => new Declared(Wrong), (error) => error instanceof TrainyardError && error.message.includes(words) ||
      assert.fail(String(error)));
  };
  refused({ inputs: { ticks: { type: "Metric" } } }, "no message type 'Metric'; did you mean 'Metrics'?");
  refused({ inputs: { ticks: { type: "Metrics", polcy: "block" } } },
    "Wrong.inputs.ticks: no option 'polcy'; did you mean 'policy'?");
  refused({ inputs: { ticks: { type: "Metrics", policy: "hold" } } }, "policy = 'hold'; allowed are block, latest, drop_oldest");
  refused({ inputs: { my_ticks: { type: "Metrics" } } }, "Wrong.inputs.my_ticks: Wrong has no method 'onMyTicks'");
  refused({ outputs: { ticks: {} } }, "ticks: the key 'type' is missing");
  refused({ services: { reset: {} } }, "Wrong.services.reset: Wrong has no method 'reset'");
  refused({ parameters: { a: { kind: "int" } } }, "kind = 'int'; it must be one of: bool, integer");
  refused({ parameters: { a: { default: 2, between: [0, 1] } } }, "a: 2 is not allowed; a number >= 0 and <= 1");
  refused({ parameters: { a: { default: "z", one_of: ["x", "y"] } } }, 'a: "z" is not allowed; one of: x, y');
  refused({ parameters: { a: { default: 1.5, kind: "integer" } } }, "a: 1.5 is not allowed; an integer");
  class Half extends Component { saveState() {} }
  assert.throws(() => new Declared(Half), /overrides only one of saveState\(\) and restoreState\(\)/);
});

test("a class with state has the ports for it", () => {
  class Keeper extends Component {
    saveState() {}
    restoreState() {}
  }
  const { inputs, outputs } = new Declared(Keeper).declaration();
  assert.deepEqual([...inputs, ...outputs].map((port) => port.topic),
    ["/state_request", "/restored_states", "/states", "/states_taken"]);
  assert.equal(outputs[0].schema, schemaOf("StateAnswer"));
});

test("state comes back as it was saved", () => {
  const writer = new StateWriter({ name: "rank1/keeper", rank: 1 });
  writer.set("a", -Infinity);
  writer.set("b", [1, "x", null]);
  writer.set("c", Float32Array.of(1, 2));
  writer.set("mine", 7, { perRank: true });
  assert.throws(() => writer.set("d", 5n), /the state 'd' cannot be saved: a bigint/);
  assert.throws(() => writer.set("e", () => {}), /cannot be saved: a function/);
  const states = writer.take();
  assert.deepEqual(states.map(({ owner, rank, per_rank }) => [owner, rank, per_rank]), [["keeper", 1, false], ["keeper", 1, true]]);
  const restored = { path: "/c", step: 5n, ranks: 2, states };
  const reader = new StateReader(restored, "keeper", 1);
  assert.deepEqual([reader.number("a"), reader.get("b"), reader.get("c").array(), reader.get("mine")],
    [-Infinity, [1, "x", null], Float32Array.of(1, 2), 7]);
  assert.throws(() => reader.get("z"), /^TrainyardError: \/c: the state of 'keeper' has no value 'z'; it has a, b, c, mine$/);
  assert.throws(() => reader.number("b"), /'b' is \[1,"x",null\]; a number is allowed/);
  assert.equal(new StateReader(restored, "keeper", 0).has("mine"), false);
  assert.ok(new StateReader(restored, "other", 1).empty);
  assert.throws(() => new StateReader({ ...restored, states: [{ ...states[0], values: "[1" }] }, "keeper", 1),
    /the values are no JSON object/);
});

const STATES = new Schema(schemaOf("StateAnswer"));
const sent = (states) => {
  const { body, payloads } = STATES.encode({ order: 1n, component: "keeper", states });
  return { payloads, states: STATES.decode(body, payloads).states };
};

test("state may contain many arrays", () => {
  const arrays = Array.from({ length: 100 }, (_, i) => [`array ${i}`,
    i % 2 ? Float64Array.from({ length: i }, (__, k) => k + i) : Uint8Array.from({ length: i }, (__, k) => k + i)]);
  const writer = new StateWriter({ name: "keeper", rank: 1 });
  for (const [i, [name, array]] of arrays.entries()) writer.set(name, array, { perRank: i % 3 === 0 });
  const { payloads, states } = sent(writer.take());
  assert.equal(payloads.length, 1);
  const reader = new StateReader({ path: "/c", step: 5n, ranks: 2, states }, "keeper", 1);
  for (const [name, array] of arrays) assert.deepEqual(reader.get(name).array(), array);
});

test("state that is too large for one payload has several", () => {
  const sizes = [0, 100, 30, 300, 0, 128, 128, 1];
  const tensors = sizes.map((size, i) => ({ name: String(i), data: Tensor.from(new Uint8Array(size).fill(i)) }));
  pack([{ tensors }], 256);
  const { payloads, states } = sent([{ owner: "keeper", rank: 1, per_rank: false, values: "", tensors }]);
  assert.deepEqual(payloads.map(({ length }) => length), [192, 320, 256, 64]);
  assert.deepEqual(states[0].tensors.map(({ data }) => [...data.array()]), sizes.map((size, i) => Array(size).fill(i)));
});

test("state may contain an array without elements", () => {
  // C++ sends no payload for such a tensor, and JavaScript an empty one.
  for (const data of [null, new Uint8Array(0)]) {
    const tensors = [{ name: "a", data: new Tensor("float32", [0, 3], data) }];
    const { states } = sent([{ owner: "keeper", rank: 1, per_rank: false, values: "", tensors }]);
    const found = new StateReader({ path: "/c", step: 5n, ranks: 2, states }, "keeper", 1).get("a");
    assert.deepEqual([found.shape, found.array(), found.view()], [[0, 3], new Float32Array(0), new Float32Array(0)]);
  }
});

test("the text of a log record is cut if it is too long", () => {
  const texts = [];
  const log = new Log("a", "off", ({ text }) => { texts.push(text); });
  log.info("x".repeat(65 * 2 ** 20));
  log.info("short");
  assert.deepEqual(texts.map((text) => text.length), [65536, 5]);
});

test("keys are read, and are in no error", () => {
  assert.deepEqual(readKeys(Buffer.from("a".repeat(40) + "b".repeat(40))), { public: "a".repeat(40), secret: "b".repeat(40) });
  assert.throws(() => readKeys(Buffer.from("secret")), (error) => !error.message.includes("secret") &&
    error.message.includes("has 6 bytes"));
  // The example of ZeroMQ RFC 32.
  assert.deepEqual([...fromZ85("HelloWorld")], [0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b]);
});

test("an error is described with its place in the user's program, and one of this package by its text", () => {
  assert.match(describe(new RangeError("no")), /^RangeError: no \(member\.test\.mjs:\d+\)$/);
  assert.equal(describe(new TrainyardError("the file is empty")), "the file is empty");
  assert.equal(describe("text"), "text");
});
