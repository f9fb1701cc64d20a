// SPDX-License-Identifier: Apache-2.0
// Looks into running Trainyard runs from node: topics, messages, calls.
//
//     import { findRun } from "trainyard";
//     const run = await findRun();                                       // the newest run, or findRun("mnist")
//     for await (const { header, message } of run.subscribe("/metrics")) // ends when the run ends
//       console.log(header.sequence, message.step);
//     await run.call("optimizer", "param.set", { name: "lr", value: 0.01 });
//
// Nothing waits for ever: what does not come in time throws Timeout. The protocol is described in docs/wire_format.md.
export { BadMessage, readHeader, Refused, RunEnded, Schema, Tensor, Timeout, TrainyardError } from "./codec.js";
export { runsDirectory } from "./finder.js";
export { findRun, Run, runs } from "./run.js";
export { Subscription } from "./subscription.js";
/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./registry.js").Topic} Topic */
/** @typedef {import("./run.js").Options} Options */
/** @typedef {import("./subscription.js").Received} Received */
