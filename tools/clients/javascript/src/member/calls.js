// SPDX-License-Identifier: Apache-2.0
// Answers calls to a component: calls that get and set parameters, and calls of its services.
import { TrainyardError } from "../errors.js";
import { suggestion } from "./names.js";

/** @typedef {import("./declared.js").Service} Service */
/** @typedef {import("./parameters.js").Parameter} Parameter */

/** @param {unknown} value @returns {string} */
const shortly = (value) => String(JSON.stringify(value)).slice(0, 100);

/**
 * A replacer for JSON.stringify. It converts bigints to numbers, and Maps to objects.
 * @param {any} _key
 * @param {any} value
 */
const asJson = (_key, value) => (typeof value === "bigint" ? Number(value) :
  value instanceof Map ? Object.fromEntries(value) : value);

/** Answers the calls to one component. */
export class Calls {
  #component;
  #where;
  #values;
  /** @type {Map<string, Parameter>} */
  #parameters;
  /** @type {Map<string, Service>} */
  #services;

  /**
   * @param {import("./component.js").Component} component
   * @param {import("./declared.js").Declared} declared
   * @param {Record<string, unknown>} values of the parameters
   */
  constructor(component, declared, values) {
    this.#component = component;
    this.#where = `component '${component.name}'`;
    this.#values = values;
    this.#parameters = new Map(declared.parameters.map((one) => [one.name, one]));
    this.#services = new Map(declared.services.map((one) => [one.name, one]));
  }

  /**
   * Carries out a call and returns the answer as JSON. If the method of the service throws an error, it is thrown here,
   * too.
   * @param {string} method
   * @param {unknown} body
   * @returns {Promise<string>}
   */
  async perform(method, body) {
    if (method === "param.list") return JSON.stringify([...this.#parameters.values()].map((one) => this.#describe(one)));
    if (method === "param.get" || method === "param.set") {
      return JSON.stringify(await this.#aboutParameter(method, /** @type {any} */ (body)));
    }
    const service = this.#services.get(method);
    if (service) return this.#serve(service, /** @type {any} */ (body));
    const known = ["param.get", "param.list", "param.set", ...this.#services.keys()];
    throw new TrainyardError(`${this.#where} has no service '${method.slice(0, 80)}'${suggestion(method, known)}`);
  }

  /**
   * See Component.takeSettings().
   * @param {{ component: string, parameter: string, value: string, instead_of: string }[]} settings
   */
  takeSettings(settings) {
    const { name, rank, log } = this.#component;
    const own = name.startsWith(`rank${rank}/`) ? name.slice(`rank${rank}/`.length) : name;
    for (const setting of settings) {
      const parameter = this.#parameters.get(setting.parameter);
      if (setting.component !== own || !parameter) continue;
      const value = JSON.stringify(this.#values[parameter.name]);
      if (value === JSON.stringify(JSON.parse(setting.instead_of))) {
        this.#set(parameter, JSON.parse(setting.value));
      } else {
        log.warning(`${parameter.name} = ${value}, as the launch file says now; the run that is continued had ` +
          `${setting.value}, set while it ran`);
      }
    }
  }

  /**
   * @param {Service} service
   * @param {Record<string, unknown>} body
   * @returns {Promise<string>}
   */
  async #serve(service, body) {
    const fields = (service.request.structs.get(service.request.name) ?? []).map((field) => field.name);
    if (typeof body !== "object" || body === null || Object.keys(body).some((key) => !fields.includes(key))) {
      throw new TrainyardError(`the request of ${service.name} has the fields: ${fields.join(", ") || "none"}`);
    }
    service.request.encode(body);
    const answer = await /** @type {any} */ (this.#component)[service.method](body) ?? {};
    service.reply.encode(answer);
    return JSON.stringify(answer, asJson);
  }

  /** @param {Parameter} parameter */
  #describe(parameter) { return parameter.describe(this.#values[parameter.name]); }

  /**
   * @param {string} method
   * @param {{ name?: unknown, value?: unknown } | null} body
   */
  async #aboutParameter(method, body) {
    const name = body?.name;
    if (typeof name !== "string" || (method === "param.set" && !Object.hasOwn(body ?? {}, "value"))) {
      const wanted = method === "param.set" ? '{"name": ..., "value": ...}' : '{"name": ...}';
      throw new TrainyardError(`${this.#where}: ${method}: ${shortly(body)} is not allowed; ${wanted}`);
    }
    const parameter = this.#parameters.get(name);
    if (!parameter) {
      throw new TrainyardError(`${this.#where} has no parameter '${name.slice(0, 80)}'` +
        suggestion(name, this.#parameters.keys()));
    }
    if (method === "param.set") await this.#set(parameter, body?.value);
    return this.#describe(parameter);
  }

  /**
   * @param {Parameter} parameter
   * @param {unknown} value
   * @returns {void | Promise<void>}
   */
  #set(parameter, value) {
    if (!parameter.settable) {
      throw new TrainyardError(`${this.#where}: ${parameter.name} cannot be changed while the component runs`);
    }
    try {
      this.#values[parameter.name] = parameter.check(value);
    } catch (error) {
      throw new TrainyardError(`${this.#where}: ${/** @type {Error} */ (error).message}`);
    }
    if (parameter.changed) return /** @type {any} */ (this.#component)[parameter.changed](value);
  }
}
