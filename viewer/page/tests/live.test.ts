// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { LiveRun, read } from './live_run';

// Drives the built page in a real browser against the real server and a real training run, in the order of the tests:
// some of them change the run, and the last ones kill it and open what it has left. TRAINYARD_PROGRAM names the program, and TRAINYARD_PLUGIN_PATH its plugins.

interface Frame {
  id?: number;
  op?: string;
  ok?: boolean;
  result?: unknown;
  [key: string]: unknown;
}

let browser: Browser;
let run: LiveRun;
let address: string;
let context: BrowserContext;
let page: Page;
let sent: Frame[];
let complaints: string[];
let foreign: string[];

beforeAll(async () => {
  const program = process.env['TRAINYARD_PROGRAM'];
  if (!program) throw new Error('TRAINYARD_PROGRAM must name the program trainyard');
  run = new LiveRun(program);
  browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  return async () => {
    await browser.close();
    await run.end();
  };
});
beforeAll(async () => {
  run.launch();
  await vi.waitFor(() => expect(run.reports().length, run.said()).toBeGreaterThan(50), { timeout: 60_000 });
  address = await run.view();
});

beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  [sent, complaints, foreign] = [[], [], []];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin()) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  page.on('websocket', (socket) => {
    if (!socket.url().startsWith(origin().replace('http', 'ws'))) foreign.push(socket.url());
    socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)) as Frame));
  });
});
afterEach(async () => {
  await context.close();
  expect(foreign, 'requests to elsewhere').toEqual([]);
  expect(complaints, 'errors and warnings of the browser').toEqual([]);
});

const origin = (): string => new URL(address).origin;

/** Opens the page with the token, as a user does, and opens a view. */
async function open(title: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: title }).click();
  await page.locator('.link-light.open').waitFor();
}

/** The last step that the page shows. */
const step = async (): Promise<number> => Number((await page.locator('.progress b').textContent())?.replaceAll(',', ''));

/** Returns the pixels of a card's canvas as a text. If the text has changed, another curve was drawn. */
const picture = (card: string): Promise<string> =>
  page.locator(`article[aria-label="Curves of ${card}"] canvas`).evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

const pill = (text: string) => page.locator('.top .pill', { hasText: text });

test('The token goes from the address into a cookie, and the page shows the components of the run with their shares.', async () => {
  await open('Graph');
  expect(page.url()).not.toContain('token');
  await pill('Running').waitFor();
  await expect.poll(() => page.locator('.tile').count()).toBe(7);
  await expect.poll(() => page.locator('.tile .load-text').allTextContents()).toHaveLength(7);
  for (const text of await page.locator('.tile .load-text').allTextContents()) expect(text).toMatch(/^busy \d+/);
  // The optimizer waits for gradients most of the time.
  await page.locator('.tile-head', { hasText: 'optimizer' }).click();
  await page.locator('.details').getByText(/waiting for accelerator_host/).first().waitFor();
  // The run is busy, so some component holds it up.
  await page.locator('.tag.bottleneck').first().waitFor();
});

test('Curves move while the run goes on.', async () => {
  await open('Curves');
  await expect.poll(() => page.locator('article[aria-label="Curves of loss"] canvas').count()).toBe(1);
  const before = await picture('loss');
  const begun = await step();
  await expect.poll(() => picture('loss')).not.toBe(before);
  await expect.poll(step).toBeGreaterThan(begun);
  expect(begun).toBeLessThanOrEqual(read(run.reports().at(-1)).step);
});

test('Dragging zooms: the server is asked for the part, and Reset zoom goes back.', async () => {
  await open('Curves');
  const plot = (await page.locator('.card .u-over').first().boundingBox())!;
  const steps = await step();
  await page.mouse.move(plot.x + plot.width * 0.25, plot.y + 50);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 60, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => sent.filter((one) => one.op === 'curve' && one['from'] !== null).length).toBeGreaterThan(0);
  const asked = sent.find((one) => one.op === 'curve' && one['from'] !== null)!;
  expect(asked['from'] as number).toBeGreaterThan(0);
  expect(asked['to'] as number).toBeGreaterThan(asked['from'] as number);
  expect(asked['from'] as number).toBeLessThan(steps * 2);
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(0);
});

