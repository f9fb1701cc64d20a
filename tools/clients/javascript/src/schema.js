// SPDX-License-Identifier: Apache-2.0
// The types of messages, from their schema texts (docs/wire_format.md, section 5).
import { NESTING, SCHEMA_BYTES } from "./bounds.js";
import { bytesOf } from "./bytes.js";
import { BadMessage } from "./errors.js";

/**
 * The type of a value. `kind` is a simple kind such as "u32", "list", "map" or "optional", or "struct".
 * @typedef {object} Type
 * @property {string} kind
 * @property {Type} [element] the type of the elements of a list, a map or an optional
 * @property {string} [name] the name of a struct
 */
/** @typedef {{ name: string, type: Type }} Field */
/** @typedef {Map<string, Field[]>} Structs the message first */

/** The size of each kind of number, in bytes. @type {Map<string, number>} */
export const NUMBERS = new Map([["i8", 1], ["i16", 2], ["i32", 4], ["i64", 8], ["u8", 1], ["u16", 2], ["u32", 4],
  ["u64", 8], ["f32", 4], ["f64", 8]]);
const SIMPLE = new Set([...NUMBERS.keys(), "bool", "string", "Tensor"]);
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FIELD = /^ {2}([A-Za-z0-9_<>]+) ([A-Za-z_][A-Za-z0-9_]*)$/;
const CONTAINER = /^(list|map|optional)<(.*)>$/;

/**
 * Returns the 64-bit FNV-1a hash of a schema text.
 * @param {string} text
 * @returns {bigint}
 */
export function fingerprint(text) {
  let value = 14695981039346656037n;
  for (const byte of bytesOf(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 1099511628211n);
  return value;
}

/**
 * Returns the type in the syntax of schema texts.
 * @param {Type} type
 * @returns {string}
 */
export const typeText = (type) => (type.element ? `${type.kind}<${typeText(type.element)}>` : type.name ?? type.kind);

/**
 * Returns the type that a word such as "list<u8>" describes. Throws BadMessage.
 * @param {string} word
 * @param {number} depth
 * @returns {Type}
 */
function parseType(word, depth = 0) {
  const container = CONTAINER.exec(word);
  if (container && depth < NESTING) return { kind: container[1], element: parseType(container[2], depth + 1) };
  if (!NAME.test(word)) throw new BadMessage(`schema has no type '${word.slice(0, 80)}', or nests it too deeply`);
  return SIMPLE.has(word) ? { kind: word } : { kind: "struct", name: word };
}

/**
 * Returns the structs of a schema text. Throws BadMessage if the text does not follow the grammar, a struct contains
 * itself, or structs are nested too deeply.
 * @param {string} text
 * @returns {Structs}
 */
export function parseSchema(text) {
  if (text.length > SCHEMA_BYTES) {
    throw new BadMessage(`schema text has ${text.length} characters; at most ${SCHEMA_BYTES}`);
  }
  if (!text.endsWith("}\n")) throw new BadMessage("schema text must end with a closing brace");
  /** @type {Structs} */
  const structs = new Map();
  const lines = text.slice(0, -1).split("\n");
  for (let at = 0; at < lines.length; ++at) {
    const line = lines[at];
    const name = line.slice(0, -2);
    if (!line.endsWith(" {") || !NAME.test(name) || SIMPLE.has(name) || structs.has(name)) {
      throw new BadMessage(`schema: '${line.slice(0, 80)}' must begin a new struct`);
    }
    const fields = new Map();
    for (++at; lines[at] !== "}"; ++at) {
      const field = FIELD.exec(lines[at] ?? "");
      if (!field || fields.has(field[2])) {
        throw new BadMessage(`schema: '${(lines[at] ?? "").slice(0, 80)}' must be a new field, or end the struct`);
      }
      fields.set(field[2], { name: field[2], type: parseType(field[1]) });
    }
    structs.set(name, [...fields.values()]);
  }
  checkNesting(structs);
  return structs;
}

/**
 * Checks the nesting of structs, beginning with the message. Heights are stored, so the time is proportional to the
 * length of the text.
 * @param {Structs} structs
 */
function checkNesting(structs) {
  /** @type {Map<string, number | null>} */
  const heights = new Map();
  const [first] = structs.keys();
  /** @type {(type: Type, depth: number) => number} */
  const height = (type, depth) => {
    if (type.element) return 1 + height(type.element, depth + 1);
    if (type.kind !== "struct") return 0;
    const name = /** @type {string} */ (type.name);
    const fields = structs.get(name);
    if (!fields) throw new BadMessage(`schema has no type '${name}'`);
    if (!heights.has(name)) {
      if (depth > NESTING) throw new BadMessage(`schema: struct '${name}' is nested too deeply`);
      heights.set(name, null);
      let below = 0;
      for (const field of fields) below = Math.max(below, height(field.type, depth + 1));
      heights.set(name, 1 + below);
    }
    const found = heights.get(name) ?? null;
    if (found === null) throw new BadMessage(`schema: struct '${name}' contains itself`);
    if (depth + found > NESTING + 1) throw new BadMessage(`schema: struct '${name}' is nested too deeply`);
    return found;
  };
  height({ kind: "struct", name: first }, 0);
  for (const [name, fields] of structs) {
    if (!heights.has(name)) throw new BadMessage(`schema: struct '${name}' is in no field of the message`);
    // An empty struct is refused, because a list of structs without bytes could have any number of elements.
    if (fields.length === 0 && name !== first) throw new BadMessage(`schema: struct '${name}' has no fields`);
  }
}
