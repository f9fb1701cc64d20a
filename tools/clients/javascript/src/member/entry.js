// SPDX-License-Identifier: Apache-2.0
// The main function of a program that is a member, that is, a component of a run in a separate program.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { TrainyardError } from "../errors.js";
import { Declared } from "./declared.js";
import { Host } from "./host.js";
import { readKeys } from "./sockets.js";

const HELP = `This program is a member of a Trainyard run; \`trainyard launch\` starts it.

options:
  --describe           print what the component declares, as JSON
  --control ENDPOINT   the address of the launcher
  --process NAME       the name of this process in the run
  --help               print this text
`;
const OPTIONS = /** @type {const} */ ({ describe: { type: "boolean" }, control: { type: "string" },
  process: { type: "string" }, help: { type: "boolean" } });

/** @param {string} text @returns {never} */
function stop(text, code = 1) {
  process.stderr.write(`${basename(process.argv[1] ?? "member")}: ${text}\n`);
  process.exit(code);
}

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    return stop(/** @type {Error} */ (error).message, 2);
  }
}

/**
 * Ignores the signals that the launcher has ignored for this process, because an engine, such as Slurm, sends them to
 * all processes. Node.js gives every signal its default action when it starts.
 */
function ignoreSignalsOfTheEngine() {
  const names = (process.env.TRAINYARD_IGNORED_SIGNALS ?? "").split(" ").filter(Boolean);
  for (const name of names) process.on(/** @type {NodeJS.Signals} */ (name), () => {});
}

/**
 * Runs a component of the class `kind` as a member of a run, and ends the program. The launcher passes the command-line
 * arguments: `--describe` requests the declaration of the class, and `--control` and `--process` identify the run and
 * the process.
 * @param {typeof import("./component.js").Component} kind
 * @returns {Promise<never>}
 */
export async function runMember(kind) {
  ignoreSignalsOfTheEngine();
  const given = readArguments();
  if (given.help) {
    process.stdout.write(`${kind.description}\n\n${HELP}`);
    process.exit(0);
  }
  if (!given.describe && !(given.control && given.process)) {
    stop("name this program in a launch file, with `command` and `declaration`, and launch that", 2);
  }
  try {
    const declared = new Declared(kind);
    if (given.describe) {
      process.stdout.write(`${JSON.stringify(declared.declaration())}\n`);
    } else {
      const keys = readKeys(readFileSync(0));
      await new Host(declared, { name: given.process ?? "", endpoint: given.control ?? "", keys }).run();
    }
  } catch (error) {
    if (!(error instanceof TrainyardError)) throw error;
    stop(error.message);
  }
  // The process ends even if timers of the user's program are still active.
  process.exit(0);
}
