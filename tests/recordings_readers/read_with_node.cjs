// SPDX-License-Identifier: Apache-2.0
// Prints a summary of an MCAP file and then its messages, one line of JSON each (readers_test.py).
const fs = require("fs");
const fzstd = require("fzstd");
const { McapIndexedReader } = require("@mcap/core");

const bytes = fs.readFileSync(process.argv[2]);
const readable = {
  size: async () => BigInt(bytes.length),
  read: async (offset, size) => new Uint8Array(bytes.subarray(Number(offset), Number(offset + size))),
};
const decompressHandlers = {
  zstd: (buffer, size) => fzstd.decompress(buffer, new Uint8Array(Number(size))),
};

async function main() {
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const text = new TextDecoder();
  const schemas = {};
  for (const schema of reader.schemasById.values()) schemas[schema.name] = JSON.parse(text.decode(schema.data));
  const metadata = [];
  for await (const record of reader.readMetadata()) metadata.push(record.name);
  const messages = Number(reader.statistics.messageCount);
  const lines = [JSON.stringify({ messages, schemas, metadata: metadata.sort() })];
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    const channel = reader.channelsById.get(message.channelId);
    const schema = reader.schemasById.get(channel.schemaId);
    if (schema.encoding !== "jsonschema" || channel.messageEncoding !== "json") throw new Error("unexpected encoding");
    lines.push(JSON.stringify({
      topic: channel.topic,
      type: schema.name,
      schema: channel.metadata.get("schema"),
      component: channel.metadata.get("component"),
      sequence: message.sequence,
      log_time: message.logTime.toString(),
      publish_time: message.publishTime.toString(),
      message: text.decode(message.data),
    }));
  }
  process.stdout.write(lines.join("\n") + "\n");
}

main().catch((error) => { console.error(error); process.exit(1); });
