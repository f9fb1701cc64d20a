// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {null | boolean | number | string | unknown[]} Value
 * @typedef {{ name: string, kind: string, allowed: string, unit: string, settable: boolean, help: string, value: Value }} Declaration
 */

/**
 * @param {string} name @param {string} kind @param {string} allowed @param {Value} value @param {boolean} settable
 * @param {string} help @returns {Declaration}
 */
const one = (name, kind, allowed, value, settable, help, unit = '') => ({ name, kind, allowed, unit, settable, help, value });

/** The parameters of a run's components, as the plugins declare them. */
export const parametersOf = () => [
  {
    component: 'optimizer',
    parameters: [
      one('rule', 'string', 'one of: sgd, adam, adamw, rmsprop, adagrad', 'adamw', false, 'update rule of torch.optim'),
      one('lr', 'number', 'a number', 0.001, true, "base learning rate; -1: torch's default (0.001; rmsprop and adagrad 0.01)"),
      one('weight_decay', 'number', 'a number', -1, false, "weight decay; -1: torch's default (adamw 0.01, else 0)"),
      one('betas', 'list of numbers', 'a list of numbers', [0.9, 0.999], false, 'adam, adamw: decay of the two averages'),
      one('schedule', 'string', 'one of: constant, step, cosine, linear, one_cycle', 'cosine', false, 'schedule of the learning rate'),
      one('warmup_steps', 'integer', 'an integer >= 0 (steps)', 2000, false, 'linear warm-up before the schedule', 'steps'),
    ],
  },
  {
    component: 'accelerator_host',
    parameters: [
      one('clip_norm', 'number', 'a number >= 0', 1, true, 'limit of the L2 norm of all gradients together; 0 = no limit'),
      one('clip_value', 'number', 'a number >= 0', 0, true, 'limit of the absolute value of each gradient; 0 = no limit'),
      one('log_every_steps', 'integer', 'an integer >= 1 (steps)', 10, true, 'steps between two reports of training metrics', 'steps'),
      one('log_device_stats', 'bool', 'a bool', false, true, "add the accelerator's memory and utilization to the training metrics"),
      one('precision', 'string', 'one of: 32, 64, bf16-mixed, 16-mixed', 'bf16-mixed', false, 'number format of the computation'),
    ],
  },
  {
    component: 'data_loader',
    parameters: [
      one('batch_size', 'integer', 'an integer >= 1', 64, false, 'samples of a full batch of one rank'),
      one('workers', 'integer', 'an integer >= 0', 4, false, 'threads that read samples'),
    ],
  },
  { component: 'logger', parameters: [one('console_level', 'string', 'one of: trace, debug, info, warning, error, critical', 'info', true, 'the least important level on the console')] },
];
