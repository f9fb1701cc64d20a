// SPDX-License-Identifier: Apache-2.0
// Components of a run that are written in JavaScript (docs/write_a_member_in_javascript.md).
//
//     import { Component, runMember } from "trainyard/member";
//
//     class Smoother extends Component {
//       static description = "Smooths the loss.";
//       static inputs = { metrics: { topic: "/metrics", type: "Metrics" } };
//       static outputs = { smooth: { type: "Smooth {\n  u64 step\n  f64 loss\n}\n" } };
//       static parameters = { alpha: { default: 0.9, between: [0, 1], settable: true } };
//
//       onMetrics(message) { this.outputs.smooth.send({ step: message.step, loss: ... }); }
//     }
//
//     await runMember(Smoother);
export { TrainyardError } from "../errors.js";
export { Tensor } from "../tensor.js";
export { Component } from "./component.js";
export { runMember } from "./entry.js";
export { StateReader, StateWriter } from "./state.js";
export { schemaOf } from "./types.js";
/** @typedef {import("../header.js").Header} Header */
/** @typedef {import("./declared.js").InputOptions} InputOptions */
/** @typedef {import("./declared.js").OutputOptions} OutputOptions */
/** @typedef {import("./declared.js").ParameterOptions} ParameterOptions */
/** @typedef {import("./declared.js").ServiceOptions} ServiceOptions */
