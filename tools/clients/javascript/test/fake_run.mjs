// SPDX-License-Identifier: Apache-2.0
// A fake launch with a run.json, a registry and publishers, for testing the client without Trainyard.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Schema } from "trainyard";
import { Router } from "zeromq";
import { startTicks } from "../src/finder.js";

export const METRICS = "Metrics {\n  u64 step\n  string stage\n  list<Value> values\n}\nValue {\n  string name\n  f64 value\n}\n";
export const MESSAGE = { step: 7n, stage: "train", values: [{ name: "loss", value: 0.5 }] };
const SUBSCRIBE = new Schema("Subscribe {\n  u32 subscription\n  string topic\n  u32 edge\n  u64 fingerprint\n  string policy\n" +
  "  u64 window_messages\n  u64 window_bytes\n  string payloads\n  u32 process_index\n}\n");
const SUBSCRIBED = new Schema("Subscribed {\n  u32 subscription\n  string topic\n  string type\n  u64 fingerprint\n" +
  "  string schema\n  string error\n}\n");
const CREDIT = new Schema("Credit {\n  u32 subscription\n  u64 messages\n  u64 bytes\n}\n");
const NUMBER = new Schema("Number {\n  u32 subscription\n}\n");

/** A ROUTER socket that passes the frames of every message to `handle`. */
class Server {
  constructor(endpoint, handle) {
    this.socket = new Router({ linger: 0, sendHighWaterMark: 0 });
    this.endpoint = endpoint;
    this.handle = handle;
    this.sending = Promise.resolve();
  }

  async start() {
    await this.socket.bind(this.endpoint);
    this.done = (async () => {
      try {
        for await (const frames of this.socket) this.handle(frames);
      } catch {
        // The socket was closed.
      }
    })();
  }

  send(frames) { this.sending = this.sending.then(() => this.socket.send(frames)).catch(() => {}); }

  async stop() {
    await this.sending;
    this.socket.close();
    await this.done;
  }
}

export class FakeRun {
  constructor(run = "mnist-1", name = "mnist") {
    this.base = mkdtempSync(join(tmpdir(), "trainyard-"));
    this.directory = join(this.base, `trainyard-${process.getuid()}`, run);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    process.env.XDG_RUNTIME_DIR = this.base;
    delete process.env.TRAINYARD_RUN_DIRECTORY;
    this.info = { run, name, file: `${name}.toml`, pid: process.pid, start_ticks: startTicks(process.pid),
      registry: `ipc://${this.directory}/registry` };
    this.topics = new Map();
    this.servers = [];
    this.silent = false;
    this.registry = new Server(this.info.registry, (frames) => this.answer(frames));
  }

  async start() {
    await this.registry.start();
    this.servers.push(this.registry);
    this.announce();
    return this;
  }

  announce() { writeFileSync(join(this.directory, "run.json"), JSON.stringify(this.info)); }
  end() { rmSync(join(this.directory, "run.json"), { force: true }); }

  async stop() {
    await Promise.all(this.servers.map((server) => server.stop()));
    rmSync(this.base, { recursive: true });
  }

  answer(frames) {
    const { id, op, target, body } = JSON.parse(frames.at(-1).toString());
    if (this.silent) return;
    let answer = { id, ok: false, error: `no component named '${target}'`, code: "not found" };
    if (op === "topics") answer = { id, ok: true, result: [...this.topics.values()] };
    if (op === "call" && target === "optimizer") answer = { id, ok: true, result: body };
    this.registry.send([...frames.slice(0, -1), JSON.stringify(answer)]);
  }

  /** Publishes a message repeatedly, `count` times for each subscription, as fast as the credits allow. */
  async publish(topics, { count = 0, refusal = "", flush = false, ends = false, endpoint, schema = METRICS,
    message = MESSAGE, fingerprint, gap = 1, payloads = [] } = {}) {
    const type = new Schema(schema);
    const address = endpoint ?? `ipc://${this.directory}/${this.servers.length}.gateway`;
    const publisher = { heard: [], feeds: new Map(), mostUnderWay: 0, credited: 0, address };
    const body = type.encode(message).body;
    const send = (peer) => {
      for (const feed of publisher.feeds.values()) {
        for (; feed.sent < count && feed.sent - feed.credited < feed.window; ++feed.sent) {
          const header = new DataView(new ArrayBuffer(56));
          header.setUint32(0, 0x44595254, true);
          header.setUint16(4, 1, true);
          header.setUint16(6, payloads.length, true);
          header.setBigUint64(8, fingerprint ?? type.fingerprint, true);
          header.setBigUint64(16, BigInt(feed.sent * gap), true);
          header.setUint32(28, feed.subscription, true);
          server.send([peer, feed.topic, new Uint8Array(header.buffer), body,
            ...payloads.map((payload) => (feed.payloads === "inline" ? payload : new Uint8Array(0)))]);
          publisher.mostUnderWay = Math.max(publisher.mostUnderWay, feed.sent + 1 - feed.credited);
        }
        if (ends && feed.sent === count) server.send([peer, "", "Ended", NUMBER.encode(feed).body]);
      }
    };
    const server = new Server(address, ([peer, , kind, bytes]) => {
      publisher.heard.push(kind.toString());
      if (kind.toString() === "Subscribe") {
        const asked = SUBSCRIBE.decode(bytes);
        publisher.asked = asked;
        server.send([peer, ""]); // Every client must ignore this probe.
        server.send([peer, "", "Subscribed", SUBSCRIBED.encode({ subscription: asked.subscription, topic: asked.topic,
          type: type.name, fingerprint: type.fingerprint, schema, error: refusal }).body]);
        if (refusal) return;
        publisher.feeds.set(asked.subscription, { ...asked, sent: 0, credited: 0, window: Number(asked.window_messages) });
        if (flush) server.send([peer, "", "Flush", NUMBER.encode(asked).body]);
      } else if (kind.toString() === "Credit") {
        const credit = CREDIT.decode(bytes);
        publisher.feeds.get(credit.subscription).credited += Number(credit.messages);
        publisher.credited += Number(credit.messages);
      } else {
        publisher.feeds.delete(NUMBER.decode(bytes).subscription);
        publisher.gone = publisher.feeds.size === 0;
        return;
      }
      send(peer);
    });
    await server.start();
    publisher.stop = async () => {
      this.servers.splice(this.servers.indexOf(server), 1);
      await server.stop();
    };
    this.servers.push(server);
    for (const topic of topics) {
      const entry = this.topics.get(topic) ?? { topic, type: type.name, schema, publishers: [], subscribers: [] };
      entry.publishers = entry.publishers.filter((one) => one.endpoint !== address);
      entry.publishers.push({ component: "a", process: "main", endpoint: address });
      this.topics.set(topic, entry);
    }
    return publisher;
  }
}
