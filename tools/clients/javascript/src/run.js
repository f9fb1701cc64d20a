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
 * Waits. Throws the reason of the signal.
 * @param {number} milliseconds
 * @param {AbortSignal} [signal]
 */
async function sleep(milliseconds, signal) {
  signal?.throwIfAborted();
  await new Promise((resolve) => { setTimeout(resolve, milliseconds); });
  signal?.throwIfAborted();
}

/** Returns the runs of this user that are alive, newest first. @returns {Run[]} */
export const runs = () => listRuns().map((info) => new Run(info));

/**
 * Returns the newest run, or the newest one called `name`, which is the name of the run or its full name. A program that a
 * launch file starts finds its own run, and waits until it can be reached. Throws TrainyardError if there is no such run,
 * and Timeout.
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

/** A run. */
export class Run {
  /** @type {import("zeromq").Dealer | null} */
  #socket = null;
  #lastId = 0;
  /** The questions that are not answered yet. @type {Map<number, (answer: ReturnType<typeof readAnswer>) => void>} */
  #open = new Map();
  /** Questions are sent one after another, as the socket demands. @type {Promise<unknown>} */
  #sent = Promise.resolve();

  /** Use findRun() or runs(). @param {RunInfo} info */
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
   * Asks the registry of the run. Throws Refused with its reason, Timeout, RunEnded, or the reason of the signal.
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
    this.#sent = this.#sent.then(() => socket.send(frame)).catch(() => {}); // If it is not read, the deadline says so.
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

  /** Returns every topic. @param {Limits} [limits] @returns {Promise<Topic[]>} */
  topics(limits) { return this.request("topics", {}, limits); }

  /** Returns every component. @param {Limits} [limits] @returns {Promise<Record<string, any>[]>} */
  nodes(limits) { return this.request("nodes", {}, limits); }

  /**
   * Calls a service of a component, "param.list", "param.get" or "param.set".
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
   * Returns where a topic is published. Waits for the processes of a run that is still starting.
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

  /** Closes the connection to the registry, which the next question opens again. */
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

  /** Late answers to questions that were given up are dropped. @param {import("zeromq").Dealer} socket */
  async #receive(socket) {
    while (socket === this.#socket) {
      try {
        const frames = await socket.receive();
        const answer = readAnswer(frames[frames.length - 1]);
        if (typeof answer.id === "number") this.#open.get(answer.id)?.(answer);
      } catch {
        // The socket was closed, or somebody sends what is no answer.
        if (socket.closed) return;
      }
    }
  }
}

/**
 * Returns what the promise yields, or null when the time is over.
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
