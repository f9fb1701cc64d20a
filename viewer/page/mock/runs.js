// SPDX-License-Identifier: Apache-2.0
import { cosine, falling, MockSeries, rising } from './curves.js';
import { logRecord, picture, playText } from './content.js';
import { histogramList } from './insights.js';
import { parametersOf } from './parameters.js';

/**
 * @typedef {import('./graph.js').GraphInfo} GraphInfo
 * @typedef {import('./curves.js').SeriesInfo} SeriesInfo
 * @typedef {import('../src/protocol/types').Run} RunInfo
 * @typedef {import('../src/protocol/types').Change} Change
 * @typedef {import('../src/protocol/types').Alert} Alert
 * @typedef {{
 *   info: RunInfo, part?: number, graph: GraphInfo, series: MockSeries[], perSecond: number, samplesPerStep: number, logTotal: number,
 *   parameters: ReturnType<typeof parametersOf>, changes: Change[], alerts: Alert[], sampleCount: number,
 *   histograms: import('../src/protocol/types').HistogramInfo[], classes: string[],
 *   hyperparameters: Record<string, import('../src/protocol/types').Json>, log: (number: number) => any, sample: (number: number) => any,
 * }} MockRun
 */

const hour = 3600e9;
export const hostile = '<img src=x onerror="document.title=\'owned\'"><b>bold</b>';

/**
 * @param {string} run @param {Partial<RunInfo>} more @param {number} age in hours @param {SeriesInfo[]} series
 * @param {Partial<MockRun>} rest @returns {MockRun}
 */
function make(run, more, age, series, rest = {}) {
  const now = Date.now() * 1e6;
  const name = run.split('-')[0] ?? run;
  /** @type {RunInfo} */
  const info = {
    run, name, file: `${name}.toml`, state: 'ended', live: false, source: 'past', started_ns: now - age * hour, step: 0, total_steps: 20000,
    directory: `/home/user/experiments/runs/${run}`, message: '', ...more,
  };
  const result = {
    info,
    graph: { ranks: 1, stepsPerSecond: 170, timed: true },
    series: series.map((one, index) => new MockSeries(one, index + run.length * 97 + run.charCodeAt(run.length - 1))),
    perSecond: 0,
    samplesPerStep: 64,
    logTotal: 4000,
    parameters: parametersOf(),
    changes: [],
    alerts: [],
    sampleCount: 0,
    histograms: histogramList(),
    classes: [],
    hyperparameters: hyperparametersOf(run, 0.001),
    log: (/** @type {number} */ number) => logRecord(number, info.started_ns + number * 3e8),
    sample: (/** @type {number} */ number) => ({ number, step: number * 500, title: 'generated', text: playText(number), image: null, result: null, tensors: [{ dtype: 'int64', shape: [1, 256] }] }),
    ...rest,
  };
  result.series.forEach((one, index) => remembered(`${run} ${index}`, one, info.step ?? 0));
  return result;
}

/** @type {Map<string, { values: Float32Array, rows: number }>} */
const made = new Map();

/**
 * Fills a series. A second server in the same process, as tests have them, gets the values of the first one.
 * @param {string} key @param {MockSeries} series @param {number} step
 */
function remembered(key, series, step) {
  const known = made.get(key);
  if (known) {
    series.values = known.values.slice();
    series.rows = known.rows;
  } else {
    series.grow(step);
    made.set(key, { values: series.values.slice(), rows: series.rows });
  }
}

/** @param {string} model @param {number} lr @returns {Record<string, import('../src/protocol/types').Json>} */
const hyperparametersOf = (model, lr, batch = 64, seed = 1) => ({
  'args.folder': 'data/mnist', 'data_loader.batch_size': batch, 'data_loader.dataset.plugin': model.startsWith('mnist') ? 'idx' : 'text', 'accelerator_host.model.plugin': model.startsWith('mnist') ? 'convnet' : 'gpt',
  'accelerator_host.model.layers': 6, 'accelerator_host.clip_norm': 1, 'optimizer.rule': 'adamw', 'optimizer.lr': lr, 'optimizer.schedule': 'cosine', 'optimizer.betas': [0.9, 0.999], 'run.seed': seed, 'run.max_epochs': 8,
});

