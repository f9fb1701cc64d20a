// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const launchFile = `
include = ["${resolve('../..')}/launch/files/standard.toml"]
[run]
name = "seen"
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
[component.data_loader.params]
dataset = { plugin = "synthetic", features = 16, classes = 4, samples = 1000 }
batch_size = 16
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = 1 }
model = { plugin = "mlp", hidden = [16] }
log_every_steps = 1
[component.optimizer.params]
lr = 0.001
[component.logger.params]
console = "off"
tensorboard = false
[component.recorder]
plugin = "recorder"
[component.recorder.params]
topics = ["/metrics", "/log"]
`;

export interface Report {
  step: number;
  stage: string;
  values: Record<string, number>;
}

export const read = (report: string | undefined): Report => JSON.parse(report ?? '{}') as Report;

/** A training run in a temporary folder, which runs until it is stopped, and viewers that show it. */
export class LiveRun {
  readonly folder = mkdtempSync(join(tmpdir(), 'trainyard-page-'));
  private readonly programs: ChildProcess[] = [];

  constructor(private readonly program: string) {
    writeFileSync(join(this.folder, 'seen.toml'), launchFile);
  }

  launch(): void {
    this.start(['launch', 'seen.toml'], 'ignore');
  }

  /** Starts a viewer and returns the address that it prints. */
  async view(...options: string[]): Promise<string> {
    const viewer = this.start(['view', ...options], 'pipe');
    for await (const text of viewer.stdout!) return String(text).trim().split('\n')[0]!;
    throw new Error(`the viewer printed no address; it said:\n${this.said()}`);
  }

  /** Returns the metrics that the run has written to its file so far, each as a line of JSON. */
  reports(): string[] {
    let text = '';
    try {
      text = readFileSync(join(this.folder, 'out/metrics.jsonl'), 'utf8');
    } catch {
      return [];
    }
    // The last line may be incomplete.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    return lines.filter((line) => line.includes('"kind":"metrics"'));
  }

  /** Kills the launcher with SIGKILL, as the kernel does if memory is exhausted. */
  kill(): void {
    const found = (readdirSync(this.folder, { recursive: true }) as string[]).find((name) => name.endsWith('/run.json'));
    process.kill((JSON.parse(readFileSync(join(this.folder, found!), 'utf8')) as { pid: number }).pid, 'SIGKILL');
  }

  /** Returns the error output of all programs. */
  said(): string {
    return this.programs.map((_, index) => readFileSync(join(this.folder, `output${index}`), 'utf8')).join('\n');
  }

  /** Ends all programs in the order in which they would be ended by hand, and removes the folder. */
  async end(): Promise<void> {
    for (const program of this.programs.reverse()) {
      if (program.exitCode !== null || program.signalCode !== null) continue;
      const gone = new Promise((done) => program.once('exit', done));
      const mercy = setTimeout(() => program.kill('SIGKILL'), 30_000);
      program.kill('SIGINT');
      await gone;
      clearTimeout(mercy);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private start(words: string[], stdout: 'pipe' | 'ignore'): ChildProcess {
    const output = openSync(join(this.folder, `output${this.programs.length}`), 'w');
    // The training has a lower priority than the browser, which would otherwise be slow on a small machine.
    const made = spawn('nice', ['-n', words[0] === 'launch' ? '19' : '0', this.program, ...words], {
      cwd: this.folder,
      env: { ...process.env, XDG_RUNTIME_DIR: this.folder, OPENBLAS_NUM_THREADS: '1' },
      stdio: ['ignore', stdout, output],
    });
    closeSync(output);
    this.programs.push(made);
    return made;
  }
}
