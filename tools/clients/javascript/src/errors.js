// SPDX-License-Identifier: Apache-2.0
// The errors of this package. Their texts state what was expected and what was received.

/**
 * Returns the text without characters that could control a terminal, because text from a run may come from anyone.
 * @param {string} text
 * @returns {string}
 */
export function printable(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The base class of all errors of this package. */
export class TrainyardError extends Error {
  /** @param {string} text */
  constructor(text) {
    super(printable(text));
    this.name = new.target.name;
  }
}

/** An answer or a message did not arrive in time. */
export class Timeout extends TrainyardError {}

/** The run ended while the program was waiting for an answer. */
export class RunEnded extends TrainyardError {}

/** A message, a schema or an answer does not conform to docs/wire_format.md. */
export class BadMessage extends TrainyardError {}

/** The run refused a request. */
export class Refused extends TrainyardError {
  /**
   * @param {string} text
   * @param {string} code the fixed text of the registry, such as "not found"; empty if a component refused the request
   */
  constructor(text, code = "") {
    super(text);
    this.code = code;
  }
}
