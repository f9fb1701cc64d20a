// SPDX-License-Identifier: Apache-2.0
// The state of components in checkpoints: the objects with which a component saves and restores its state, and the
// ports for this (docs/wire_format.md, section 9). A component that overrides saveState() automatically has these
// ports.
import { TrainyardError } from "../errors.js";
import { PartialTensor, Tensor } from "../tensor.js";

/** @typedef {import("./component.js").Component} Component */
/**
 * @typedef {object} SavedState
 * @property {string} owner
 * @property {number} rank
 * @property {boolean} per_rank
 * @property {string} values
 * @property {{ name: string, data: Tensor }[]} tensors
 */

// A message may refer to 64 payloads only, so tensors share payloads. Each begins at a multiple of ALIGNMENT bytes.
const ALIGNMENT = 64;
const PAYLOAD_BYTES = 2 ** 30;

/**
 * JSON has no infinite numbers and no NaN, so they become the words that all messages of Trainyard use.
 * @type {Map<string, number>}
 */
const WORDS = new Map([["NaN", NaN], ["Infinity", Infinity], ["-Infinity", -Infinity]]);

/** @type {Record<string, import("./declared.js").InputOptions>} */
export const STATE_INPUTS = {
  state_request: { topic: "/state_request", type: "StateRequest", optional: true,
    help: "a request for the component's state, for a checkpoint" },
  restored_states: { topic: "/restored_states", type: "RestoredStates", optional: true,
    help: "the state of the checkpoint that the run resumes" },
};
/** @type {Record<string, import("./declared.js").OutputOptions>} */
export const STATE_OUTPUTS = {
  state: { topic: "/states", type: "StateAnswer", help: "the component's state, for a checkpoint" },
  states_taken: { topic: "/states_taken", type: "StatesTaken",
    help: "the component has taken its part of the restored state" },
};

/**
 * Returns the name under which the state of a component is saved. It does not contain the rank, because a resumed run
 * may have another number of ranks.
 * @param {Component} component
 * @returns {string}
 */
export function ownerOf({ name, rank }) {
  const prefix = `rank${rank}/`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** A part of the state: the values that are the same on all ranks, or the values of one rank. */
class Part {
  /** @type {Record<string, unknown>} */
  values = {};
  /** @type {{ name: string, data: Tensor }[]} */
  tensors = [];
}

/**
 * Moves the tensors of all parts into as few payloads as possible. A payload is larger than `most` bytes only if a
 * single tensor is.
 * @param {Iterable<Part>} parts
 * @param {number} most
 */
export function pack(parts, most = PAYLOAD_BYTES) {
  /** @type {{ payload: number, offset: number }[]} */
  const places = [];
  /** @type {number[]} */
  const sizes = [];
  const saved = [...parts].flatMap(({ tensors }) => tensors);
  for (const { data: { byteLength } } of saved) {
    const size = sizes.at(-1);
    if (size === undefined || (size > 0 && size + byteLength > most)) sizes.push(0);
    const payload = sizes.length - 1;
    places.push({ payload, offset: sizes[payload] });
    sizes[payload] += Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
  }
  const payloads = sizes.map((size) => new Uint8Array(size));
  for (const [i, one] of saved.entries()) {
    const packed = new PartialTensor(one.data.dtype, one.data.shape, payloads[places[i].payload], places[i].offset);
    one.data.readInto(/** @type {Uint8Array} */ (packed.data));
    one.data = packed; // The original is no longer needed, so that large state does not need twice its memory.
  }
}

/** Collects the state of a component: values and tensors, each under a name. */
export class StateWriter {
  #component;
  /** @type {Map<boolean, Part>} */
  #parts = new Map();

  /** @param {Component} component */
  constructor(component) {
    this.#component = component;
  }

  /**
   * Stores a number, a text, true or false, an array or object of these, or a typed array or Tensor, which is copied.
   * With `perRank`, the value belongs to this rank only. Otherwise it must be the same on all ranks, and the value of
   * rank 0 is saved.
   * @param {string} name
   * @param {unknown} value
   * @param {{ perRank?: boolean }} options
   */
  set(name, value, { perRank = false } = {}) {
    const part = this.#parts.get(perRank) ?? new Part();
    this.#parts.set(perRank, part);
    const tensor = ArrayBuffer.isView(value) ? Tensor.from(/** @type {any} */ (value)) : value;
    if (tensor instanceof Tensor) {
      const bytes = new Uint8Array(tensor.byteLength);
      tensor.readInto(bytes);
      part.tensors.push({ name, data: new Tensor(tensor.dtype, tensor.shape, bytes) });
      return;
    }
    const isWord = typeof value === "number" && !Number.isFinite(value);
    const text = typeof value === "bigint" ? undefined : JSON.stringify(isWord ? String(value) : value);
    if (text === undefined) {
      throw new TrainyardError(`the state '${name}' cannot be saved: a ${typeof value}; allowed are typed arrays, tensors ` +
        "and what JSON has");
    }
    part.values[name] = JSON.parse(text);
  }

  /** @returns {SavedState[]} */
  take() {
    pack(this.#parts.values());
    return [...this.#parts].map(([perRank, { values, tensors }]) => ({ owner: ownerOf(this.#component),
      rank: this.#component.rank, per_rank: perRank, tensors,
      values: Object.keys(values).length > 0 ? JSON.stringify(values) : "" }));
  }
}

