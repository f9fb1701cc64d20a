// SPDX-License-Identifier: Apache-2.0
// The sockets of a member. Those between members accept only the keys of the run.
import { Dealer, Reply, Router } from "zeromq";
import { bytesOf } from "../bytes.js";
import { TrainyardError } from "../errors.js";

const ADMISSION = "inproc://zeromq.zap.01"; // The address at which libzmq asks; it prescribes it.
const LARGEST_FRAME = 4 * 2 ** 30;
const CONTROL_BYTES = 4096; // The largest frame that a subscriber may send to a publisher.
// The credits of the edges bound the queues. Nothing is ever sent later than at once, and a process that ends may still
// send its last messages.
const COMMON = { linger: 500, sendHighWaterMark: 0, receiveHighWaterMark: 0, sendTimeout: 0 };

/** The pair of keys that all members of a run share. @typedef {{ public: string, secret: string }} Keys */

/**
 * Reads what the launcher writes to the standard input. The keys themselves are in no error.
 * @param {Uint8Array} text
 * @returns {Keys}
 */
export function readKeys(text) {
  if (text.length !== 80) {
    throw new TrainyardError(`the standard input has ${text.length} bytes; the launcher writes the keys of the run there, ` +
      "which have 80");
  }
  const keys = Buffer.from(text).toString("latin1");
  return { public: keys.slice(0, 40), secret: keys.slice(40) };
}

/** @param {Keys} keys */
const part = (keys) => ({ curvePublicKey: keys.public, curveSecretKey: keys.secret, handshakeInterval: 10_000 });

/**
 * Returns a socket that connects to a member, or without keys to a gateway.
 * @param {Keys | null} keys
 * @param {string} endpoint
 * @param {string} identity
 * @returns {Dealer}
 */
export function dealer(keys, endpoint, identity = "") {
  const socket = new Dealer({ ...COMMON, maxMessageSize: LARGEST_FRAME, ipv6: endpoint.startsWith("tcp://["),
    ...(identity ? { routingId: identity } : {}), ...(keys ? { ...part(keys), curveServerKey: keys.public } : {}) });
  socket.connect(endpoint);
  return socket;
}

/**
 * Returns a bound socket for members, or without keys for visitors. Only control messages may arrive there. The admission
 * must exist before a socket for members is bound.
 * @param {Keys | null} keys
 * @param {string} address
 * @param {number} unread how many messages may wait for one connection; 0 if credits bound them
 * @returns {Promise<Router>}
 */
export async function router(keys, address, unread = 0) {
  const socket = new Router({ ...COMMON, sendHighWaterMark: unread, maxMessageSize: CONTROL_BYTES, mandatory: true,
    handover: true, ipv6: address.startsWith("tcp://["), ...(keys ? { ...part(keys), curveServer: true, zapDomain: "run" } : {}) });
  try {
    await socket.bind(address);
  } catch (error) {
    throw new TrainyardError(`cannot bind ${address}: ${/** @type {Error} */ (error).message}`);
  }
  return socket;
}

/**
 * Returns the address to connect to.
 * @param {Router} socket
 * @returns {string}
 */
export const addressOf = (socket) => (socket.lastEndpoint ?? "").replace(/\0+$/, "");

/**
 * Returns the bytes that 40 characters in the encoding Z85 stand for (ZeroMQ RFC 32).
 * @param {string} text
 * @returns {Buffer}
 */
export function fromZ85(text) {
  const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  const bytes = Buffer.alloc(text.length / 5 * 4);
  for (let at = 0; at < text.length; at += 5) {
    let value = 0;
    for (const letter of text.slice(at, at + 5)) value = value * 85 + digits.indexOf(letter);
    bytes.writeUInt32BE(value, at / 5 * 4);
  }
  return bytes;
}

/**
 * Calls `take` with every message that arrives, until the socket is closed.
 * @param {{ receive(): Promise<Buffer[]>, closed: boolean }} socket
 * @param {(frames: Buffer[]) => void} take
 */
export async function listen(socket, take) {
  while (!socket.closed) {
    let frames;
    try {
      frames = await socket.receive();
    } catch (error) {
      if (socket.closed) return;
      throw error;
    }
    take(frames);
  }
}

/**
 * Answers libzmq, which asks before it accepts a connection of a member (ZAP, ZeroMQ RFC 27).
 * @param {Keys} keys
 */
export async function admit(keys) {
  const socket = new Reply({ linger: 0, sendTimeout: 0 });
  await socket.bind(ADMISSION);
  const allowed = fromZ85(keys.public);
  listen(socket, (frames) => {
    const admitted = frames.length === 7 && frames[5].toString() === "CURVE" && frames[6].equals(allowed);
    socket.send([bytesOf("1.0"), frames[1] ?? null, bytesOf(admitted ? "200" : "400"),
      bytesOf(admitted ? "" : "not a member of this run"), null, null]).catch(() => {});
  });
  return socket;
}
