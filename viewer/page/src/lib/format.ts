// SPDX-License-Identifier: Apache-2.0
// Numbers and times as the page shows them. An unknown number is a dash.

export const unknown = '–';

const thin = '\u202f';

/** 1234567 -> "1,234,567" */
export function count(value: number | null | undefined): string {
  return value == null || !Number.isFinite(value) ? unknown : Math.round(value).toLocaleString('en-US');
}

/** 1234567 -> "1.23 M" */
export function short(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return unknown;
  return scaled(value, 1000, ['', 'k', 'M', 'G', 'T']);
}

/** 1234567 -> "1.18 MiB" */
export function bytes(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return unknown;
  return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}

export const bytesPerSecond = (value: number | null | undefined): string =>
  value == null ? unknown : `${bytes(value)}/s`;

export const hertz = (value: number | null | undefined): string => (value == null ? unknown : `${short(value)}/s`);

/** 0.314 -> "31 %" */
export const percent = (share: number | null | undefined): string =>
  share == null || !Number.isFinite(share) ? unknown : `${Math.round(share * 100)}${thin}%`;

export const cpu = (value: number | null | undefined): string =>
  value == null || !Number.isFinite(value) ? unknown : `${value >= 10 ? Math.round(value) : value.toFixed(1)}${thin}%`;

/** A measured value with five significant digits: 0.123456 -> "0.12346", 1e-7 -> "1e-7". */
export function measure(value: number | null | undefined): string {
  if (value == null) return unknown;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3).replace(/\.?0+e/, 'e').replace('e+', 'e');
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  return size >= 1000 ? value.toLocaleString('en-US', { maximumFractionDigits: 1 }) : String(Number(value.toPrecision(5)));
}

/** 3725 -> "1 h 02 min" */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds) || seconds < 0) return unknown;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** The time of day, with milliseconds: "14:03:07.123". */
export function clock(ns: number): string {
  const date = new Date(ns / 1e6);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** "22 Nov, 14:03"; with the year if it is not the current year. */
export function moment(ns: number): string {
  if (!ns) return unknown;
  const date = new Date(ns / 1e6);
  const month = date.toLocaleString('en-GB', { month: 'short' });
  const year = date.getFullYear() === new Date().getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${date.getDate()} ${month}${year}, ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The last part of a path: "/a/b/mnist.toml" -> "mnist.toml". */
export const lastPart = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? path;

/** Any JSON value on one line, without the quotation marks of a text. */
export function value(json: unknown): string {
  if (typeof json === 'string') return json;
  if (typeof json === 'number') return String(json);
  return json === undefined ? unknown : JSON.stringify(json);
}

function scaled(value: number, base: number, units: string[]): string {
  let size = Math.abs(value);
  let unit = 0;
  while (size >= base * 0.9995 && unit < units.length - 1) {
    size /= base;
    unit++;
  }
  const digits = size >= 100 || (unit === 0 && Number.isInteger(value)) ? 0 : size >= 10 ? 1 : 2;
  const text = `${value < 0 ? '−' : ''}${size.toFixed(digits)}`;
  return units[unit] ? `${text}${thin}${units[unit]}` : text;
}

const two = (value: number): string => String(value).padStart(2, '0');
