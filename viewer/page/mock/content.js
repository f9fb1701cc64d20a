// SPDX-License-Identifier: Apache-2.0
import { deflateSync, crc32 as zlibCrc } from 'node:zlib';
import { Random } from './random.js';

const lines = [
  ['info', 'accelerator_host', 'step {n}: loss {l}, 41.2 k tokens/s'],
  ['info', 'strategy_manager', 'order {n}: train 32 batches'],
  ['debug', 'data_loader', 'read 64 samples in 1.7 ms, 3 batches wait'],
  ['info', 'checkpoint_writer', 'checkpoint of step {n} saved: 42.7 MiB in 0.31 s'],
  ['warning', 'data_loader', 'sample {n} is longer than the context of 256 tokens and was cut'],
  ['error', 'logger', 'cannot write curves: No space left on device\n  file: runs/shakespeare-k2p/curves.bin\n  written: 4096 of 65536 bytes\nThe next attempt follows in 10 s.'],
  ['debug', 'optimizer', 'learning rate is {l}'],
];

/** @param {number} number @param {number} time_ns */
export function logRecord(number, time_ns) {
  const random = new Random(number + 1);
  const at = random.next();
  const [level, component, text] = /** @type {string[]} */ (lines[at < 0.45 ? 0 : at < 0.7 ? 1 : at < 0.8 ? 2 : at < 0.86 ? 6 : at < 0.97 ? 3 : at < 0.995 ? 4 : 5]);
  return { number, time_ns, level, component, text: /** @type {string} */ (text).replace('{n}', String(number * 10)).replace('{l}', (1.2 + random.next()).toFixed(4)) };
}

const words = 'the and thou king my lord shall not love night sweet what art that with his heart come good is in of to a me you for this as be but he it her'.split(' ');
const speakers = ['ROMEO', 'KING HENRY', 'LADY MACBETH', 'First Citizen', 'DUKE VINCENTIO'];

/** Made-up text with the look of a play. @param {number} number */
export function playText(number) {
  const random = new Random(number + 31);
  let text = '';
  for (let part = 0; part < 4; part++) {
    text += `${random.pick(speakers)}:\n`;
    for (let line = 0; line < 3; line++) {
      const row = Array.from({ length: 6 + Math.floor(random.next() * 4) }, () => random.pick(words)).join(' ');
      text += `${row[0]?.toUpperCase()}${row.slice(1)}${random.pick([',', '.', ';', '!'])}\n`;
    }
    text += '\n';
  }
  return text.trimEnd();
}

/** A grey picture of blobs, as a data URL. @param {number} seed */
export function picture(seed, size = 28, columns = 8, rows = 4) {
  const width = size * columns;
  const height = size * rows;
  const random = new Random(seed);
  const pixels = Buffer.alloc((width + 1) * height);
  for (let cell = 0; cell < columns * rows; cell++) {
    const left = (cell % columns) * size;
    const top = Math.floor(cell / columns) * size;
    let x = size / 2;
    let y = size / 4;
    let angle = random.next() * 6;
    for (let stroke = 0; stroke < 60; stroke++) {
      angle += (random.next() - 0.5) * 0.9;
      x = Math.min(size - 5, Math.max(4, x + Math.cos(angle)));
      y = Math.min(size - 5, Math.max(4, y + Math.sin(angle)));
      for (const [dx, dy] of /** @type {[number, number][]} */ ([[0, 0], [1, 0], [0, 1], [1, 1]])) {
        pixels[(top + Math.round(y) + dy) * (width + 1) + 1 + left + Math.round(x) + dx] = 230 - dx * 40;
      }
    }
  }
  return `data:image/png;base64,${png(width, height, pixels).toString('base64')}`;
}

/** @param {number} width @param {number} height @param {Buffer} rows each preceded by a zero */
function png(width, height, rows) {
  /** @param {string} type @param {Buffer} data */
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

/** Older versions of Node.js do not have it. @param {Buffer} data */
function crc32(data) {
  if (typeof zlibCrc === 'function') return zlibCrc(data);
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}
