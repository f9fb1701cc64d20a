// SPDX-License-Identifier: Apache-2.0
// The sockets of a member. Sockets between members accept only connections with the keys of the run.
import { Dealer, Reply, Router } from "zeromq";
import { bytesOf } from "../bytes.js";
import { TrainyardError } from "../errors.js";

const ADMISSION = "inproc://zeromq.zap.01"; // The fixed address at which libzmq asks whether to accept a connection.
const LARGEST_FRAME = 4 * 2 ** 30;
const CONTROL_BYTES = 4096; // The largest frame that a subscriber may send to a publisher.
// Queues are unlimited, because the credits of the edges limit them. Sending never waits. After a process has closed
// its sockets, ZeroMQ may take up to half a second to send the last messages.
const COMMON = { linger: 500, sendHighWaterMark: 0, receiveHighWaterMark: 0, sendTimeout: 0 };

/** The key pair that all members of a run share. @typedef {{ public: string, secret: string }} Keys */

/**
 * Reads the keys, which the launcher writes to stdin of this process. Errors never contain the keys.
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
 * Returns a socket that connects to another member, or, if `keys` is null, to a gateway.
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
 * Returns a bound socket for members, or, if `keys` is null, for visitors. The socket accepts only small control
 * messages. admit() must be called before a socket for members is bound.
 * @param {Keys | null} keys
 * @param {string} address
 * @param {number} unread the largest number of messages that may wait for one connection; 0 if only credits limit it
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
 * Returns the address to which other processes must connect.
 * @param {Router} socket
 * @returns {string}
 */
export const addressOf = (socket) => (socket.lastEndpoint ?? "").replace(/\0+$/, "");

/**
 * Decodes 40 characters in the encoding Z85 (ZeroMQ RFC 32) to 32 bytes.
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
 * Decides which connections of members are accepted: libzmq asks about every connection (ZAP, ZeroMQ RFC 27).
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