/** @param {number} total @returns {SeriesInfo[]} */
const language = (total, every = 1, start = 4.2) => [
  { stage: 'train', name: 'loss', every, shape: falling(start, 1.18, total / 900) },
  { stage: 'validate', name: 'loss', every: Math.round(total / 200), shape: falling(start, 1.42, total / 900, 0.008) },
  { stage: 'train', name: 'learning_rate', every, shape: cosine(6e-4, total) },
  { stage: 'train', name: 'throughput', every: every * 10, shape: (_, random) => 41200 + 900 * random.normal() - (random.next() < 0.01 ? 9000 : 0) },
  { stage: 'train', name: 'gradient_norm', every: every * 10, shape: (step, random) => Math.exp(0.35 * random.normal()) * (0.4 + 3 / (1 + step / 900)) },
  { stage: 'train', name: 'memory_bytes', every: every * 100, shape: (_, random) => 8.1e9 + 2e7 * random.next() },
];

/** @param {number} total @returns {SeriesInfo[]} */
const images = (total, quality = 0.985) => [
  { stage: 'train', name: 'loss', every: 10, shape: falling(2.3, 0.06 / quality, total / 90, 0.25) },
  { stage: 'validate', name: 'loss', every: Math.round(total / 16), shape: falling(2.3, 0.08 / quality, total / 90, 0.03) },
  { stage: 'train', name: 'learning_rate', every: 10, shape: cosine(2e-3, total) },
  { stage: 'train', name: 'throughput', every: 10, shape: (_, random) => 10700 + 300 * random.normal() },
  { stage: 'validate', name: 'accuracy', every: Math.round(total / 16), shape: rising(quality, total / 60) },
];

/** @returns {SeriesInfo[]} */
const thousand = () =>
  Array.from({ length: 1000 }, (_, index) => ({ stage: 'train', name: `gradient_norm/transformer.layers.${Math.floor(index / 8)}.${['attention.query', 'attention.key', 'attention.value', 'attention.output', 'mlp.up', 'mlp.down', 'norm_1', 'norm_2'][index % 8]}.weight`, every: 10, shape: (/** @type {number} */ step, /** @type {any} */ random) => Math.exp(0.3 * random.normal()) / (1 + step / 4000) }));

