// SPDX-License-Identifier: Apache-2.0
// Describes errors of the user's program in one sentence.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { TrainyardError } from "../errors.js";

const HERE = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns an error as one sentence, with the file and line in the user's program. The texts of this package's own
 * errors are returned unchanged.
 * @param {unknown} error
 * @returns {string}
 */
export function describe(error) {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TrainyardError) return error.message;
  for (const line of (error.stack ?? "").split("\n")) {
    const place = /(?:file:\/\/)?(\/[^():]+):(\d+):\d+\)?$/.exec(line);
    if (place && !place[1].startsWith(HERE) && !place[1].includes("/node_modules/")) {
      return `${error.name}: ${error.message} (${basename(place[1])}:${place[2]})`;
    }
  }
  return `${error.name}: ${error.message}`;
}
