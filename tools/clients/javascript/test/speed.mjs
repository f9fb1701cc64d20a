// SPDX-License-Identifier: Apache-2.0
// Receives messages for tests/benchmarks/clients.py. Prints [messages per second, messages per second of processor time].
import { findRun } from "trainyard";

const count = Number(process.argv[2]);
const subscription = (await findRun()).subscribe("/metrics", { window: 1024, integers: "number" });
await subscription.ready();
const began = process.hrtime.bigint();
const used = process.cpuUsage();
for await (const { header, message } of subscription) {
  if (message.values.length !== 5) throw new Error("another message");
  if (header.sequence === BigInt(count - 1)) break;
}
const { user, system } = process.cpuUsage(used);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
console.log(JSON.stringify([Math.round(count / seconds), Math.round(count / ((user + system) / 1e6))]));
