// SPDX-License-Identifier: Apache-2.0
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { graphOf } from './graph.js';
import { confusionOf, histogramSeries } from './insights.js';
import { mockRuns } from './runs.js';
import { timelineOf } from './timeline.js';

/**
 * @typedef {import('./runs.js').MockRun} MockRun
 * @typedef {import('ws').WebSocket & { watched?: Map<string, string[]> }} Client
 */

const dist = fileURLToPath(new URL('../dist', import.meta.url));
/** @type {Record<string, string>} */
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };
// Stricter than the real server, which allows styles in the page.
const policy = "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

/** A server that behaves like that of `trainyard view`, with runs that do not exist. */
export class MockServer {
  /** @param {{ role?: 'watch' | 'control', growing?: boolean }} [options] */
  constructor({ role = 'control', growing = true } = {}) {
    this.role = role;
    this.runs = mockRuns();
    /** Every question that was asked, for tests. @type {any[]} */
    this.questions = [];
    this.tick = 0;
    this.http = createServer((request, response) => void this.serve(request.url ?? '/', response));
    /** @type {WebSocketServer | null} */
    this.sockets = null;
    this.growing = growing;
  }

  /** @param {number} [port] @returns {Promise<string>} the address of the page */
  async start(port = 0) {
    await new Promise((resolve) => this.http.listen(port, '127.0.0.1', () => resolve(undefined)));
    this.sockets = new WebSocketServer({ server: this.http, path: '/ws', perMessageDeflate: false });
    this.sockets.on('connection', (client) => {
      client.on('message', (data) => this.answer(client, JSON.parse(String(data))));
    });
    if (this.growing) this.timer = setInterval(() => this.grow(), 250);
    this.port = /** @type {import('node:net').AddressInfo} */ (this.http.address()).port;
    return `http://127.0.0.1:${this.port}/`;
  }

