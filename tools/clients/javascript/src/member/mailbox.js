// SPDX-License-Identifier: Apache-2.0
// Gives the component its turns: messages, calls and timers, one at a time.

/** @typedef {import("./inlet.js").Delivery} Delivery */
/** @typedef {import("./inlet.js").InputPort} InputPort */

const NOTHING = Symbol("nothing");

export class Mailbox {
  /** True while something of the component runs. */
  #turn = false;
  /** @type {(() => void | Promise<void>)[]} */
  #actions = [];
  /** @type {Delivery[]} */
  #held = [];
  #first = 0; // The messages that are held begin here; removing them one by one would be slow.

  /**
   * @param {() => boolean} isHeld returns true while the component must not be given messages: before it is active, and
   *   while messages wait for room at one of its outputs
   * @param {(delivery: Delivery) => void | Promise<void>} handle calls the handler; it never throws
   */
  constructor(isHeld, handle) {
    this.isHeld = isHeld;
    this.handle = handle;
  }

  /** True if nothing of the component runs or waits for its turn. Messages of paused inputs do not count. */
  get isIdle() { return !this.#turn && this.#actions.length === 0 && this.#first === this.#held.length; }

  /** @param {Delivery} delivery */
  deliver(delivery) {
    this.#held.push(delivery);
    this.release();
  }

  /**
   * Runs something of the component when it is its turn. It must not throw.
   * @param {() => void | Promise<void>} action
   */
  run(action) {
    this.#actions.push(action);
    this.release();
  }

  /**
   * Passes on what a paused input has kept back, before all other messages.
   * @param {InputPort} port
   */
  resume(port) {
    port.paused = false;
    if (port.aside.length > 0) {
      this.#held = [...port.aside, ...this.#held.slice(this.#first)];
      this.#first = 0;
      port.aside = [];
    }
    this.release();
  }

  /** Gives turns as long as there is something to do. What is asynchronous keeps its turn until it has ended. */
  release() {
    while (!this.#turn) {
      this.#turn = true;
      const done = this.#next();
      if (done instanceof Promise) {
        done.then(() => {
          this.#turn = false;
          this.release();
        });
        return;
      }
      this.#turn = false;
      if (done === NOTHING) return;
    }
  }

  #next() {
    const action = this.#actions.shift();
    if (action) return action();
    // This is asked again for every message, since each may fill an output.
    if (this.#first === this.#held.length || this.isHeld()) return NOTHING;
    const delivery = this.#held[this.#first++];
    if (this.#first === this.#held.length) {
      this.#held = [];
      this.#first = 0;
    }
    const { port } = delivery;
    if (!port.paused) return this.handle(delivery);
    port.aside.push(delivery); // It keeps its credit, and so holds its sender back.
    return undefined;
  }
}
