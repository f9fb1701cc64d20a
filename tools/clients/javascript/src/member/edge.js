// SPDX-License-Identifier: Apache-2.0
// The sending end of an edge, that is, of the connection from an output to one input: its policy and its credit,
// without sockets.

/** @typedef {{ payloadBytes: number }} Sized */
/**
 * The properties of an edge in the plan that its sending end needs.
 * @typedef {object} Wanted
 * @property {string} policy
 * @property {bigint} window_messages
 * @property {bigint} window_bytes
 */

/**
 * Decides when messages are sent. The receiver gives credit for a number of messages and bytes. As long as there is
 * credit, messages are passed to `transmit`; further messages wait or are dropped, as the policy requires. While no
 * receiver is connected, there is no credit. `transmit` returns the number of bytes for which the receiver will return
 * credit.
 * @template {Sized} Message
 */
export class Edge {
  /**
   * @param {Wanted} wanted
   * @param {(message: Message) => number} transmit
   * @param {() => void} changed is called when there is room again
   */
  constructor(wanted, transmit, changed) {
    this.policy = wanted.policy;
    this.windowMessages = Math.max(Number(wanted.window_messages), 1);
    this.windowBytes = Math.max(Number(wanted.window_bytes), 1);
    this.transmit = transmit;
    this.changed = changed;
    /** @type {Buffer | null} */
    this.peer = null;
    this.subscription = 0;
    this.readerPid = 0; // The pid of the receiver; 0 if it is unknown.
    this.payloads = "none";
    /** @type {Message[]} */
    this.waiting = [];
    this.waitingBytes = 0;
    this.receiverGone = false;
    this.underWay = 0;
    this.bytesUnderWay = 0;
    // Counters for `trainyard topic info`.
    this.sent = 0;
    this.bytes = 0;
    this.dropped = 0;
    this.blocked = 0;
  }

  /** @returns {boolean} */
  hasRoom() {
    return this.peer !== null && (this.underWay === 0 ||
      (this.underWay < this.windowMessages && this.bytesUnderWay < this.windowBytes));
  }

  /** Returns true if the next message can be sent without waiting. @returns {boolean} */
  ready() { return this.receiverGone || (this.waiting.length === 0 && this.hasRoom()); }

  /**
   * Returns true if messages are waiting that must not be dropped. The component must then wait, too.
   * @returns {boolean}
   */
  isBlocked() { return this.policy === "block" && this.waiting.length > 0; }

  /** Returns true if all messages that were sent have been handled. @returns {boolean} */
  drained() { return this.peer === null || (this.waiting.length === 0 && this.underWay === 0); }

  /** @param {Message} message */
  send(message) {
    if (this.waiting.length === 0 && this.hasRoom()) this.#carry(message);
    else if (this.receiverGone) this.dropped += 1;
    else this.#keepBack(message);
  }

  /** @param {Message} message */
  #carry(message) {
    this.receiverGone = false;
    const size = this.transmit(message);
    this.sent += 1;
    this.bytes += message.payloadBytes;
    this.underWay += 1;
    this.bytesUnderWay += size;
  }

  /** @param {Message} message */
  #keepBack(message) {
    this.blocked += 1;
    const keep = this.policy === "latest" ? 1 : this.windowMessages;
    while (this.policy !== "block" && this.waiting.length > 0 && (this.waiting.length >= keep ||
        this.waitingBytes + message.payloadBytes > this.windowBytes)) {
      this.#takeOldest();
      this.dropped += 1;
    }
    this.waiting.push(message);
    this.waitingBytes += message.payloadBytes;
  }

  /** @returns {Message} */
  #takeOldest() {
    const message = /** @type {Message} */ (this.waiting.shift());
    this.waitingBytes -= message.payloadBytes;
    return message;
  }

  /** Sends the waiting messages for which there is credit. */
  onRoom() {
    while (this.waiting.length > 0) {
      const room = this.hasRoom();
      if (!room && !this.receiverGone) return;
      const message = this.#takeOldest();
      if (room) this.#carry(message);
      else this.dropped += 1;
    }
    this.changed();
  }

  /**
   * Connects the receiver, for the first time or again.
   * @param {Buffer} peer
   * @param {import("./protocol.js").Subscribe} request
   * @param {number} pid the pid of its process, or 0 if it has not sent it
   */
  attach(peer, request, pid = 0) {
    this.readerPid = pid;
    this.peer = peer;
    this.subscription = request.subscription;
    this.payloads = request.payloads;
    this.windowMessages = Math.max(Number(request.window_messages), 1);
    this.windowBytes = Math.max(Number(request.window_bytes), 1);
    this.underWay = this.bytesUnderWay = 0;
  }

  /** Disconnects the receiver. Messages in flight count as handled. */
  detach() {
    this.peer = null;
    this.underWay = this.bytesUnderWay = 0;
  }

  /**
   * Returns true if the receiver is known to be another process than `dead`. This happens if a process is started again
   * and subscribes before the death of its predecessor has been reported. Both pids are valid on the receiver's host.
   * @param {number} dead
   * @returns {boolean}
   */
  hasSuccessorOf(dead) {
    return this.peer !== null && dead > 0 && this.readerPid > 0 && this.readerPid !== dead;
  }

  /** Called when the process of the receiver has died. Messages are dropped until it has subscribed again. */
  lose() {
    this.detach();
    this.receiverGone = true;
    this.onRoom();
  }

  /**
   * Takes back credit from the receiver, but never more than was used.
   * @param {number} messages
   * @param {number} bytes
   */
  credit(messages, bytes) {
    this.underWay = Math.max(this.underWay - messages, 0);
    this.bytesUnderWay = Math.max(this.bytesUnderWay - bytes, 0);
    this.onRoom();
  }
}
