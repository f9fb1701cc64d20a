// SPDX-License-Identifier: Apache-2.0
// The base class of components in JavaScript.
import { ownerOf, StateReader, StateWriter } from "./state.js";

/** @typedef {import("./declared.js").InputOptions} InputOptions */
/** @typedef {import("./declared.js").OutputOptions} OutputOptions */
/** @typedef {import("./declared.js").ParameterOptions} ParameterOptions */
/** @typedef {import("./declared.js").ServiceOptions} ServiceOptions */

/**
 * The base class of components. A derived class declares its inputs, outputs, parameters and services as static
 * objects, and has a method for every input and service: `onMetrics` for the input `metrics`, and `reset` for the
 * service `reset`. A method may be asynchronous; the next message is then handled after its promise has been fulfilled.
 *
 * The methods run one at a time. If a method throws an exception, the error is reported with the component's name, and
 * the run ends.
 */
export class Component {
  /**
   * The name of the component's kind, like the name of a plugin. By default, it is derived from the name of the class.
   */
  static componentName = "";
  /** A description for users, in one sentence. */
  static description = "";
  /** True if every rank of a run has its own component of this kind. */
  static perRank = false;
  /** False if the run cannot continue after the process of this component has been started again. */
  static restartable = true;
  /** The memory that the process needs at least, in bytes, apart from the model and the data. */
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
    /** The log, with the functions debug, info, warning and error, which take a text. */
    this.log = context.log;
    /** The inputs, by name. An input has pause(), resume() and connections. */
    this.inputs = context.inputs;
    /** The outputs, by name. An output has send(), ready(), onReady() and connections. */
    this.outputs = context.outputs;
    /** The values of the parameters, by name. @type {Readonly<Record<string, any>>} */
    this.parameters = context.parameters;
    /**
     * The number of the batch that caused the message that is being handled. Messages that are sent get the same
     * number.
     */
    this.trace = 0n;
  }

  /** @type {import("./host.js").Host} */
  #host;

  /**
   * Override this to check parameters, open files and allocate memory. Messages cannot be sent yet.
   * @returns {void | Promise<void>}
   */
  onConfigure() {}

  /**
   * Called when all connections of the run have been made, before any message is handled.
   * @returns {void | Promise<void>}
   */
  onActivate() {}

  /**
   * Override this to finish work that has begun, and to stop sending. Messages that arrive later are still handled.
   * @returns {void | Promise<void>}
   */
  onDeactivate() {}

  /**
   * Override this to close files. Not called if the component has failed.
   * @returns {void | Promise<void>}
   */
  onFinalize() {}

  /**
   * Override this to save state in checkpoints, with into.set(name, value). Called for every checkpoint, while all
   * ranks wait between two steps. A class that overrides this method must also override restoreState().
   * @param {StateWriter} _into
   * @returns {void | Promise<void>}
   */
  saveState(_into) {}

  /**
   * Override this to restore the state that saveState() has stored, with saved.get(name). Called before training
   * begins, if the run resumes from a checkpoint that contains state of this component. If the earlier run did not have
   * this rank, `saved` contains only the state that is the same on all ranks.
   * @param {StateReader} _saved
   * @returns {void | Promise<void>}
   */
  restoreState(_saved) {}

  /**
   * Sends the state to the checkpoint writer. The runtime calls this.
   * @param {{ order: bigint }} request
   */
  async onStateRequest({ order }) {
    const writer = new StateWriter(this);
    await this.saveState(writer);
    this.outputs.state.send({ order, component: this.name, states: writer.take() });
  }

  /**
   * Passes the state of this component in a checkpoint to restoreState(). The runtime calls this.
   * @param {ConstructorParameters<typeof StateReader>[0]} restored
   */
  async onRestoredStates(restored) {
    const reader = new StateReader(restored, ownerOf(this), this.rank);
    if (!reader.empty) await this.restoreState(reader);
    this.outputs.states_taken.send({ component: this.name, owners: [ownerOf(this)] });
  }

  /**
   * Ends the run, successfully or as a failure. `reason` is shown to the user.
   * @param {string} reason
   * @param {boolean} success
   */
  finishRun(reason, success = true) { this.#host.finishRun(reason, success); }

  /**
   * Calls `action` later, after the messages that have already arrived.
   * @param {() => void | Promise<void>} action
   */
  post(action) { this.#host.post(action); }

  /**
   * Calls `action` after `milliseconds`.
   * @param {number} milliseconds
   * @param {() => void | Promise<void>} action
   */
  after(milliseconds, action) { setTimeout(() => this.#host.post(action), milliseconds); }

  /**
   * Sets the parameters of this component that were changed during the earlier run, before the checkpoint from which
   * this run resumes.
   * @param {{ component: string, parameter: string, value: string, instead_of: string }[]} settings the field of the
   * same name of the message RunState
   */
  takeSettings(settings) { this.#host.takeSettings(settings); }
}
