// SPDX-License-Identifier: Apache-2.0
// The control thread, which communicates with the launcher even while the component is busy: it sends heartbeats,
// answers the call `pulse`, and passes all other messages on to the main thread.
import { parentPort, workerData } from "node:worker_threads";
import { bytesOf, textOf } from "../bytes.js";
import { CONTROL, controlBody, WIRE } from "./protocol.js";
import { dealer, listen } from "./sockets.js";

/** @typedef {import("./control.js").Start} Start */

const BEAT_MS = 1000;
const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const { name, endpoint, keys, counts } = /** @type {Start} */ (workerData);
const link = dealer(keys, endpoint, name);
let component = "";
let beats = 0;
let asked = 0; // The number of the last sign of life that was requested from the main thread; 0 if none was.
let askedAt = 0;

/**
 * Sends a message to the launcher, unless the component has been finalized, because then the launcher no longer waits
 * for an answer.
 * @param {string} type
 * @param {Uint8Array} body
 */
function send(type, body) {
  if (!link.closed) link.send([bytesOf(type), body]).catch(() => {});
}

const isBusy = () => asked > 0 && counts[2] < asked;

/** Asks the main thread for a sign of life, unless it has not answered the previous request. */
function feelPulse() {
  if (!component || isBusy()) return;
  asked = beats;
  askedAt = performance.now();
  port.postMessage({ beat: beats });
}

function pulse() {
  const busy = isBusy() ? [{ components: [component], seconds: (performance.now() - askedAt) / 1000 }] : [];
  return JSON.stringify({ sent: counts[0], sent_blocking: counts[1], busy });
}

/**
 * Answers a call if it is `pulse`. Returns false for any other call.
 * @param {Uint8Array} body
 * @returns {boolean}
 */
function answer(body) {
  const { id, target, method } = CONTROL.get("Request")?.decode(body);
  if (target !== "" || method !== "pulse") return false;
  send("Reply", controlBody("Reply", { id, ok: true, body: pulse() }));
  return true;
}

listen(link, (frames) => {
  // Unknown messages are ignored, because a newer launcher may send them.
  const type = textOf(frames[0]);
  if (frames.length !== 2 || !CONTROL.has(type)) return;
  try {
    if (type === "Request" && answer(frames[1])) return;
  } catch {
    // The main thread will report what is wrong with the message.
  }
  port.postMessage({ type, body: Uint8Array.from(frames[1]) });
});

const beating = setInterval(() => {
  beats += 1;
  send("Heartbeat", controlBody("Heartbeat", { process: name, sequence: beats }));
  feelPulse();
}, BEAT_MS);

port.on("message", (/** @type {{ type?: string, body?: Uint8Array, component?: string }} */ order) => {
  if (order.component !== undefined) component = order.component;
  else if (order.type && order.body) send(order.type, order.body);
  else {
    clearInterval(beating);
    link.close(); // ZeroMQ may take up to half a second to send the last messages.
    port.close();
  }
});

send("Hello", controlBody("Hello", { process: name, pid: process.pid, abi_tag: WIRE }));
