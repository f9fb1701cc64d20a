// SPDX-License-Identifier: Apache-2.0
// The messages between the page and its server, as docs/viewer_protocol.md describes them. Unknown numbers are null.

export type Role = 'watch' | 'control';
export type RunState = 'starting' | 'running' | 'paused' | 'ended' | 'failed' | 'interrupted' | 'killed' | 'unknown' | 'recording';
export type Topic = 'curves' | 'graph' | 'log' | 'samples' | 'histograms' | 'confusion' | 'alerts' | 'parameters';
export type Action = 'checkpoint' | 'validate' | 'pause' | 'go_on' | 'stop';
export type XAxis = 'step' | 'time' | 'samples';
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Hello {
  version: number;
  role: Role;
  trainyard: string;
}

export interface Run {
  run: string;
  name: string;
  file: string;
  state: RunState;
  live: boolean;
  source: 'live' | 'past' | 'recording';
  started_ns: number;
  step: number | null;
  total_steps: number | null;
  directory: string;
  /** Why the run ended; empty while it is running. */
  message: string;
}

export interface Series {
  stage: string;
  name: string;
  rows: number;
  last: number | null;
  last_step: number | null;
}

export interface CurveQuestion {
  run: string;
  stage: string;
  name: string;
  x: XAxis;
  from: number | null;
  to: number | null;
  /** The maximum number of buckets in the answer; at most 8000. */
  points: number;
  smooth: number;
}

/** A curve, divided into buckets. null stands for a value that is not finite. */
export interface Curve {
  x: number[];
  low: (number | null)[];
  high: (number | null)[];
  mean: (number | null)[];
  smooth: (number | null)[];
  rows: number;
  from: number | null;
  to: number | null;
}

export interface Waiting {
  /** The component for which the wait is, or the same word as `kind` if the cause is not a component. */
  for: string;
  /** "message", "room", "rank", "ranks", "thread", "device" or "others". */
  kind: string;
  share: number;
}

export interface Component {
  name: string;
  plugin: string;
  process: string;
  pid: number | null;
  host: string;
  rank: number | null;
  state: string;
  restarts: number | null;
  cpu_percent: number | null;
  memory_bytes: number | null;
  busy: number | null;
  waiting: Waiting[] | null;
}

export interface Process {
  name: string;
  pid: number | null;
  cpu_percent: number | null;
  memory_bytes: number | null;
}

export interface Edge {
  number: number;
  from: string;
  to: string;
  topic: string;
  policy: string;
  rate_hz: number | null;
  bytes_per_s: number | null;
  queued: number | null;
  window: number | null;
  dropped: number | null;
  blocked: number | null;
}

export interface Bottleneck {
  component: string;
  share: number;
}

export interface Graph {
  time_ns: number;
  components: Component[];
  processes: Process[];
  edges: Edge[];
  /** The components that hold up the run, the most important first; null if no component measures how it spends its
   * time. */
  bottlenecks: Bottleneck[] | null;
}

export type Level = 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'critical';

export interface LogRecord {
  number: number;
  time_ns: number;
  level: Level;
  component: string;
  text: string;
}

/** The prediction of a classifier for one sample of an evaluation. */
export interface SampleResult {
  split: string;
  index: number;
  right: string;
  predicted: string;
  probability: number;
}

export type HistogramKind = 'weights' | 'gradients' | 'activations';

export interface HistogramInfo {
  of: HistogramKind;
  name: string;
  steps: number;
  last_step: number;
  elements: number;
}

/** The histograms of one tensor over time. Bucket i counts the values from (first + i) * width to (first + i + 1) *
 * width. */
export interface HistogramSeries {
  of: HistogramKind;
  name: string;
  first: number;
  width: number;
  steps: number[];
  /** One list of counts for each step. */
  counts: number[][];
  smallest: number[];
  largest: number[];
  mean: number[];
  deviation: number[];
  elements: number[];
  not_finite: number[];
}

/** How often a sample of one class was taken for another: counts[right * classes.length + predicted]. */
export interface ConfusionMatrix {
  split: string;
  splits: string[];
  step: number;
  steps: number[];
  classes: string[];
  counts: number[];
}

export interface Sample {
  number: number;
  step: number;
  title: string;
  text: string;
  /** A data URL. */
  image: string | null;
  tensors: { dtype: string; shape: number[] }[];
  /** Null for texts and other predictions. */
  result: SampleResult | null;
}

/** What the components of a run did during a short time. All lists in `spans` have the same length. */
export interface Timeline {
  length_ns: number;
  lost: number;
  rows: { process: string; component: string; thread: string; own_thread: number; steps: boolean }[];
  texts: string[];
  spans: {
    row: number[];
    kind: string[];
    text: number[];
    peer: number[];
    begin_ns: number[];
    ns: number[];
    step: number[];
    batch: (number | null)[];
    rank: number[];
  };
}

export interface Parameter {
  name: string;
  kind: string;
  /** A description of the allowed values, such as "a number >= 0 and <= 1". */
  allowed: string;
  unit: string;
  settable: boolean;
  help: string;
  value: Json;
}

export interface ComponentParameters {
  component: string;
  parameters: Parameter[];
}

export interface Change {
  time_ns: number;
  step: number | null;
  component: string;
  name: string;
  from: Json;
  to: Json;
  who: string;
}

export interface Alert {
  time_ns: number;
  step: number | null;
  kind: string;
  text: string;
  severity: 'warning' | 'error';
}

/** The questions that the page can ask: for each, the type of its arguments and the type of its result. */
export interface Questions {
  hello: [Record<string, never>, Hello];
  runs: [Record<string, never>, Run[]];
  watch: [{ run: string; what: Topic[] }, unknown];
  series: [{ run: string }, Series[]];
  curve: [CurveQuestion, Curve];
  hyperparameters: [{ run: string }, Record<string, Json>];
  graph: [{ run: string }, Graph];
  log: [
    { run: string; before: number | null; limit: number; level: string; component: string; text: string },
    { records: LogRecord[]; total: number },
  ];
  samples: [{ run: string; before: number | null; limit: number }, Sample[]];
  histograms: [{ run: string }, HistogramInfo[]];
  histogram: [{ run: string; of: HistogramKind; name: string; buckets: number }, HistogramSeries];
  confusion: [{ run: string; split: string; step: number | null }, ConfusionMatrix];
  timeline: [{ run: string; ms: number }, Timeline];
  parameters: [{ run: string }, ComponentParameters[]];
  set_parameter: [{ run: string; component: string; name: string; value: Json }, Parameter];
  changes: [{ run: string }, Change[]];
  act: [{ run: string; action: Action }, unknown];
  alerts: [{ run: string }, Alert[]];
}

/** The messages that the server sends without being asked. */
export interface Pushes {
  runs: Record<string, never>;
  state: { run: string; state: RunState; message: string; step: number | null; total_steps: number | null };
  curves: { run: string; stages: Record<string, number> };
  graph: { run: string; graph: Graph };
  log: { run: string; records: LogRecord[] };
  samples: { run: string; samples: Sample[] };
  histograms: { run: string; step: number };
  confusion: { run: string; split: string; step: number };
  alerts: { run: string; alerts: Alert[] };
  parameters: { run: string; change: Change };
}