  async stop() {
    clearInterval(this.timer);
    for (const client of this.sockets?.clients ?? []) client.terminate();
    this.sockets?.close();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Ends a run as a signal would. @param {string} id */
  kill(id) {
    const run = this.find(id);
    Object.assign(run.info, { state: 'killed', live: false, message: "process 'main' was ended by signal 9" });
    this.tell({ push: 'state', ...stateOf(run) });
  }

  /** @param {string} path @param {import('node:http').ServerResponse} response */
  async serve(path, response) {
    const name = normalize(decodeURIComponent(path.split('?')[0] ?? '/')).replace(/^(\.\.[/\\])+/, '');
    try {
      const file = join(dist, name === '/' ? 'index.html' : name);
      const body = await readFile(file);
      const type = types[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
      response.end(body);
    } catch {
      response.writeHead(404).end('There is no such file.');
    }
  }

  /** @param {string} id @returns {MockRun} */
  find(id) {
    const run = this.runs.find((one) => one.info.run === id);
    if (!run) throw refusal(`no run named '${id}'`, 'not found');
    return run;
  }

  /** @param {Client} client @param {any} question */
  answer(client, question) {
    this.questions.push(question);
    try {
      const result = this.result(client, question);
      client.send(JSON.stringify({ id: question.id, ok: true, result }));
    } catch (error) {
      const { message, code } = /** @type {any} */ (error);
      client.send(JSON.stringify({ id: question.id, ok: false, error: message, code: code ?? 'internal' }));
    }
  }

  /** @param {Client} client @param {any} question @returns {unknown} */
  result(client, question) {
    if (question.op === 'hello') return { version: 1, role: this.role, trainyard: '0.1.0' };
    if (question.op === 'runs') return this.runs.map((run) => run.info);
    const run = this.find(question.run);
    switch (question.op) {
      case 'watch':
        (client.watched ??= new Map()).set(question.run, question.what);
        return {};
      case 'series':
        return run.series.map((one) => one.summary());
      case 'curve':
        return this.curve(run, question);
      case 'hyperparameters':
        return run.hyperparameters;
      case 'graph':
        return this.graph(run);
      case 'log':
        return logPage(run, question);
      case 'samples':
        return Array.from({ length: run.sampleCount }, (_, index) => index + 1).filter((number) => question.before === null || number < question.before).slice(-question.limit).map((number) => run.sample(number));
      case 'histograms':
        return run.histograms;
      case 'histogram': {
        const info = run.histograms.find((one) => one.of === question.of && one.name === question.name);
        if (!info) throw refusal(`the run has no histogram of ${question.of} named '${question.name}'`, 'not found');
        return histogramSeries(info);
      }
      case 'confusion':
        if (run.classes.length === 0) throw refusal('the run has no confusion matrix', 'not found');
        return confusionOf(run.classes, question.step);
      case 'timeline':
        if (!run.info.live) throw refusal(`the run '${question.run}' is not running`, 'unsupported');
        return timelineOf(run.graph, question.ms ?? 500);
      case 'parameters':
        if (!run.info.live) throw refusal(`run '${question.run}' is not running`, 'unsupported');
        return run.parameters;
      case 'changes':
        return run.changes;
      case 'alerts':
        return run.alerts;
      case 'set_parameter':
        return this.setParameter(run, question);
      case 'act':
        return this.act(run, question.action);
      default:
        throw refusal(`unknown operation '${question.op}'`, 'invalid argument');
    }
  }

  /** @param {MockRun} run @param {any} question */
  curve(run, question) {
    const series = run.series.find((one) => one.info.stage === question.stage && one.info.name === question.name);
    if (!series) throw refusal(`no series named '${question.stage}/${question.name}'`, 'not found');
    const unit = question.x === 'time' ? 1 / (run.perSecond || 60) : question.x === 'samples' ? run.samplesPerStep : 1;
    return series.curve(question, unit);
  }

  /** @param {MockRun} run */
  graph(run) {
    const none = { time_ns: Date.now() * 1e6, components: [], processes: [], edges: [], bottlenecks: null };
    return run.info.live || run.info.source === 'recording' ? graphOf(run.graph, run.info.state === 'running', this.tick) : none;
  }

  /** @param {MockRun} run @param {any} question */
  setParameter(run, { component, name, value }) {
    if (this.role === 'watch') throw refusal('this page may only watch', 'unsupported');
    const parameter = run.parameters.find((one) => one.component === component)?.parameters.find((one) => one.name === name);
    if (!parameter) throw refusal(`component '${component}' has no parameter '${name}'`, 'not found');
    if (name === 'lr' && value > 1) throw refusal(`${component}: lr: ${value} is not allowed: the loss would not stay finite`, 'invalid argument');
    const change = { time_ns: Date.now() * 1e6, step: run.info.step, component, name, from: parameter.value, to: value, who: 'page' };
    parameter.value = value;
    run.changes.push(/** @type {any} */ (change));
    this.tell({ push: 'parameters', run: run.info.run, change }, 'parameters');
    return parameter;
  }

  /** @param {MockRun} run @param {string} action */
  act(run, action) {
    if (this.role === 'watch') throw refusal('this page may only watch', 'unsupported');
    if (action === 'pause') run.info.state = 'paused';
    if (action === 'go_on') run.info.state = 'running';
    if (action === 'stop') Object.assign(run.info, { state: 'ended', live: false });
    this.tell({ push: 'state', ...stateOf(run) });
    return { text: '' };
  }

  /** A quarter of a second of all runs that are alive. */
  grow() {
    this.tick++;
    for (const run of this.runs) {
      if (run.info.state !== 'running') continue;
      run.part = (run.part ?? 0) + run.perSecond / 4;
      run.info.step = (run.info.step ?? 0) + Math.floor(run.part);
      run.part %= 1;
      for (const one of run.series) one.grow(run.info.step);
      if (this.tick % 4 === 0) this.report(run);
    }
  }

  /** @param {MockRun} run */
  report(run) {
    const id = run.info.run;
    this.tell({ push: 'state', ...stateOf(run) });
    this.tell({ push: 'curves', run: id, stages: { train: run.series[0]?.rows ?? 0 } }, 'curves');
    this.tell({ push: 'graph', run: id, graph: this.graph(run) }, 'graph');
    const records = [run.log(++run.logTotal), run.log(++run.logTotal)].map((one) => ({ ...one, time_ns: Date.now() * 1e6 }));
    this.tell({ push: 'log', run: id, records }, 'log');
    if (run.sampleCount && this.tick % 40 === 0) this.tell({ push: 'samples', run: id, samples: [run.sample(++run.sampleCount)] }, 'samples');
  }

  /** @param {any} push @param {string} [topic] */
  tell(push, topic) {
    for (const client of /** @type {Set<Client>} */ (this.sockets?.clients ?? new Set())) {
      if (!topic || client.watched?.get(push.run)?.includes(topic)) client.send(JSON.stringify(push));
    }
  }
}

/** @param {MockRun} run @param {any} question */
function logPage(run, { before, limit, level, component, text }) {
  const records = [];
  const passes = (/** @type {any} */ one) =>
    levels.indexOf(one.level) >= levels.indexOf(level) && one.component.toLowerCase().includes(component.toLowerCase()) && one.text.toLowerCase().includes(text.toLowerCase());
  for (let number = (before ?? run.logTotal + 1) - 1; number >= 1 && records.length < limit; number--) {
    const record = run.log(number);
    if (passes(record)) records.unshift(record);
  }
  return { records, total: component || text ? records.length : run.logTotal };
}

/** @param {MockRun} run */
const stateOf = ({ info }) => ({ run: info.run, state: info.state, message: info.message, step: info.step, total_steps: info.total_steps });

/** @param {string} message @param {string} code */
const refusal = (message, code) => Object.assign(new Error(message), { code });
