// SPDX-License-Identifier: Apache-2.0
// Runs the code of a component one task at a time: the handlers of messages, calls and timers.

/** @typedef {import("./inlet.js").Delivery} Delivery */
/** @typedef {import("./inlet.js").InputPort} InputPort */

const NOTHING = Symbol("nothing");

export class Mailbox {
  /** True while code of the component runs. */
  #turn = false;
  /** @type {(() => void | Promise<void>)[]} */
  #actions = [];
  /** @type {Delivery[]} */
  #held = [];
  #first = 0; // The index of the first held message. Removing elements one by one would be slow.

  /**
   * @param {() => boolean} isHeld returns true while the component must not be given messages: before it is active, and
   *   while messages wait for room at one of its outputs
   * @param {(delivery: Delivery) => void | Promise<void>} handle calls the handler; it never throws
   */
  constructor(isHeld, handle) {
    this.isHeld = isHeld;
    this.handle = handle;
  }

  /** True if no code of the component is running or waiting to run. Messages of paused inputs do not count. */
  get isIdle() { return !this.#turn && this.#actions.length === 0 && this.#first === this.#held.length; }

  /** @param {Delivery} delivery */
  deliver(delivery) {
    this.#held.push(delivery);
    this.release();
  }

  /**
   * Runs `action` as soon as no other code of the component is running. `action` must not throw.
   * @param {() => void | Promise<void>} action
   */
  run(action) {
    this.#actions.push(action);
    this.release();
  }

  /**
   * Passes on the messages that a paused input has kept back, before all other messages.
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

  /**
   * Runs the waiting tasks, one after another. If a task is asynchronous, the next task begins when it has finished.
   */
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
    // This is checked before every message, because the handler may use up the credit of an output.
    if (this.#first === this.#held.length || this.isHeld()) return NOTHING;
    const delivery = this.#held[this.#first++];
    if (this.#first === this.#held.length) {
      this.#held = [];
      this.#first = 0;
    }
    const { port } = delivery;
    if (!port.paused) return this.handle(delivery);
    port.aside.push(delivery); // The credit is not returned, which makes the sender wait.
    return undefined;
  }
}
