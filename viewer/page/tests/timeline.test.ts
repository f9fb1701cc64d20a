// SPDX-License-Identifier: Apache-2.0
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { hostile } from '../mock/runs.js';
import { MockServer } from '../mock/server.js';

// Tests the timeline in a real browser, with the made-up runs of the mock server.

let browser: Browser;
let server: MockServer;
let address: string;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  return () => browser.close();
});

beforeEach(async () => {
  server = new MockServer({ growing: false });
  address = await server.start();
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(30_000);
  complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
});
afterEach(async () => {
  await page.close();
  await server.stop();
  expect(complaints, 'errors of the browser').toEqual([]);
});

const open = (run: string): Promise<unknown> => page.goto(`${address}#/timeline/${encodeURIComponent(run)}`);
const picture = () => page.locator('.timeline-canvas canvas');
/** Returns the length of time that the picture shows, according to its description. */
const shown = async (): Promise<string> => / in (.*?);/.exec((await picture().getAttribute('aria-label')) ?? '')![1]!;
const asked = (): number[] => server.questions.filter((one: { op: string }) => one.op === 'timeline').map((one: { ms: number }) => one.ms);

test('A batch is followed from component to component with keys alone.', async () => {
  await open('shakespeare-k2p');
  await expect.poll(shown).toBe('500 ms');
  await page.keyboard.press('n');
  const rows = page.locator('.timeline-path tbody tr');
  await rows.first().waitFor();
  expect(await page.locator('.timeline-path h2').innerText()).toBe('Batch 1,000 of rank 0');
  expect((await rows.allInnerTexts()).map((text) => text.split('\t').at(-1))).toEqual(
    ['read', 'a task', 'Batch from data_loader', 'handles Batch', 'forward', 'backward', 'Gradients from accelerator_host', 'update'],
  );
  await page.keyboard.press('n');
  await expect.poll(() => page.locator('.timeline-path h2').innerText()).toBe('Batch 1,001 of rank 0');
  await page.keyboard.press('Escape');
  await page.locator('.timeline-hint').waitFor();
});

test('The picture is zoomed and moved with the mouse and with keys, and shows everything again.', async () => {
  await open('shakespeare-k2p');
  await expect.poll(shown).toBe('500 ms');
  await page.keyboard.press('+');
  await expect.poll(shown).toBe('300 ms');
  await page.keyboard.press('0');
  await expect.poll(shown).toBe('500 ms');
  await picture().hover({ position: { x: 700, y: 60 } });
  await page.mouse.wheel(0, -300);
  await expect.poll(shown).not.toBe('500 ms');
  const zoomed = await shown();
  await page.mouse.down();
  await page.mouse.move(500, 200, { steps: 4 });
  await page.mouse.up();
  expect(await shown(), 'moving does not zoom').toBe(zoomed);
  await picture().dblclick({ position: { x: 700, y: 100 } });
  await expect.poll(shown).toBe('500 ms');
});

test('Pressing on a slice follows its batch.', async () => {
  await open('shakespeare-k2p');
  await expect.poll(shown).toBe('500 ms');
  await page.keyboard.press('n');
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
  await picture().click({ position: { x: 192, y: 30 } });
  await expect.poll(() => page.locator('.timeline-path h2').innerText()).toBe('Batch 1,000 of rank 0');
});

test('Another length is recorded anew, and so is a second time.', async () => {
  await open('shakespeare-k2p');
  await expect.poll(shown).toBe('500 ms');
  await page.getByRole('radio', { name: '2 s' }).click();
  await expect.poll(shown).toBe('2 s');
  await page.keyboard.press('o');
  await expect.poll(asked).toEqual([500, 2000, 2000]);
});

test('Names that look like HTML stay names, and a run that has ended has no timeline.', async () => {
  await open(hostile);
  await picture().waitFor();
  await page.keyboard.press('n');
  await page.locator('.timeline-path tbody tr').first().waitFor();
  expect(await page.evaluate(() => document.querySelectorAll('.timeline-path img, .timeline-path b').length)).toBe(0);
  const over = server.runs.find((one: { info: { live: boolean } }) => !one.info.live)!;
  await open(over.info.run);
  await page.getByText('A timeline can only be recorded while a run is running.').waitFor();
});
