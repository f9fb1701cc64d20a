// SPDX-License-Identifier: Apache-2.0
// Finds the runs of this user (docs/wire_format.md, section 1).
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { TrainyardError } from "./errors.js";

/**
 * The content of a run.json, with which a launcher announces its run.
 * @typedef {object} RunInfo
 * @property {string} run the full name, such as "mnist-9ix"
 * @property {string} name the name without the suffix
 * @property {string} file the launch file
 * @property {string} directory
 * @property {number} pid the pid of the launcher
 * @property {number} startTicks
 * @property {string} registry the address of the registry
 */

/** @param {string} path @returns {boolean} */
const isDirectory = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const userId = () => /** @type {() => number} */ (process.getuid)();

/** Returns the directory that contains the run directories of this user. @returns {string} */
export function runsDirectory() {
  const parent = process.env.XDG_RUNTIME_DIR ?? "";
  return join(parent && isDirectory(parent) ? parent : "/tmp", `trainyard-${userId()}`);
}

/**
 * Returns when a process started, in clock ticks since boot, or 0 if it does not exist. With this number, another
 * process that has got the same pid can be recognised.
 * @param {number} pid
 * @returns {number}
 */
export function startTicks(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return 0;
  }
}

/**
 * Returns true as long as the launcher of this run is alive and has not removed its run.json.
 * @param {RunInfo} run
 * @returns {boolean}
 */
export const isAlive = (run) => existsSync(join(run.directory, "run.json")) && run.startTicks !== 0 &&
  startTicks(run.pid) === run.startTicks;

/**
 * Returns `address` if it is on this machine. Otherwise throws TrainyardError.
 * @param {unknown} address
 * @returns {string}
 */
export function checkAddress(address) {
  if (typeof address === "string" && /^(ipc:\/\/|tcp:\/\/(127\.0\.0\.1|localhost|\[::1\]):)/.test(address)) return address;
  throw new TrainyardError(`address '${String(address).slice(0, 200)}' is refused; allowed are ipc and tcp on 127.0.0.1`);
}

/**
 * Returns the run whose run directory is `directory`, or null if there is none or its launcher is dead.
 * @param {string} directory
 * @returns {RunInfo | null}
 */
export function readRun(directory) {
  try {
    const path = join(directory, "run.json");
    if (statSync(path).size > 65536) return null; // Normally the file has a few hundred bytes.
    const told = JSON.parse(readFileSync(path, "utf8"));
    if (![told.run, told.name, told.file].every((text) => typeof text === "string")) return null;
    const run = {
      run: told.run, name: told.name, file: told.file, directory, pid: Number(told.pid),
      startTicks: Number(told.start_ticks), registry: checkAddress(told.registry),
    };
    return isAlive(run) ? run : null;
  } catch {
    return null;
  }
}

/**
 * Returns the active runs of this user, newest first. Throws TrainyardError if another user could have created entries
 * in the directory.
 * @returns {RunInfo[]}
 */
export function listRuns() {
  const base = runsDirectory();
  if (!isDirectory(base)) return [];
  const status = lstatSync(base);
  if (status.uid !== userId() || (status.mode & 0o022) !== 0) {
    throw new TrainyardError(`${base} belongs to somebody else or others may write to it; its runs are not trusted`);
  }
  const found = [];
  for (const entry of readdirSync(base, { withFileTypes: true })) {
    const run = entry.isDirectory() ? readRun(join(base, entry.name)) : null;
    if (run) found.push(run);
  }
  return found.sort((left, right) => right.startTicks - left.startTicks);
}

/**
 * Returns the newest active run, or the newest active run with this name or full name. Throws TrainyardError if there
 * is none.
 * @param {string | undefined} name
 * @returns {RunInfo}
 */
export function pickRun(name) {
  const known = listRuns();
  const found = known.find((run) => name === undefined || name === run.name || name === run.run);
  if (found) return found;
  throw new TrainyardError(`no run${name === undefined ? "" : ` named '${name}'`} in ${runsDirectory()}; running: ` +
    (known.map((run) => run.run).join(", ") || "none"));
}