/** The state that a component had when a checkpoint was made. */
export class StateReader {
  #where;
  /** @type {Map<string, unknown>} */
  #found = new Map();

  /**
   * @param {{ path: string, step: bigint, ranks: number, states: SavedState[] }} restored
   * @param {string} owner
   * @param {number} rank
   */
  constructor(restored, owner, rank) {
    this.#where = `${restored.path}: the state of '${owner}'`;
    /** The step of the checkpoint. */
    this.step = restored.step;
    /** The number of ranks of the run that made the checkpoint; 0 if it is unknown. */
    this.ranks = restored.ranks;
    for (const state of restored.states) {
      if (state.owner !== owner || (state.per_rank && state.rank !== rank)) continue;
      for (const [name, value] of Object.entries(this.#values(state.values))) this.#found.set(name, value);
      for (const { name, data } of state.tensors) {
        const bytes = new Uint8Array(data.byteLength);
        data.readInto(bytes);
        this.#found.set(name, new Tensor(data.dtype, data.shape, bytes));
      }
    }
  }

  /** @param {string} text @returns {Record<string, unknown>} */
  #values(text) {
    let values;
    try {
      values = JSON.parse(text || "{}");
    } catch {
      values = null;
    }
    if (typeof values === "object" && values !== null && !Array.isArray(values)) return values;
    throw new TrainyardError(`${this.#where}: the values are no JSON object`);
  }

  /** True if the checkpoint contains no state of this component. */
  get empty() { return this.#found.size === 0; }

  /** @param {string} name @returns {boolean} */
  has(name) { return this.#found.has(name); }

  /**
   * Returns the value that was stored under this name. A typed array is returned as a Tensor. Throws TrainyardError if
   * there is no such value.
   * @param {string} name
   * @returns {any}
   */
  get(name) {
    if (this.#found.has(name)) return this.#found.get(name);
    throw new TrainyardError(`${this.#where} has no value '${name}'; it has ` +
      ([...this.#found.keys()].sort().join(", ") || "none"));
  }

  /**
   * Returns a number that may be infinite or NaN. Checkpoints contain such numbers as words, which this method
   * converts.
   * @param {string} name
   * @returns {number}
   */
  number(name) {
    const value = this.get(name);
    const number = WORDS.get(value) ?? value;
    if (typeof number === "number") return number;
    throw new TrainyardError(`${this.#where}: '${name}' is ${String(JSON.stringify(value)).slice(0, 80)}; a number is ` +
      "allowed");
  }
}
