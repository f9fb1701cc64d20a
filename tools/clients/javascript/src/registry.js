// SPDX-License-Identifier: Apache-2.0
// Questions to the registry of a run and their answers (docs/wire_format.md, section 2), without sockets.
import { QUESTION_BYTES } from "./bounds.js";
import { bytesOf, textOf } from "./bytes.js";
import { BadMessage, Refused, TrainyardError } from "./errors.js";

/**
 * @typedef {object} Publisher
 * @property {string} component
 * @property {string} process
 * @property {string} endpoint empty while the process is still starting
 */
/**
 * The registry's description of a topic.
 * @typedef {object} Topic
 * @property {string} topic
 * @property {string} type
 * @property {string} fingerprint 16 hexadecimal digits
 * @property {string} schema
 * @property {boolean} latched true if visitors that come later receive the last message
 * @property {Publisher[]} publishers
 * @property {{ component: string, process: string, policy: string }[]} subscribers
 */

/**
 * Returns the frame of a question.
 * @param {number} id
 * @param {string} op
 * @param {Record<string, unknown>} words
 * @returns {Uint8Array}
 */
export function question(id, op, words) {
  const frame = bytesOf(JSON.stringify({ ...words, id, op }));
  if (frame.length <= QUESTION_BYTES) return frame;
  throw new TrainyardError(`${op}: the question has ${frame.length} bytes; at most ${QUESTION_BYTES}`);
}

/**
 * Returns the number of the question that a frame answers, and the answer. Throws BadMessage.
 * @param {Uint8Array} frame
 * @returns {{ id: unknown, ok: unknown, result: any, error: unknown, code: unknown }}
 */
export function readAnswer(frame) {
  let answer = null;
  try {
    answer = JSON.parse(textOf(frame));
  } catch {
    // The error below reports this.
  }
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) return answer;
  throw new BadMessage(`the registry's answer is not a JSON object: ${textOf(frame.subarray(0, 80))}`);
}

/**
 * Returns the result in an answer. Throws Refused, with the registry's reason, if the question was refused.
 * @param {string} op
 * @param {ReturnType<typeof readAnswer>} answer
 * @returns {any}
 */
export function resultOf(op, answer) {
  if (answer.ok === true) return answer.result;
  throw new Refused(`${op}: ${answer.error}`, typeof answer.code === "string" ? answer.code : "");
}

/**
 * Returns the addresses at which a topic is published, or null if a publisher is still starting. Throws TrainyardError
 * if the run does not have the topic.
 * @param {unknown} topics
 * @param {string} topic
 * @param {string} run
 * @returns {string[] | null}
 */
export function endpointsOf(topics, topic, run) {
  if (!Array.isArray(topics)) throw new BadMessage("the registry's list of topics is not one");
  const found = topics.find((entry) => entry?.topic === topic);
  if (!found) {
    const known = topics.map((entry) => entry?.topic).sort();
    throw new TrainyardError(`no topic '${topic}' in run ${run}; it has: ${known.join(", ")}`);
  }
  const publishers = Array.isArray(found.publishers) ? found.publishers : [];
  const endpoints = publishers.map((/** @type {any} */ publisher) => publisher?.endpoint);
  // Duplicates are removed, because the components of a process share an endpoint.
  return endpoints.length > 0 && endpoints.every(Boolean) ? [...new Set(/** @type {string[]} */ (endpoints))].sort() : null;
}
