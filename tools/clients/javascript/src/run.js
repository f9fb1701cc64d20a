// SPDX-License-Identifier: Apache-2.0
import { WINDOW_BYTES } from "./bounds.js";
import { RunEnded, Timeout } from "./errors.js";
import { checkAddress, isAlive, listRuns, pickRun, readRun } from "./finder.js";
import { registrySocket } from "./link.js";
import { endpointsOf, question, readAnswer, resultOf } from "./registry.js";
import { checkWish } from "./session.js";
import { Subscription } from "./subscription.js";

/** @typedef {import("./finder.js").RunInfo} RunInfo */
/** @typedef {import("./registry.js").Topic} Topic */
/** @typedef {import("./session.js").Wish} Wish */
/** @typedef {{ timeout?: number, signal?: AbortSignal }} Limits `timeout` is in milliseconds */
/** @typedef {Partial<Wish> & { timeout?: number | null, signal?: AbortSignal }} Options */

const CALL_MS = 12_000; // The registry gives up after 10 s, so its error arrives first.

/**
 * Waits for `milliseconds`. If the signal is aborted, throws its reason.
 * @param {number} milliseconds
 * @param {AbortSignal} [signal]
 */
async function sleep(milliseconds, signal) {
  signal?.throwIfAborted();
  await new Promise((resolve) => { setTimeout(resolve, milliseconds); });
  signal?.throwIfAborted();
}

/** Returns the active runs of this user, newest first. @returns {Run[]} */
export const runs = () => listRuns().map((info) => new Run(info));

/**
 * Returns the newest active run, or the newest active run whose name or full name is `name`. A program that was started
 * by a launch file finds its own run by default, and waits until the run can be reached. Throws TrainyardError if there
 * is no such run, or Timeout if it cannot be reached in time.
 * @param {string} [name]
 * @param {Limits} limits
 * @returns {Promise<Run>}
 */
export async function findRun(name, { timeout = 10_000, signal } = {}) {
  const directory = name === undefined ? process.env.TRAINYARD_RUN_DIRECTORY : undefined;
  if (!directory) return new Run(pickRun(name));
  for (const deadline = Date.now() + timeout; ;) {
    const info = readRun(directory);
    if (info) return new Run(info);
    if (Date.now() > deadline) throw new Timeout(`no run announced itself in ${directory} within ${timeout} ms`);
    await sleep(20, signal);
  }
}

/** A connection to an active run. */
export class Run {
  /** @type {import("zeromq").Dealer | null} */
  #socket = null;
  #lastId = 0;
  /**
   * The functions that resolve the questions which have not been answered yet, by the number of the question.
   * @type {Map<number, (answer: ReturnType<typeof readAnswer>) => void>}
   */
  #open = new Map();
  /**
   * Fulfilled when the last question has been sent. A socket allows only one send operation at a time.
   * @type {Promise<unknown>}
   */
  #sent = Promise.resolve();

  /** For findRun() and runs() only. @param {RunInfo} info */
  constructor(info) {
    this.info = info;
    this.run = info.run;
    this.name = info.name;
    this.file = info.file;
    this.directory = info.directory;
    this.pid = info.pid;
  }

  /** Returns true as long as the run has not ended. @returns {boolean} */
  alive() { return isAlive(this.info); }

