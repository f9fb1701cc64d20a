// SPDX-License-Identifier: Apache-2.0
// Writes THIRD_PARTY.txt into the folder that is given: the licences of the libraries that are part of the built page. A library is part of it if
// package.json names it below "dependencies", or if such a library needs it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** @param {Record<string, string>} wanted @param {Set<string>} found */
function collect(wanted, found) {
  for (const name of Object.keys(wanted ?? {})) {
    if (found.has(name)) continue;
    found.add(name);
    collect(json(`node_modules/${name}/package.json`).dependencies, found);
  }
  return found;
}

/** @param {string} name */
function entry(name) {
  const folder = `node_modules/${name}`;
  const { version, license } = json(`${folder}/package.json`);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no file with its licence`);
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
}

const names = [...collect(json('package.json').dependencies, new Set())].sort();
writeFileSync(`${process.argv[2]}/THIRD_PARTY.txt`, `The page of trainyard view contains these libraries.\n\n${names.map(entry).join('\n')}`);
