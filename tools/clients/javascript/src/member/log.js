// SPDX-License-Identifier: Apache-2.0
// The log of a member: lines on stderr, in the same format as in the other processes of a run, and records on the topic
// /log.
import { printable } from "../errors.js";

const LEVELS = ["trace", "debug", "info", "warning", "error", "critical", "off"];
// Longer texts are cut in records, which are kept in memory. On stderr, they are complete.
const MOST_CHARACTERS = 2 ** 16;

export class Log {
  #component;
  #level;
  #publish;

  /**
   * @param {string} component
   * @param {string} level the least level that is printed
   * @param {(record: { time_ns: bigint, level: string, component: string, text: string }) => void} publish
   */
  constructor(component, level, publish) {
    this.#component = component;
    this.#level = LEVELS.includes(level) ? LEVELS.indexOf(level) : 2;
    this.#publish = publish;
  }

  /** @param {string} text */
  debug(text) { this.#tell("debug", text); }

  /** @param {string} text */
  info(text) { this.#tell("info", text); }

  /** @param {string} text */
  warning(text) { this.#tell("warning", text); }

  /** @param {string} text */
  error(text) { this.#tell("error", text); }

  /**
   * @param {string} level
   * @param {string} text
   */
  #tell(level, text) {
    const now = new Date();
    if (LEVELS.indexOf(level) >= this.#level) {
      const clock = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => String(part).padStart(2, "0"));
      const thousandths = String(now.getMilliseconds()).padStart(3, "0");
      process.stderr.write(`${clock.join(":")}.${thousandths} ${level} [${this.#component}] ${printable(String(text))}\n`);
    }
    this.#publish({ time_ns: BigInt(now.getTime()) * 1_000_000n, level, component: this.#component,
      text: String(text).slice(0, MOST_CHARACTERS) });
  }
}
