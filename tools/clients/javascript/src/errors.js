// SPDX-License-Identifier: Apache-2.0
// The errors of this package. Every text says what was expected and what was received.

/**
 * Returns the text without characters that could control a terminal; text of a run may come from anybody.
 * @param {string} text
 * @returns {string}
 */
export function printable(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Any error of this package. */
export class TrainyardError extends Error {
  /** @param {string} text */
  constructor(text) {
    super(printable(text));
    this.name = new.target.name;
  }
}

/** Something did not arrive in time. */
export class Timeout extends TrainyardError {}

/** The run ended while an answer was awaited. */
export class RunEnded extends TrainyardError {}

/** The bytes of a message, of a schema or of an answer are not what docs/wire_format.md allows. */
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
