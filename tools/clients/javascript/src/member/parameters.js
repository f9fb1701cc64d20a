// SPDX-License-Identifier: Apache-2.0
// The parameters of a member. They have the same kinds and rules as the parameters of a plugin in C++.
import { TrainyardError } from "../errors.js";
import { camel, checkKeys } from "./names.js";

/** @typedef {import("./declared.js").ParameterOptions} ParameterOptions */

const KEYS = ["default", "help", "kind", "at_least", "positive", "between", "one_of", "unit", "settable", "changed"];
/** @type {Record<string, string>} */
const KINDS = { boolean: "bool", number: "number", string: "string" };
/** @type {Record<string, string>} */
const ELEMENTS = { "list of integers": "integer", "list of numbers": "number", "list of strings": "string" };
const ALL_KINDS = ["bool", "integer", "number", "string", ...Object.keys(ELEMENTS), "any"];

/**
 * @param {string} kind
 * @param {unknown} value
 * @returns {boolean}
 */
function fitsKind(kind, value) {
  if (kind in ELEMENTS) return Array.isArray(value) && value.every((element) => fitsKind(ELEMENTS[kind], element));
  if (kind === "number") return Number.isFinite(value);
  if (kind === "integer") return Number.isSafeInteger(value);
  return kind === "any" || typeof value === (kind === "bool" ? "boolean" : "string");
}

export class Parameter {
  /**
   * @param {import("./declared.js").ComponentClass} owner
   * @param {string} name
   * @param {ParameterOptions} options
   */
  constructor(owner, name, options) {
    const where = `${owner.name}.parameters.${name}`;
    checkKeys(where, options, KEYS);
    this.name = name;
    this.help = options.help ?? "";
    this.unit = options.unit ?? "";
    this.settable = options.settable ?? false;
    this.required = options.default === undefined;
    this.kind = options.kind ?? KINDS[typeof options.default] ?? "";
    if (!ALL_KINDS.includes(this.kind)) {
      throw new TrainyardError(`${where}: kind = '${this.kind}'; it must be one of: ${ALL_KINDS.join(", ")}`);
    }
    this.positive = options.positive ?? false;
    /** @type {number | undefined} */
    this.minimum = this.positive ? 0 : options.between?.[0] ?? options.at_least;
    /** @type {number | undefined} */
    this.maximum = options.between?.[1];
    this.choices = options.one_of ?? [];
    this.default = this.required ? undefined : this.check(options.default);
    /** The name of the method that is called with a new value; empty if there is none. */
    this.changed = options.changed ?? `on${camel(name)}`;
    const exists = typeof (/** @type {any} */ (owner.prototype)[this.changed]) === "function";
    if (options.changed && !exists) throw new TrainyardError(`${where}: ${owner.name} has no method '${this.changed}'`);
    if (!exists) this.changed = "";
  }

  /**
   * Returns a description of the allowed values, in the same words as for parameters of plugins in C++.
   * @returns {string}
   */
  allowed() {
    if (this.choices.length > 0) return `one of: ${this.choices.join(", ")}`;
    const least = this.minimum === undefined ? "" : ` ${this.positive ? ">" : ">="} ${this.minimum}`;
    const most = this.maximum === undefined ? "" : `${least && " and"} <= ${this.maximum}`;
    return `${this.kind === "integer" || this.kind === "any" ? "an" : "a"} ${this.kind}${least}${most}` +
      (this.unit && ` (${this.unit})`);
  }

  /**
   * Checks a value, and returns it in the type of the parameter. Throws TrainyardError if the value is not allowed.
   * @param {unknown} value
   * @returns {unknown}
   */
  check(value) {
    const elements = Array.isArray(value) ? value : [value];
    if (fitsKind(this.kind, value) && elements.every((element) => this.#fits(element))) return value;
    throw new TrainyardError(`${this.name}: ${String(JSON.stringify(value)).slice(0, 200)} is not allowed; ` +
      this.allowed());
  }

  /** @param {unknown} element @returns {boolean} */
  #fits(element) {
    if (this.choices.length > 0 && !this.choices.includes(/** @type {string} */ (element))) return false;
    if (typeof element !== "number") return true;
    if (this.minimum !== undefined && (element < this.minimum || (this.positive && element === this.minimum))) return false;
    return this.maximum === undefined || element <= this.maximum;
  }

  declaration() {
    return { name: this.name, kind: this.kind, required: this.required, help: this.help, unit: this.unit,
      settable: this.settable, minimum_excluded: this.positive, choices: this.choices,
      ...(this.required ? {} : { default: JSON.stringify(this.default) }),
      ...(this.minimum === undefined ? {} : { minimum: this.minimum }),
      ...(this.maximum === undefined ? {} : { maximum: this.maximum }) };
  }

  /**
   * Returns the answer to the call param.get: the declaration of the parameter, and its value.
   * @param {unknown} value
   */
  describe(value) {
    return { ...this.declaration(), default: this.required ? null : this.default, plugin_kind: "",
      allowed: this.allowed(), value };
  }
}

/**
 * Returns the values of all parameters. The launcher has already checked the values in the launch file, but its copy of
 * the declaration may be older than the class, so they are checked again. Throws TrainyardError if a value is not
 * allowed.
 * @param {Parameter[]} declared
 * @param {Record<string, unknown>} given
 * @param {Map<string, string>} places the positions of the values in the launch file
 * @returns {Record<string, unknown>}
 */
export function readValues(declared, given, places) {
  for (const name of Object.keys(given)) {
    if (!declared.some((parameter) => parameter.name === name)) {
      throw new TrainyardError(`${places.get(name) ?? name}: unknown parameter '${name}'; was the program changed?`);
    }
  }
  return Object.fromEntries(declared.map((parameter) => {
    if (Object.hasOwn(given, parameter.name)) return [parameter.name, parameter.check(given[parameter.name])];
    if (parameter.required) throw new TrainyardError(`${parameter.name}: must be given; ${parameter.allowed()}`);
    return [parameter.name, parameter.default];
  }));
}
