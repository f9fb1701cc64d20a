// SPDX-License-Identifier: Apache-2.0
// The declarations in the class of a component: its ports, parameters and services. They are checked, and missing
// values are filled in. The code that uses them in a run is in inlet.js, outlet.js and calls.js.
import { Schema } from "../codec.js";
import { TrainyardError } from "../errors.js";
import { Component } from "./component.js";
import { camel, checkKeys, snake } from "./names.js";
import { Parameter } from "./parameters.js";
import { STATE_INPUTS, STATE_OUTPUTS } from "./state.js";
import { schemaOf } from "./types.js";

/**
 * The declaration of an input. The options are the same as those of an input of a plugin in C++
 * (docs/adding_a_component.md).
 * @typedef {object} InputOptions
 * @property {string} type the name of a standard message type, or a schema text
 * @property {string} [topic] by default the name of the input
 * @property {string} [help]
 * @property {boolean} [optional]
 * @property {boolean} [every_rank]
 * @property {"block" | "latest" | "drop_oldest"} [policy]
 * @property {number} [window_messages]
 * @property {number} [window_bytes]
 * @property {"bigint" | "number"} [integers] the type to which u64 and i64 are decoded; by default "bigint"
 * @property {string} [method] the method that handles the messages; for the input `my_input`, by default `onMyInput`
 */
/**
 * An output.
 * @typedef {object} OutputOptions
 * @property {string} type the name of a standard message type, or a schema text
 * @property {string} [topic] by default the name of the output
 * @property {string} [help]
 * @property {boolean} [latched] keeps the last message for visitors that attach later
 */
/**
 * A parameter. A number may be `at_least` a value, `positive`, or `between` two values, and a string may be `one_of` some
 * words.
 * @typedef {object} ParameterOptions
 * @property {unknown} [default] without it, the launch file must give the value
 * @property {string} [help]
 * @property {string} [kind] "bool", "integer", "number", "string", "list of integers", "list of numbers",
 *   "list of strings" or "any"; can be left out if the default is a boolean, a number or a string
 * @property {number} [at_least]
 * @property {boolean} [positive]
 * @property {[number, number]} [between]
 * @property {string[]} [one_of]
 * @property {string} [unit]
 * @property {boolean} [settable] whether it can be changed during the run
 * @property {string} [changed] the method that is then called with the new value; for the parameter `my_share`, by default
 *   `onMyShare`, if there is such a method
 */
/**
 * A service, which is a method of the same name.
 * @typedef {object} ServiceOptions
 * @property {string} [request] a schema text; by default the request has no fields
 * @property {string} [reply] a schema text; by default the reply has no fields
 * @property {string} [help]
 * @property {string} [method] by default the name of the service
 */
/** @typedef {typeof import("./component.js").Component} ComponentClass */

const POLICIES = ["block", "latest", "drop_oldest"];
const INPUT_KEYS = ["type", "topic", "help", "optional", "every_rank", "policy", "window_messages", "window_bytes",
  "integers", "method"];
const OUTPUT_KEYS = ["type", "topic", "help", "latched"];
const SERVICE_KEYS = ["request", "reply", "help", "method"];

/**
 * Returns the name of a method. Throws TrainyardError if the class does not have it.
 * @param {ComponentClass} kind
 * @param {string} where
 * @param {string} method
 * @returns {string}
 */
function checkMethod(kind, where, method) {
  if (typeof (/** @type {any} */ (kind.prototype)[method]) === "function") return method;
  throw new TrainyardError(`${where}: ${kind.name} has no method '${method}'`);
}

/** The base class of the declarations of inputs and outputs. */
class Port {
  /**
   * @param {string} name
   * @param {InputOptions | OutputOptions} options
   * @param {"bigint" | "number"} integers
   */
  constructor(name, options, integers) {
    if (typeof options.type !== "string") throw new TrainyardError(`${name}: the key 'type' is missing`);
    this.name = name;
    this.topic = options.topic ?? "";
    this.help = options.help ?? "";
    this.schemaText = schemaOf(options.type);
    this.schema = new Schema(this.schemaText, { integers });
  }

