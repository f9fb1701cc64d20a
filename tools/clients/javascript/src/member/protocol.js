// SPDX-License-Identifier: Apache-2.0
// The messages of docs/wire_format.md that members exchange with the launcher and with each other.
import { bytesOf } from "../bytes.js";
import { Schema } from "../codec.js";

const COMPONENT = "ComponentPlan {\n  u32 index\n  string name\n  string plugin\n  string library\n  string process\n" +
  "  string thread\n  u32 rank\n  u32 world_size\n  u32 host\n  u32 first_rank_of_host\n  u32 ranks_of_host\n" +
  "  string parameters\n  map<string> places\n  map<string> topics\n" +
  "  list<u32> cpus\n}\n";
const EDGE = "EdgePlan {\n  u32 id\n  string topic\n  u32 from\n  string output\n  u32 to\n  string input\n" +
  "  string policy\n  u64 window_messages\n  u64 window_bytes\n  string transport\n}\n";

/**
 * @param {string} name
 * @param {string} fields
 * @param {{ inner?: string, integers?: "bigint" | "number" }} options `integers`: "bigint" if a field needs all 64 bits
 * @returns {[string, Schema]}
 */
const message = (name, fields, { inner = "", integers = "number" } = {}) => [name, new Schema(
  `${name} {\n${fields.split(", ").map((field) => `  ${field}\n`).join("")}}\n${inner}`, { integers })];

/** The messages of the control socket, by the name of the type. @type {Map<string, Schema>} */
export const CONTROL = new Map([
  message("Hello", "string process, i32 pid, string abi_tag"),
  message("ProcessPlan", "string run, string run_directory, string output_directory, string process, " +
    "u32 process_index, u64 seed, string log_level, list<string> plugin_path, map<string> bind, " +
    "list<ComponentPlan> components, list<EdgePlan> edges", { inner: COMPONENT + EDGE, integers: "bigint" }),
  message("StateChanged", "string component, string state, string error"),
  message("Configured", "string process, map<string> endpoints"),
  message("Connect", "map<string> endpoints"),
  message("Connected", "string process"),
  message("Transition", "string component, string state"),
  message("Heartbeat", "string process, u64 sequence"),
  message("Request", "u64 id, string target, string method, string body"),
  message("Reply", "u64 id, bool ok, string body"),
  message("PeerGone", "string process, u32 process_index, i32 pid"),
  message("RunFinished", "string component, string reason, bool success"),
]);

/** The control messages on the sockets of edges and of visitors. @type {Map<string, Schema>} */
export const EDGES = new Map([
  message("Subscribe", "u32 subscription, string topic, u32 edge, u64 fingerprint, string policy, u64 window_messages, " +
    "u64 window_bytes, string payloads, u32 process_index", { integers: "bigint" }),
  message("RingOffer", "i32 ring_fd, u64 ring_inode, u64 ring_bytes, WakeOffer wake",
    { inner: "WakeOffer {\n  i32 pid\n  i32 state_fd\n  u64 state_inode\n  u64 state_bytes\n  i32 pipe\n}\n",
      integers: "bigint" }),
  message("Subscribed", "u32 subscription, string topic, string type, u64 fingerprint, string schema, string error",
    { integers: "bigint" }),
  message("Credit", "u32 subscription, u64 messages, u64 bytes"),
  message("Flush", "u32 subscription"),
  message("Unsubscribe", "u32 subscription"),
  message("Ended", "u32 subscription"),
]);

/**
 * @typedef {object} Subscribe
 * @property {number} subscription
 * @property {string} topic
 * @property {number} edge
 * @property {bigint} fingerprint
 * @property {string} policy
 * @property {bigint} window_messages
 * @property {bigint} window_bytes
 * @property {string} payloads
 * @property {number} process_index
 */
/**
 * @typedef {object} ComponentPlan
 * @property {number} index
 * @property {string} name
 * @property {string} process
 * @property {string} thread
 * @property {number} rank
 * @property {number} world_size
 * @property {string} parameters
 * @property {Map<string, string>} places
 * @property {Map<string, string>} topics
 */
/**
 * @typedef {object} EdgePlan
 * @property {number} id
 * @property {string} topic
 * @property {number} from
 * @property {string} output
 * @property {number} to
 * @property {string} input
 * @property {string} policy
 * @property {bigint} window_messages
 * @property {bigint} window_bytes
 * @property {string} transport
 */
/**
 * @typedef {object} ProcessPlan
 * @property {string} run
 * @property {string} run_directory
 * @property {string} output_directory
 * @property {number} process_index
 * @property {bigint} seed
 * @property {string} log_level
 * @property {Map<string, string>} bind
 * @property {ComponentPlan[]} components
 * @property {EdgePlan[]} edges
 */

export const LOG_RECORD = "LogRecord {\n  i64 time_ns\n  string level\n  string component\n  string text\n}\n";
export const LOG_TOPIC = "/log";
/** The version of the protocol, which a member sends in its message Hello. */
export const WIRE = "wire 1";
/** The number that a subscriber gives instead of an edge of the plan, because it is a visitor. */
export const VISITOR = 0xffffffff;
const EMPTY = new Uint8Array(0);

/**
 * Returns the body of a message to the launcher.
 * @param {string} name
 * @param {object} fields
 * @returns {Uint8Array}
 */
export const controlBody = (name, fields) => /** @type {Schema} */ (CONTROL.get(name)).encode(fields).body;

/**
 * Returns the frames of a control message on the socket of an edge.
 * @param {string} name
 * @param {object} fields
 * @returns {Uint8Array[]}
 */
export const edgeFrames = (name, fields) => [
  EMPTY, bytesOf(name), /** @type {Schema} */ (EDGES.get(name)).encode(fields).body];

/**
 * Returns a message RingOffer without a ring, which only tells a publisher which process subscribes.
 * @param {number} pid
 * @returns {Uint8Array}
 */
export const ringOffer = (pid) => /** @type {Schema} */ (EDGES.get("RingOffer")).encode({ ring_fd: -1, ring_inode: 0n,
  ring_bytes: 0n, wake: { pid, state_fd: -1, state_inode: 0n, state_bytes: 0n, pipe: -1 } }).body;