/** The runs of the mock: one of a million steps, one of eight ranks, some that are over, and one that is hostile. */
export function mockRuns() {
  const now = Date.now() * 1e6;
  const long = make('shakespeare-k2p', { state: 'running', live: true, source: 'live', step: 1_000_000, total_steps: 1_250_000 }, 1.6, language(1_250_000), {
    perSecond: 170, logTotal: 60_000, sampleCount: 140,
    changes: [
      { time_ns: now - 1.2 * hour, step: 241_000, component: 'optimizer', name: 'lr', from: 0.0006, to: 0.001, who: 'page' },
      { time_ns: now - 0.4 * hour, step: 733_120, component: 'accelerator_host', name: 'clip_norm', from: 0, to: 1, who: 'trainyard param set' },
    ],
    alerts: [
      { time_ns: now - 0.41 * hour, step: 732_410, kind: 'spike', text: 'The training loss rose from 1.29 to 3.04 within 50 steps.', severity: 'warning' },
      { time_ns: now - 0.1 * hour, step: 930_200, kind: 'disk', text: 'The file system of the run has 3.1 GiB left; a checkpoint takes 1.4 GiB.', severity: 'warning' },
    ],
  });
  const ranks = make('gpt-8r1', { state: 'running', live: true, source: 'live', step: 41_200, total_steps: 100_000 }, 5.2, language(100_000, 5), {
    graph: { ranks: 8, stepsPerSecond: 2.2, timed: true, slowRank: 5 }, perSecond: 2.2, samplesPerStep: 512,
    alerts: [{ time_ns: now - 0.2 * hour, step: 39_800, kind: 'slow rank', text: 'Rank 5 takes 31 % longer for a step than the other ranks.', severity: 'error' }],
  });
  const digits = (/** @type {number} */ number) => ({ number, step: number * 46, title: `validate, batch ${number}: 2 of 32 wrong`, text: 'predicted 7 2 1 0 4 1 4 9 5 9 0 6 9 0 1 5\ntarget    7 2 1 0 4 1 4 9 6 9 0 6 9 0 1 5', result: null, image: picture(number), tensors: [{ dtype: 'float32', shape: [32, 10] }, { dtype: 'uint8', shape: [32, 28, 28] }] });
  const judged = (/** @type {number} */ number) => ({
    number, step: 140 * Math.ceil(number / 8), title: `validate ${number % 8}`, text: '', image: picture(number, 28, 1, 1), tensors: [],
    result: { split: 'validate', index: number % 8, right: String(number % 10), predicted: String(number % 7 === 0 ? (number + 2) % 10 : number % 10), probability: 0.5 + (number % 5) / 10 },
  });
  const names = Array.from({ length: 10 }, (_, index) => String(index));
  const past = [
    make('mnist-9ix', { step: 1120, total_steps: 1120 }, 26, images(1120), { sampleCount: 48, sample: judged, classes: names, hyperparameters: hyperparametersOf('mnist', 0.002) }),
    make('mnist-2ab', { step: 1120, total_steps: 1120 }, 27, images(1120, 0.97), { sampleCount: 24, sample: digits, hyperparameters: hyperparametersOf('mnist', 0.01, 128, 2) }),
    make('mnist-7qq', { step: 640, total_steps: 1120, state: 'failed', message: 'component \'data_loader\': sample 57: train-images-idx3-ubyte.gz ends in the middle of an image' }, 30, images(1120, 0.95), { hyperparameters: hyperparametersOf('mnist', 0.002) }),
    make('cifar10-b0t', { step: 9_300, total_steps: 39_000, state: 'killed', message: 'process \'main\' was ended by signal 9 (out of memory?)' }, 52, images(39_000, 0.92), { classes: Array.from({ length: 100 }, (_, index) => `class ${index}`) }),
    make('cifar10-a41', { step: 39_000, total_steps: 39_000, source: 'recording', state: 'recording', message: 'the run has ended', directory: '/home/user/recordings/cifar10-a41.mcap' }, 75, images(39_000, 0.93), { graph: { ranks: 1, stepsPerSecond: 60, timed: false } }),
    ...Array.from({ length: 14 }, (_, index) => make(`sweep-lr-${String(index).padStart(2, '0')}`, { step: 5000, total_steps: 5000, name: 'sweep' }, 100 + index, images(5000, 0.9 + index * 0.005), { hyperparameters: hyperparametersOf('mnist', 0.0005 * 1.5 ** index, 64, index) })),
  ];
  const bad = make(hostile, { state: 'running', live: true, source: 'live', step: 5_000, total_steps: null, name: hostile, file: 'a-very-long-name-of-a-launch-file-that-nobody-should-ever-choose-but-somebody-will.toml', message: '' }, 6, [
    { stage: 'train', name: hostile, every: 10, shape: (step, random) => (step > 2500 && step < 3000 ? Number.NaN : Math.sin(step / 300) + 0.1 * random.normal()) },
    { stage: '\u202etxet desrever', name: 'a_very_long_name_of_a_metric_that_does_not_fit_into_any_reasonable_card_whatever_its_width_may_be', every: 10, shape: (step) => 1e-9 * step },
    { stage: 'train', name: 'constant', every: 10, shape: () => 3 },
    { stage: 'train', name: 'nothing_but_nan', every: 10, shape: () => Number.NaN },
    { stage: 'train', name: 'negative', every: 10, shape: (step) => -step },
    ...thousand(),
  ], {
    graph: { ranks: 1, stepsPerSecond: 30, timed: false, rename: (name) => (name === 'logger' ? hostile : name === 'optimizer' ? 'optimizer_with_a_name_that_is_much_longer_than_its_box' : name) },
    log: (number) => ({ ...logRecord(number, now - (4000 - number) * 1e8), component: number % 3 ? hostile : 'optimizer', text: `${hostile} line ${number} \u202e desrever si siht ${'long '.repeat(number % 50)}` }),
    alerts: [{ time_ns: now, step: null, kind: 'nan', text: hostile, severity: 'error' }],
    histograms: histogramList([hostile, 'a_very_long_name_of_a_tensor_that_does_not_fit_into_any_reasonable_card.weight']), classes: ['cat', hostile],
    sampleCount: 3, sample: (number) => ({ number, step: number, title: hostile, text: `${hostile}\n${'x'.repeat(500)}`, image: number === 1 ? 'https://example.org/spy.png' : null, tensors: [], result: { split: hostile, index: number, right: hostile, predicted: 'cat', probability: 0.5 } }),
    changes: [{ time_ns: now, step: null, component: 'optimizer', name: 'lr', from: 1, to: hostile, who: hostile }],
  });
  return [long, ranks, bad, ...past];
}
