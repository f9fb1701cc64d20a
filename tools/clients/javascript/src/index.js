// SPDX-License-Identifier: Apache-2.0
// A client for Trainyard runs: programs for Node.js can receive messages of a run, and call its components.
//
//     import { findRun } from "trainyard";
//     const run = await findRun();                                       // the newest run, or findRun("mnist")
//     for await (const { header, message } of run.subscribe("/metrics")) // ends when the run ends
//       console.log(header.sequence, message.step);
//     await run.call("optimizer", "param.set", { name: "lr", value: 0.01 });
//
// No function waits forever: if an answer or a message does not arrive in time, it throws Timeout. docs/wire_format.md
// describes the protocol.
export { BadMessage, readHeader, Refused, RunEnded, Schema, Tensor, Timeout, TrainyardError } from "./codec.js";
export { runsDirectory } from "./finder.js";
export { findRun, Run, runs } from "./run.js";
export { Subscription } from "./subscription.js";
/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./registry.js").Topic} Topic */
/** @typedef {import("./run.js").Options} Options */
/** @typedef {import("./subscription.js").Received} Received */
