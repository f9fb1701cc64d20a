// SPDX-License-Identifier: Apache-2.0
// Tests the client with a fake launch.
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { BadMessage, findRun, Refused, RunEnded, runs, Timeout, TrainyardError } from "trainyard";
import { question, readAnswer } from "../src/registry.js";
import { FakeRun, MESSAGE } from "./fake_run.mjs";

let fake;
let run;
beforeEach(async () => {
  fake = await new FakeRun().start();
  run = await findRun();
});
afterEach(() => fake.stop());

/** Waits until a condition is true. The test fails if this takes too long. */
async function until(condition) {
  for (const deadline = Date.now() + 120_000; !condition();) {
    assert.ok(Date.now() < deadline, `never: ${condition}`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}

async function all(subscription) {
  const found = [];
  for await (const one of subscription) found.push(one);
  return found;
}

test("messages come in order, and credit goes back at half of the window", async () => {
  const publisher = await fake.publish(["/metrics"], { count: 20, ends: true });
  const subscription = run.subscribe("/metrics", { window: 4 });
  const found = await all(subscription);
  assert.deepEqual(found.map(({ header }) => header.sequence), Array.from({ length: 20 }, (_, i) => BigInt(i)));
  assert.deepEqual(found[0].message, MESSAGE);
  assert.deepEqual([found[0].header.topic, subscription.received, subscription.missed], ["/metrics", 20, 0]);
  await until(() => publisher.gone);
  assert.deepEqual([publisher.mostUnderWay, publisher.credited], [4, 20]);
  assert.equal(publisher.heard.filter((kind) => kind === "Credit").length, 10);
});

test("after a Flush, credit goes back after every message", async () => {
  const publisher = await fake.publish(["/metrics"], { count: 3, flush: true, ends: true });
  assert.equal((await all(run.subscribe("/metrics"))).length, 3);
  await until(() => publisher.gone);
  assert.equal(publisher.heard.filter((kind) => kind === "Credit").length, 3);
});

test("one subscription has several topics, at one endpoint and at several", async () => {
  const both = await fake.publish(["/metrics", "/validation"], { count: 2, ends: true });
  await fake.publish(["/metrics"], { count: 3, ends: true });
  const found = await all(run.subscribe(["/metrics", "/validation", "/metrics"]));
  assert.deepEqual(found.map(({ header }) => header.topic).sort(), [...Array(5).fill("/metrics"), "/validation", "/validation"]);
  assert.deepEqual(both.heard.filter((kind) => kind === "Subscribe").length, 2);
});

test("missed messages are counted", async () => {
  await fake.publish(["/metrics"], { count: 5, gap: 3, ends: true });
  const subscription = run.subscribe("/metrics");
  await all(subscription);
  assert.deepEqual([subscription.received, subscription.missed], [5, 8]);
});

test("tensors come with their bytes if they are asked for", async () => {
  const { Tensor } = await import("trainyard");
  const data = Uint8Array.of(0, 0, 128, 63);
  await fake.publish(["/predictions"], { count: 1, ends: true, schema: "P {\n  Tensor a\n}\n", payloads: [data],
    message: { a: new Tensor("float32", [1], data) } });
  assert.deepEqual((await all(run.subscribe("/predictions")))[0].message.a.data, null);
  const [{ message }] = await all(run.subscribe("/predictions", { payloads: "inline" }));
  assert.deepEqual(message.a.array(), Float32Array.of(1));
});

test("leaving the loop unsubscribes", async () => {
  const publisher = await fake.publish(["/metrics"], { count: 5 });
  const subscription = run.subscribe("/metrics");
  for await (const { header } of subscription) if (header.sequence === 1n) break;
  await until(() => publisher.gone);
  assert.equal(await subscription.receive(), null);
});

test("an AbortSignal ends a subscription and a question", async () => {
  const publisher = await fake.publish(["/metrics"], { count: 1 });
  const subscribing = new AbortController();
  const subscription = run.subscribe("/metrics", { timeout: null, signal: subscribing.signal });
  await subscription.receive();
  setTimeout(() => subscribing.abort(new Error("enough")), 20);
  await assert.rejects(all(subscription), /enough/);
  await until(() => publisher.gone);
  fake.silent = true;
  const asking = new AbortController();
  const answer = run.topics({ signal: asking.signal });
  asking.abort();
  await assert.rejects(answer, { name: "AbortError" });
  await assert.rejects(run.topics({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a publisher that comes back is subscribed to again", async () => {
  const publisher = await fake.publish(["/metrics"], { count: 2 });
  const subscription = run.subscribe("/metrics");
  const sequences = async () => [await subscription.receive(), await subscription.receive()].map((one) => one.header.sequence);
  assert.deepEqual(await sequences(), [0n, 1n]);
  await publisher.stop();
  await fake.publish(["/metrics"], { count: 2, endpoint: publisher.address });
  assert.deepEqual(await sequences(), [0n, 1n]);
  await subscription.close();
});

test("waiting ends by its deadline, with the run, and with its publishers", async () => {
  await fake.publish(["/metrics"], { count: 0 });
  await assert.rejects(all(run.subscribe("/metrics", { timeout: 200 })), (error) =>
    error instanceof Timeout && error.message === "no message on '/metrics' within 200 ms");
  const subscription = run.subscribe("/metrics", { timeout: null });
  await subscription.ready();
  fake.end();
  assert.deepEqual(await all(subscription), []);
  await assert.rejects(run.topics(), RunEnded);
});

test("a publisher that is gone does not keep the others from being heard", async () => {
  await fake.publish(["/log"], { count: 2, ends: true });
  fake.topics.get("/log").publishers.push({ component: "", process: "gone", endpoint: `ipc://${fake.directory}/gone` });
  const subscription = run.subscribe("/log");
  assert.deepEqual([await subscription.receive(), await subscription.receive()].map((one) => one.header.sequence), [0n, 1n]);
  fake.end();
  assert.equal(await subscription.receive(), null);
  await subscription.close();
});

test("refusals and mistakes are told", async () => {
  await fake.publish(["/metrics"], { refusal: "no \x1b[2Jtopic in this process" });
  await assert.rejects(all(run.subscribe("/metrics")), (error) =>
    error instanceof Refused && /topic '\/metrics' at ipc:.*: no \\x1b\[2Jtopic in this process/.test(error.message));
  await assert.rejects(all(run.subscribe("/loss")), /no topic '\/loss' in run mnist-1; it has: \/metrics/);
  for (const options of [{ window: 0 }, { window: 1025 }, { windowBytes: 2 ** 40 }, { payloads: "handle" },
    { policy: "block" }, { integers: "float" }]) {
    assert.throws(() => run.subscribe("/metrics", options), /allowed are/);
  }
  assert.throws(() => run.subscribe(`/${"x".repeat(200)}`), /has 201 bytes/);
  fake.topics.get("/metrics").publishers[0].endpoint = "tcp://10.0.0.1:7";
  await assert.rejects(all(run.subscribe("/metrics")), /'tcp:\/\/10.0.0.1:7' is refused/);
});

test("a message of another type is refused", async () => {
  await fake.publish(["/metrics"], { count: 1, fingerprint: 7n });
  await assert.rejects(all(run.subscribe("/metrics")), (error) =>
    error instanceof BadMessage && /has fingerprint 0000000000000007; Metrics has/.test(error.message));
});

test("calls are answered, refused or time out", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => run.call("optimizer", "param.set", { i })));
  assert.deepEqual(answers.map((answer) => answer.i), Array.from({ length: 20 }, (_, i) => i));
  await assert.rejects(run.call("optimiser", "param.list"), (error) => error instanceof Refused &&
    error.code === "not found" && error.message === "call: no component named 'optimiser'");
  fake.silent = true;
  await assert.rejects(run.topics({ timeout: 100 }), /run mnist-1 did not answer 'topics' within 100 ms/);
  assert.throws(() => question(1, "call", { body: "x".repeat(2 ** 20) }), /at most 1048576/);
  for (const frame of ["", "[]", "[".repeat(100_000), "7"]) assert.throws(() => readAnswer(Buffer.from(frame)), BadMessage);
});

test("runs are found by either name and only while they are alive", async () => {
  assert.equal((await findRun("mnist")).run, "mnist-1");
  assert.equal((await findRun("mnist-1")).pid, process.pid);
  await assert.rejects(findRun("gpt"), /no run named 'gpt' in .*; running: mnist-1/);
  fake.info.start_ticks += 1; // This imitates another process that has got the same pid.
  fake.announce();
  await assert.rejects(findRun(), /no run in .*; running: none/);
  writeFileSync(join(fake.directory, "run.json"), "{");
  assert.deepEqual(runs(), []);
  process.env.TRAINYARD_RUN_DIRECTORY = fake.directory;
  await assert.rejects(findRun(undefined, { timeout: 60 }), /no run announced itself in .*mnist-1 within 60 ms/);
  delete process.env.TRAINYARD_RUN_DIRECTORY;
  chmodSync(dirname(fake.directory), 0o777);
  await assert.rejects(findRun(), TrainyardError);
});
