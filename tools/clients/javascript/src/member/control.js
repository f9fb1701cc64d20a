// SPDX-License-Identifier: Apache-2.0
// The main thread's side of the connection to the launcher. control_thread.js has the other side.
import { Worker } from "node:worker_threads";
import { CONTROL, controlBody } from "./protocol.js";

/**
 * The data that the control thread gets when it starts.
 * @typedef {object} Start
 * @property {string} name of the process
 * @property {string} endpoint of the launcher
 * @property {import("./sockets.js").Keys} keys
 * @property {Float64Array} counts see Control.counts
 */

export class Control {
  /**
   * Numbers in memory that both threads share: the number of messages sent over edges of the plan, how many of these
   * were sent over edges with the policy `block`, and the number of the last sign of life.
   */
  counts = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  #thread;

  /**
   * @param {{ name: string, endpoint: string, keys: import("./sockets.js").Keys }} start
   * @param {(type: string, message: any) => void} received is called with each message of the launcher
   * @param {(error: Error) => void} failed
   * @param {(alive: () => void) => void} feel calls `alive` when it is the component's turn
   */
  constructor(start, received, failed, feel) {
    this.#thread = new Worker(new URL("control_thread.js", import.meta.url),
      { workerData: { ...start, counts: this.counts } });
    this.#thread.on("message", ({ type, body, beat }) => {
      if (beat !== undefined) return feel(() => { this.counts[2] = beat; });
      let message;
      try {
        message = CONTROL.get(type)?.decode(body);
      } catch (error) {
        return failed(new Error(`a broken ${type}: ${/** @type {Error} */ (error).message}`));
      }
      received(type, message);
    });
    // An error on the control thread ends the process, because without this thread it would only seem to be alive.
    this.#thread.on("error", (error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(1);
    });
  }

  /**
   * Sends a message to the launcher.
   * @param {string} type
   * @param {object} fields
   */
  send(type, fields) { this.#thread.postMessage({ type, body: controlBody(type, fields) }); }

  /**
   * Tells the control thread the name of the component. From then on, the thread reports when the component is busy.
   * @param {string} component
   */
  watch(component) { this.#thread.postMessage({ component }); }

  /** Sends the remaining messages to the launcher, and ends the thread. */
  async end() {
    const ended = new Promise((resolve) => { this.#thread.on("exit", resolve); });
    this.#thread.postMessage({});
    await ended;
  }
}
