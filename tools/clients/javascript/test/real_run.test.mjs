// SPDX-License-Identifier: Apache-2.0
// Tests the client with a real training run. The environment variable TRAINYARD_PROGRAM contains the path of the
// program `trainyard`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findRun, Refused, RunEnded, runs, Schema } from "trainyard";

const program = process.env.TRAINYARD_PROGRAM;
const source = new URL("../../../..", import.meta.url).pathname;
// A training run that lasts longer than every test, so that tests never wait in vain, even on a slow machine.
const LAUNCH = `
include = ["${source}launch/files/standard.toml"]
[run]
name = "seen"
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
[component.data_loader.params]
dataset = { plugin = "synthetic", features = 32, classes = 10, samples = 10_000 }
batch_size = 16
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = "1" }
model = { plugin = "mlp", hidden = [16] }
log_every_steps = 1
[component.logger.params]
console = "off"
[component.optimizer.params]
rule = "adamw"
lr = 1e-3
`;
const DEADLINE = 180_000; // In milliseconds. Every test takes only a few seconds, unless the machine is very busy.

async function launched(placement, use) {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-"));
  process.env.XDG_RUNTIME_DIR = folder;
  delete process.env.TRAINYARD_RUN_DIRECTORY;
  writeFileSync(join(folder, "seen.toml"), LAUNCH);
  const launch = spawn(program, ["launch", "seen.toml", `placement=${placement}`, "start_timeout_s=120"],
    { cwd: folder, detached: true });
  let output = "";
  launch.stdout.on("data", (text) => { output += text; });
  launch.stderr.on("data", (text) => { output += text; });
  const ended = new Promise((resolve) => { launch.on("exit", resolve); });
  const end = () => {
    launch.kill("SIGINT");
    return ended;
  };
  const until = async (condition) => {
    for (const deadline = Date.now() + DEADLINE; !(await condition());) {
      assert.ok(launch.exitCode === null && Date.now() < deadline, `never: ${condition}; the launch said:\n${output}`);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  };
  try {
    await until(() => runs().length > 0);
    const run = await findRun("seen");
    await until(async () => (await run.nodes()).every((node) => node.state === "active"));
    await use(run, end);
  } finally {
    await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const placement of ["composed", "processes"]) {
  test(`a training run with placement=${placement} is watched and steered`, { skip: !program, timeout: 4 * DEADLINE }, () =>
    launched(placement, async (run, end) => {
      const known = new Map((await run.topics()).map((topic) => [topic.topic, topic]));
      assert.equal(known.get("/metrics").type, "Metrics");
      const seen = new Map();
      const wanted = ["/metrics", "/gradients", "/parameters", "/order_done"];
      for await (const { header, message } of run.subscribe(wanted, { timeout: DEADLINE })) {
        assert.equal(header.fingerprint.toString(16).padStart(16, "0"), known.get(header.topic).fingerprint);
        seen.set(header.topic, message);
        if (seen.size === wanted.length) break;
      }
      assert.ok(seen.get("/gradients").step > 0n);
      assert.equal(seen.get("/parameters").learning_rate, 1e-3);
      assert.ok(seen.get("/metrics").values.some((value) => value.name === "loss"));
      for (const [topic, message] of seen) {
        const schema = new Schema(known.get(topic).schema);
        assert.deepEqual(Object.keys(message), schema.structs.get(schema.name).map((field) => field.name));
      }

      for await (const { message } of run.subscribe("/batches", { payloads: "inline", timeout: DEADLINE })) {
        const [inputs, targets] = message.tensors;
        assert.deepEqual([inputs.dtype, inputs.shape, inputs.array().length], ["float32", [16, 32], 512]);
        assert.ok(targets.array().every((target) => target >= 0n && target < 10n));
        break;
      }

      const answer = await run.call("optimizer", "param.set", { name: "lr", value: 0.25 }, { timeout: DEADLINE });
      assert.equal(answer.value, 0.25);
      for await (const { message } of run.subscribe("/parameters", { integers: "number", timeout: DEADLINE })) {
        assert.equal(typeof message.step, "number");
        if (message.learning_rate === 0.25) break;
      }
      await assert.rejects(run.call("optimiser", "param.list"), (error) => error instanceof Refused &&
        error.code === "not found" && /did you mean 'optimizer'/.test(error.message));

      const last = run.subscribe("/metrics", { timeout: null });
      await last.receive();
      assert.equal(await end(), 130);
      for await (const one of last) assert.ok(one); // These messages were in flight; then the subscription ends.
      await assert.rejects(run.topics(), RunEnded);
    }));
}
