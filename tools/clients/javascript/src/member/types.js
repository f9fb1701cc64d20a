// SPDX-License-Identifier: Apache-2.0
// The message types of the standard components, by their names. The schemas are in the file schemas.txt, which
// tools/clients/python/member_types.py generates. A test compares them with the declarations of the components.
import { readFileSync } from "node:fs";
import { TrainyardError } from "../errors.js";
import { parseSchema } from "../schema.js";
import { suggestion } from "./names.js";

/** @type {Map<string, string> | null} */
let standard = null;

function standardTypes() {
  const texts = readFileSync(new URL("schemas.txt", import.meta.url), "utf8").split("\n\n");
  return new Map(texts.map((text) => [text.trimStart().split(" ", 1)[0], `${text.trim()}\n`]));
}

/**
 * Returns the schema text of a standard message type, such as "Metrics". If the argument is itself a schema text,
 * returns it unchanged. Throws TrainyardError for any other text.
 * @param {string} typeOrText
 * @returns {string}
 */
export function schemaOf(typeOrText) {
  if (typeOrText.includes("{")) {
    parseSchema(typeOrText);
    return typeOrText;
  }
  standard ??= standardTypes();
  const found = standard.get(typeOrText);
  if (found) return found;
  throw new TrainyardError(`no message type '${typeOrText.slice(0, 80)}'${suggestion(typeOrText, standard.keys())}. ` +
    "A type of your own is given by its schema text");
}