test('A learning rate that is edited in the page changes the run: its own reports say so.', async () => {
  await open('Parameters');
  const field = page.getByLabel('optimizer.lr', { exact: true });
  await field.fill('fast');
  await page.getByText("'fast' is not allowed").waitFor();
  await field.fill('0.0625');
  await field.press('Enter');
  await expect.poll(() => read(run.reports().at(-1)).values['learning_rate']).toBe(0.0625);
  expect(read(run.reports()[0]).values['learning_rate']).toBe(0.001);
  await page.locator('.history').getByText('0.0625').waitFor();
  await page.locator('.history').getByText(/step [\d,]+, .*viewer \(control\)/).waitFor();
});

test('Pause holds the run, and Resume lets it go on.', async () => {
  await open('Curves');
  await page.getByRole('button', { name: 'Pause' }).click();
  await pill('Paused').waitFor();
  // The last reports may not be in the file yet. The test waits until their number no longer changes.
  let held = -1;
  await expect.poll(() => held === (held = run.reports().length), { interval: 500 }).toBe(true);
  await page.getByRole('button', { name: 'Resume' }).click();
  await pill('Running').waitFor();
  await expect.poll(() => run.reports().length).toBeGreaterThan(held);
});

test('A wrong token gets nothing.', async () => {
  const wrong = `${origin()}/?token=${'A'.repeat(43)}`;
  const answer = (await page.goto(wrong))!;
  expect(answer.status()).toBe(403);
  expect(await page.locator('script, .shell').count()).toBe(0);
  const page_js = await context.request.get(`${origin()}/page.js`);
  expect(page_js.status()).toBe(403);
  complaints = complaints.filter((text) => !text.includes('403'));
});

test('A page from elsewhere gets nothing, although the browser has the cookie.', async () => {
  await open('Graph');
  const other = await foreignPage();
  const visitor = await context.newPage();
  await visitor.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const got = await visitor.evaluate(async (target) => {
    const socket = new Promise((done) => {
      const made = new WebSocket(`${target.replace('http', 'ws')}/ws`);
      made.onopen = () => done('open');
      made.onerror = () => done('refused');
    });
    const fetched = await fetch(`${target}/page.js`, { credentials: 'include' }).then((answer) => answer.status, () => 'refused');
    return [await socket, fetched];
  }, origin());
  expect(got).toEqual(['refused', 'refused']);
  // The foreign page cannot show the viewer in a frame, either.
  await expect.poll(() => visitor.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
  await visitor.close();
  await new Promise((done) => other.close(done));
});

test('A run that is killed says so.', async () => {
  await open('Curves');
  await pill('Running').waitFor();
  run.kill();
  await page.getByRole('alert').getByText(/seen-\w+ was killed\./).waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  await page.locator('article[aria-label="Curves of loss"] canvas').waitFor();
});

test('What is left on disk opens again: how the run ended, its curves, hyperparameters and changes, and the graph of its recording.', async () => {
  address = await run.view('out');
  await open('Graph');
  await pill('Killed').waitFor();
  await page.locator('.details').getByText('the launcher was killed').waitFor();
  await expect.poll(() => page.locator('.tile').count()).toBe(7);
  await page.getByRole('button', { name: 'Curves' }).click();
  await page.locator('article[aria-label="Curves of loss"] canvas').waitFor();
  await page.getByRole('radio', { name: 'Hyperparameters' }).click();
  await page.getByRole('row', { name: /^optimizer\.lr.*0\.001/ }).waitFor();
  await page.getByRole('button', { name: 'Parameters' }).click();
  await page.locator('.history').getByText('0.0625').waitFor();
  await page.locator('.history').getByText('Pause').waitFor();
});

test('A recording opens by itself.', async () => {
  address = await run.view('out/recording.mcap');
  await open('Curves');
  await pill('Recording').waitFor();
  await page.locator('article[aria-label="Curves of loss"] canvas').waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
});

/** Starts another server, whose page tries to show the viewer in a frame. */
function foreignPage(): Promise<Server> {
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end(`<!doctype html><iframe src="${origin()}/"></iframe>`);
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}