  declaration() { return { name: this.name, topic: this.topic, schema: this.schemaText, help: this.help }; }
}

export class Input extends Port {
  /**
   * @param {ComponentClass} kind
   * @param {string} name
   * @param {InputOptions} options
   */
  constructor(kind, name, options) {
    const where = `${kind.name}.inputs.${name}`;
    checkKeys(where, options, INPUT_KEYS);
    super(name, options, options.integers ?? "bigint");
    this.policy = options.policy ?? "block";
    if (!POLICIES.includes(this.policy)) {
      throw new TrainyardError(`${where}: policy = '${this.policy}'; allowed are ${POLICIES.join(", ")}`);
    }
    this.optional = options.optional ?? false;
    this.everyRank = options.every_rank ?? false;
    this.windowMessages = options.window_messages ?? 64;
    this.windowBytes = options.window_bytes ?? 256 * 2 ** 20;
    this.method = checkMethod(kind, where, options.method ?? `on${camel(name)}`);
  }

  /** @override */
  declaration() {
    return { ...super.declaration(), optional: this.optional, every_rank: this.everyRank, policy: this.policy,
      window_messages: this.windowMessages, window_bytes: this.windowBytes };
  }
}

export class Output extends Port {
  /**
   * @param {string} where
   * @param {string} name
   * @param {OutputOptions} options
   */
  constructor(where, name, options) {
    checkKeys(`${where}.outputs.${name}`, options, OUTPUT_KEYS);
    super(name, options, "bigint");
    this.latched = options.latched ?? false;
  }
}

export class Service {
  /**
   * @param {ComponentClass} kind
   * @param {string} name
   * @param {ServiceOptions} options
   */
  constructor(kind, name, options) {
    const where = `${kind.name}.services.${name}`;
    checkKeys(where, options, SERVICE_KEYS);
    this.name = name;
    this.help = options.help ?? "";
    this.requestText = schemaOf(options.request ?? `${camel(name)}Request {\n}\n`);
    this.replyText = schemaOf(options.reply ?? `${camel(name)}Reply {\n}\n`);
    this.request = new Schema(this.requestText);
    this.reply = new Schema(this.replyText);
    this.method = checkMethod(kind, where, options.method ?? name);
  }

  declaration() { return { name: this.name, request: this.requestText, reply: this.replyText, help: this.help }; }
}

/** All declarations of a class. */
export class Declared {
  /**
   * Throws TrainyardError if the declarations of the class are not valid.
   * @param {ComponentClass} kind
   */
  constructor(kind) {
    this.kind = kind;
    const hasState = kind.prototype.saveState !== Component.prototype.saveState;
    if (hasState !== (kind.prototype.restoreState !== Component.prototype.restoreState)) {
      throw new TrainyardError(`${kind.name} overrides only one of saveState() and restoreState(); both are needed`);
    }
    const inputs = { ...kind.inputs, ...(hasState ? STATE_INPUTS : {}) };
    const outputs = { ...kind.outputs, ...(hasState ? STATE_OUTPUTS : {}) };
    this.inputs = Object.entries(inputs).map(([name, options]) => new Input(kind, name, options));
    this.outputs = Object.entries(outputs).map(([name, options]) => new Output(kind.name, name, options));
    this.parameters = Object.entries(kind.parameters).map(([name, options]) => new Parameter(kind, name, options));
    this.services = Object.entries(kind.services).map(([name, options]) => new Service(kind, name, options));
  }

  /** Returns the declaration of the class, which the launcher needs to plan a run (docs/wire_format.md, section 9). */
  declaration() {
    const { kind } = this;
    return {
      kind: "component", name: kind.componentName || snake(kind.name), description: kind.description,
      traits: { per_rank: kind.perRank, restartable: kind.restartable, memory_bytes: kind.memoryBytes },
      parameters: this.parameters.map((one) => one.declaration()),
      inputs: this.inputs.map((one) => one.declaration()),
      outputs: this.outputs.map((one) => one.declaration()),
      services: this.services.map((one) => one.declaration()),
    };
  }
}
