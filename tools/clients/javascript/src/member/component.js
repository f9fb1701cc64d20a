// SPDX-License-Identifier: Apache-2.0
// The base class of components in JavaScript.
import { ownerOf, StateReader, StateWriter } from "./state.js";

/** @typedef {import("./declared.js").InputOptions} InputOptions */
/** @typedef {import("./declared.js").OutputOptions} OutputOptions */
/** @typedef {import("./declared.js").ParameterOptions} ParameterOptions */
/** @typedef {import("./declared.js").ServiceOptions} ServiceOptions */

/**
 * The base class of components. A derived class declares its inputs, outputs, parameters and services as static objects,
 * and has a method for every input and service: `onMetrics` for the input `metrics`, and `reset` for the service
 * `reset`. A method may be asynchronous; the next message is then handled when its promise is fulfilled.
 *
 * The methods run one at a time. An exception puts the component into the error state, is reported with the component's
 * name, and ends the run.
 */
export class Component {
  /** The name of the kind of component, as a plugin has one. By default, made from the name of the class. */
  static componentName = "";
  /** One sentence for users. */
  static description = "";
  /** True if a run has one such component for every rank. */
  static perRank = false;
  /** False if a run cannot continue with a new instance of this component. */
  static restartable = true;
  /** The least memory that the process needs, apart from the model and the data. */
  static memoryBytes = 0;
  /** @type {Record<string, InputOptions>} */
  static inputs = {};
  /** @type {Record<string, OutputOptions>} */
  static outputs = {};
  /** @type {Record<string, ParameterOptions>} */
  static parameters = {};
  /** @type {Record<string, ServiceOptions>} */
  static services = {};

  /** @param {import("./parts.js").Context} context what the run gives to the component; pass it on to super() */
  constructor(context) {
    this.#host = context.host;
    /** The full name in the run, such as "rank0/smoother". */
    this.name = context.name;
    this.rank = context.rank;
    this.worldSize = context.worldSize;
    this.seed = context.seed;
    /** The full name of the run. */
    this.run = context.run;
    this.runDirectory = context.runDirectory;
    this.outputDirectory = context.outputDirectory;
    /** Has the functions debug, info, warning and error, each with one text. */
    this.log = context.log;
    /** The inputs, by name: pause(), resume() and connections. */
    this.inputs = context.inputs;
    /** The outputs, by name: send(), ready(), onReady() and connections. */
    this.outputs = context.outputs;
    /** The values of the parameters, by name. @type {Readonly<Record<string, any>>} */
    this.parameters = context.parameters;
    /** The number of the batch that caused the message that is being handled; what is sent gets it, too. */
    this.trace = 0n;
  }

  /** @type {import("./host.js").Host} */
  #host;

  /**
   * Checks parameters, opens files and allocates memory. Nothing can be sent yet.
   * @returns {void | Promise<void>}
   */
  onConfigure() {}

  /**
   * Called when every edge is connected, before any message is handled.
   * @returns {void | Promise<void>}
   */
  onActivate() {}

  /**
   * Finishes the work that has begun, and stops sending. Messages that arrive later are still handled.
   * @returns {void | Promise<void>}
   */
  onDeactivate() {}

  /**
   * Closes files. Not called if the component has failed.
   * @returns {void | Promise<void>}
   */
  onFinalize() {}

  /**
   * Stores what must be in every checkpoint, with into.set(name, value). It is called while all ranks wait between two
   * steps. A class that overrides this overrides restoreState(), too.
   * @param {StateWriter} _into
   * @returns {void | Promise<void>}
   */
  saveState(_into) {}

  /**
   * Takes back what saveState() stored, with saved.get(name). Called before the first order, if the run resumes from a
   * checkpoint that has state of this component. A rank that the earlier run did not have gets only what is the same on all
   * ranks.
   * @param {StateReader} _saved
   * @returns {void | Promise<void>}
   */
  restoreState(_saved) {}

  /**
   * Answers the checkpoint writer; for the runtime.
   * @param {{ order: bigint }} request
   */
  async onStateRequest({ order }) {
    const writer = new StateWriter(this);
    await this.saveState(writer);
    this.outputs.state.send({ order, component: this.name, states: writer.take() });
  }

  /**
   * Takes what belongs to this component from the state of a checkpoint; for the runtime.
   * @param {ConstructorParameters<typeof StateReader>[0]} restored
   */
  async onRestoredStates(restored) {
    const reader = new StateReader(restored, ownerOf(this), this.rank);
    if (!reader.empty) await this.restoreState(reader);
    this.outputs.states_taken.send({ component: this.name, owners: [ownerOf(this)] });
  }

  /**
   * Ends the run. `reason` is shown to the user.
   * @param {string} reason
   * @param {boolean} success
   */
  finishRun(reason, success = true) { this.#host.finishRun(reason, success); }

  /**
   * Calls `action` later, after what has already arrived had its turn.
   * @param {() => void | Promise<void>} action
   */
  post(action) { this.#host.post(action); }

  /**
   * Calls `action` after so many milliseconds.
   * @param {number} milliseconds
   * @param {() => void | Promise<void>} action
   */
  after(milliseconds, action) { setTimeout(() => this.#host.post(action), milliseconds); }

  /**
   * Applies the parameters that were changed before the checkpoint from which the run resumes.
   * @param {{ component: string, parameter: string, value: string, instead_of: string }[]} settings the field of the
   *   same name of the message RunState
   */
  takeSettings(settings) { this.#host.takeSettings(settings); }
}