  /**
   * Sends a question to the registry of the run (docs/wire_format.md, section 2) and returns the answer. Throws
   * Refused, with the reason, if the registry refuses the question; Timeout; RunEnded; or the reason of the signal if
   * it is aborted.
   * @param {string} op
   * @param {Record<string, unknown>} words
   * @param {Limits} limits
   * @returns {Promise<any>}
   */
  async request(op, words = {}, { timeout = CALL_MS, signal } = {}) {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const frame = question(id, op, words);
    const deadline = Date.now() + timeout;
    /** @type {Promise<ReturnType<typeof readAnswer> | "abort">} */
    const answered = new Promise((resolve) => {
      this.#open.set(id, resolve);
      signal?.addEventListener("abort", () => resolve("abort"), { once: true });
    });
    const socket = this.#connect();
    this.#sent = this.#sent.then(() => socket.send(frame)).catch(() => {}); // If this fails, the deadline reports it.
    try {
      for (let left = timeout; left > 0 && this.alive(); left = deadline - Date.now()) {
        const answer = await within(answered, Math.min(left, 200));
        if (answer === "abort") throw signal?.reason;
        if (answer) return resultOf(op, answer);
      }
    } finally {
      this.#open.delete(id);
      if (this.#open.size === 0) this.close();
    }
    if (!this.alive()) throw new RunEnded(`${op}: run ${this.run} has ended`);
    throw new Timeout(`run ${this.run} did not answer '${op}' within ${timeout} ms`);
  }

  /** Returns the descriptions of all topics. @param {Limits} [limits] @returns {Promise<Topic[]>} */
  topics(limits) { return this.request("topics", {}, limits); }

  /**
   * Returns the descriptions of all components and external programs.
   * @param {Limits} [limits] @returns {Promise<Record<string, any>[]>}
   */
  nodes(limits) { return this.request("nodes", {}, limits); }

  /**
   * Calls a method of a component and returns the answer. `method` is the name of a service, or "param.list",
   * "param.get" or "param.set".
   * @param {string} target
   * @param {string} method
   * @param {unknown} body
   * @param {Limits} [limits]
   * @returns {Promise<any>}
   */
  call(target, method, body = {}, limits) { return this.request("call", { target, method, body }, limits); }

  /**
   * Returns an asynchronous iterator over the messages of a topic, or of several. It ends when the run does.
   *
   * payloads     "none" (the default), or "inline" for the elements of tensors
   * window       the most messages of a topic that may be under way: 64, up to 1024
   * windowBytes  the most bytes of a topic that may be under way: 64 MiB, which is also the most
   * policy       what waits while the window is full: "drop_oldest" (the default) or "latest"
   * integers     what u64 and i64 become: "bigint" (the default) or "number"
   * timeout      the milliseconds of silence that throw Timeout: 60 000; null waits as long as the run lives
   * signal       an AbortSignal that ends the subscription
   * @param {string | readonly string[]} topics
   * @param {Options} options
   * @returns {Subscription}
   */
  subscribe(topics, { payloads = "none", window = 64, windowBytes = WINDOW_BYTES, policy = "drop_oldest",
    integers = "bigint", timeout = 60_000, signal } = {}) {
    const names = typeof topics === "string" ? [topics] : [...new Set(topics)];
    const wish = { payloads, window, windowBytes, policy, integers };
    checkWish(names, wish);
    return new Subscription(this, names, wish, timeout, signal);
  }

  /**
   * Returns the addresses at which a topic is published. If the run is still starting, waits until its processes have
   * addresses.
   * @param {string} topic
   * @param {Limits} limits
   * @returns {Promise<string[]>}
   */
  async endpoints(topic, { timeout = 10_000, signal } = {}) {
    for (const deadline = Date.now() + timeout; Date.now() < deadline; await sleep(20, signal)) {
      const found = endpointsOf(await this.topics({ signal }), topic, this.run);
      if (found) return found.map(checkAddress);
    }
    throw new Timeout(`not every publisher of '${topic}' came up within ${timeout} ms`);
  }

  /** Closes the connection to the registry. The next question opens a new connection. */
  close() {
    this.#socket?.close();
    this.#socket = null;
  }

  #connect() {
    if (this.#socket) return this.#socket;
    const socket = this.#socket = registrySocket(this.info.registry);
    this.#receive(socket);
    return socket;
  }

  /**
   * Receives answers until the socket is closed. Late answers to questions that have timed out are dropped.
   * @param {import("zeromq").Dealer} socket
   */
  async #receive(socket) {
    while (socket === this.#socket) {
      try {
        const frames = await socket.receive();
        const answer = readAnswer(frames[frames.length - 1]);
        if (typeof answer.id === "number") this.#open.get(answer.id)?.(answer);
      } catch {
        // The socket was closed, or the bytes that arrived are not a valid answer.
        if (socket.closed) return;
      }
    }
  }
}

/**
 * Returns the value of the promise, or null if it is not fulfilled in time.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} milliseconds
 * @returns {Promise<T | null>}
 */
async function within(promise, milliseconds) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const over = new Promise((resolve) => { timer = setTimeout(resolve, milliseconds, null); });
  try {
    return /** @type {T | null} */ (await Promise.race([promise, over]));
  } finally {
    clearTimeout(timer);
  }
}
