// SPDX-License-Identifier: Apache-2.0
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { hostile } from '../mock/runs.js';
import { MockServer } from '../mock/server.js';

// Drives the built page in a real browser. The runs come from the mock server, which applies a stricter content
// security policy than the real server. The tests would report it if the page fetched something from another server or
// evaluated a text as code.

const longRun = 'shakespeare-k2p';
const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

declare global {
  interface Window {
    /** When the first curve was drawn, in milliseconds since the navigation. */
    drawnAt?: number;
    /** How long frames took, in milliseconds. */
    frameTimes?: number[];
  }
}

let browser: Browser;
let server: MockServer;
let address: string;
let context: BrowserContext;
let page: Page;
let complaints: string[];
let foreign: string[];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  return () => browser.close();
});

beforeEach(async () => {
  server = new MockServer();
  address = await server.start();
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  complaints = [];
  foreign = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
});
afterEach(async () => {
  await context.close();
  await server.stop();
  expect(foreign, 'requests to elsewhere').toEqual([]);
  expect(complaints, 'errors and warnings of the browser').toEqual([]);
});

const open = async (view: string, run = longRun, more = ''): Promise<void> => {
  await page.goto(`${address}#/${view}/${encodeURIComponent(run)}${more}`);
  await page.locator('.link-light.open').waitFor();
};
const asked = (op: string): Record<string, unknown>[] => server.questions.filter((one: { op: string }) => one.op === op) as Record<string, unknown>[];
/** Waits until the page has asked the server a question `op` for which `such` returns true, and returns the
 * question. */
const untilAsked = async (op: string, such: (question: Record<string, unknown>) => boolean = () => true): Promise<Record<string, unknown>> => {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const found = asked(op).find(such);
    if (found) return found;
  }
  throw new Error(`the page has not asked '${op}' as expected; it asked ${JSON.stringify(asked(op)).slice(0, 2000)}`);
};
/** Returns the number of pixels of a card that have approximately the colour of a curve. */
const inked = (card: string): Promise<number> =>
  page.evaluate((label) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`article[aria-label="${label}"] canvas`);
    if (!canvas || canvas.width === 0) return 0;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })!;
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 200 && data[i + 2]! > data[i]! + 60) count++;
    return count;
  }, `Curves of ${card}`);

test('The page opens on the newest live run and shows its components.', async () => {
  await page.goto(address);
  await page.getByRole('button', { name: /accelerator_host.*bottleneck/ }).waitFor();
  expect(await page.locator('.tile').count()).toBe(6);
  expect(await page.locator('.link-label').count()).toBeGreaterThanOrEqual(7);
  await page.locator('.tile-head', { hasText: 'data_loader' }).click();
  await page.locator('.details').getByText('/batches').waitFor();
});

test('Ranks are stacked, apart, folded and unfolded.', async () => {
  await open('graph', 'gpt-8r1');
  await page.getByRole('button', { name: /^accelerator_host ×8/ }).waitFor();
  expect(await page.locator('.rank-strip').first().locator('span').count()).toBe(8);
  await page.getByRole('radio', { name: 'Ranks apart' }).click();
  await page.locator('.frame').getByText('rank 0').waitFor();
  expect(await page.locator('.tile').count()).toBe(3 + 3 + 7);
  await page.getByRole('button', { name: 'Unfold all' }).click();
  await expect.poll(() => page.locator('.tile').count()).toBe(3 + 8 * 3);
  await page.locator('.frame').getByText('rank 3').click();
  await expect.poll(() => page.locator('.tile').count()).toBe(3 + 7 * 3 + 1);
});

test('The curve of a million steps is drawn within a second of navigation.', async () => {
  await page.goto('about:blank');
  await page.addInitScript(() => {
    const stroke = CanvasRenderingContext2D.prototype.stroke;
    let segments = 0;
    const lineTo = CanvasRenderingContext2D.prototype.lineTo;
    CanvasRenderingContext2D.prototype.lineTo = function (...point) {
      segments++;
      return lineTo.apply(this, point);
    };
    CanvasRenderingContext2D.prototype.stroke = function (this: CanvasRenderingContext2D, ...path: unknown[]) {
      // A grid line has one segment; a curve has hundreds.
      if (segments > 200) window.drawnAt ??= performance.now();
      segments = 0;
      stroke.apply(this, path as [Path2D]);
    };
  });
  await open('curves');
  await page.waitForFunction(() => window.drawnAt !== undefined);
  const drawnAt = await page.evaluate(() => window.drawnAt!);
  console.log(`the curve of a million steps was drawn ${Math.round(drawnAt)} ms after navigation`);
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  const { rows } = (await untilAsked('series')) && server.find(longRun).series[0]!;
  expect(rows).toBeGreaterThan(1_000_000 - 1);
  if (process.env['MEASURE']) expect(drawnAt).toBeLessThan(1000);
});

test('Curves move while the run goes on.', async () => {
  await open('curves');
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  const before = await page.locator('.progress b').textContent();
  await expect.poll(() => page.locator('.progress b').textContent()).not.toBe(before);
  const first = asked('curve').filter((one) => one['name'] === 'loss' && one['stage'] === 'train').length;
  await expect.poll(() => asked('curve').filter((one) => one['name'] === 'loss' && one['stage'] === 'train').length).toBeGreaterThan(first);
});

test('Dragging zooms all cards, asks for the details, and a double click goes back.', async () => {
  await open('curves');
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  const plot = (await page.locator('.card .u-over').first().boundingBox())!;
  await page.mouse.move(plot.x + plot.width * 0.25, plot.y + 50);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 60, { steps: 4 });
  await page.mouse.up();
  const detail = await untilAsked('curve', (one) => one['name'] === 'loss' && one['stage'] === 'train' && one['from'] !== null);
  // The page requests twice the part that was chosen. This was the part from a quarter to half of a million steps, and
  // half of its width is added at each side.
  expect(detail['from'] as number).toBeGreaterThan(80_000);
  expect(detail['from'] as number).toBeLessThan(170_000);
  expect(detail['to'] as number).toBeGreaterThan(580_000);
  expect(detail['to'] as number).toBeLessThan(670_000);
  await untilAsked('curve', (one) => one['name'] === 'gradient_norm' && one['from'] !== null);
  await page.getByRole('button', { name: 'Reset zoom' }).waitFor();
  await page.mouse.dblclick(plot.x + 100, plot.y + 50);
  await expect.poll(() => page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(0);
});

test('Frames stay short while zooming with the wheel.', async () => {
  await open('curves');
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  await page.locator('.card').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('.card.big').waitFor();
  await page.waitForTimeout(500);
  await page.evaluate(() => {
    const frames: number[] = (window.frameTimes = []);
    let last = performance.now();
    const tick = (now: number): void => {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const plot = (await page.locator('.u-over').boundingBox())!;
  await page.mouse.move(plot.x + plot.width / 2, plot.y + plot.height / 2);
  for (let i = 0; i < 60; i++) await page.mouse.wheel(0, i % 20 < 12 ? -60 : 60);
  const frames = (await page.evaluate(() => window.frameTimes!)).sort((a, b) => a - b);
  const p95 = frames[Math.floor(frames.length * 0.95)]!;
  console.log(`zooming: ${frames.length} frames, median ${frames[frames.length >> 1]!.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, longest ${frames.at(-1)!.toFixed(1)} ms`);
  await untilAsked('curve', (one) => one['from'] !== null);
  if (process.env['MEASURE']) expect(p95).toBeLessThan(50);
});

test('A thousand series do not freeze the page: only those that can be seen are asked for.', async () => {
  await open('curves', hostile);
  await page.locator('.card').nth(900).waitFor({ state: 'attached' });
  await expect.poll(() => asked('curve').length).toBeGreaterThan(4);
  expect(new Set(asked('curve').map((one) => one['name'])).size).toBeLessThan(30);
  await page.getByLabel('Search series').fill('layers.99 query');
  await expect.poll(() => page.locator('.card').count()).toBe(1);
});

test('Runs are overlaid, smoothing and the x axis are asked for, and the choice survives a reload.', async () => {
  await open('curves', 'mnist-9ix');
  await page.getByRole('checkbox', { name: 'Compare mnist-2ab' }).check();
  await page.locator('.legend').first().getByText('mnist-2ab').first().waitFor();
  await page.getByRole('radio', { name: 'Time' }).click();
  await untilAsked('curve', (one) => one['run'] === 'mnist-2ab' && one['x'] === 'time');
  await page.getByRole('slider').fill('0');
  await untilAsked('curve', (one) => one['smooth'] === 0);
  await page.reload();
  await page.locator('.legend').first().getByText('mnist-2ab').first().waitFor();
  await page.getByRole('radio', { name: 'Hyperparameters' }).click();
  await page.getByRole('row', { name: /^optimizer.lr/ }).waitFor();
  expect(await page.locator('tr.differs').count()).toBe(3);
});

test('Editing a parameter sends the value, and only an allowed one.', async () => {
  await open('parameters');
  const field = page.getByLabel('accelerator_host.clip_norm');
  await field.fill('-1');
  await page.getByText("'-1' is not allowed; a number >= 0.").waitFor();
  await field.press('Enter');
  await field.fill('0.25');
  await field.press('Enter');
  const question = await untilAsked('set_parameter');
  expect(question).toMatchObject({ run: longRun, component: 'accelerator_host', name: 'clip_norm', value: 0.25 });
  await page.locator('.history').getByText('0.25').waitFor();
  await page.locator('.notices').getByText('accelerator_host.clip_norm is 0.25 now.').waitFor();
  await page.getByLabel('optimizer.lr').fill('5');
  await page.getByLabel('optimizer.lr').press('Enter');
  await page.getByText('the loss would not stay finite').waitFor();
  expect(asked('set_parameter')).toHaveLength(2);
});

test('Pause and resume, and stop only after a confirmation.', async () => {
  await open('graph');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.top .pill', { hasText: 'Paused' }).waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.top .pill', { hasText: 'Running' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(asked('act').map((one) => one['action'])).toEqual(['pause', 'go_on']);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await page.locator('.top .pill', { hasText: 'Ended' }).waitFor();
});

test('A run that is killed says so.', async () => {
  await open('curves');
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  server.kill(longRun);
  await page.getByRole('alert').getByText(`${longRun} was killed.`).waitFor();
  await page.getByRole('alert').getByText("process 'main' was ended by signal 9").waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
});

test('A server that is gone is announced, and the page goes on when it is back.', async () => {
  await open('log');
  await page.locator('.log-line').first().waitFor();
  const { port } = server;
  await server.stop();
  await page.getByRole('alert').getByText('The server is gone.').waitFor();
  await page.locator('.log-line').first().waitFor();
  server = new MockServer();
  await server.start(port);
  // The page also tries without the click, and then the button disappears.
  await page.getByRole('button', { name: 'Try now' }).click({ timeout: 1000 }).catch(() => {});
  await page.locator('.link-light.open').waitFor();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  await untilAsked('watch', (one) => (one['what'] as string[]).includes('log'));
  complaints = complaints.filter((text) => !/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(text));
});

test('Who may only watch is told why the controls do not work.', async () => {
  server.role = 'watch';
  await open('parameters');
  const pause = page.getByRole('button', { name: 'Pause' });
  expect(await pause.getAttribute('title')).toContain('may only watch');
  await pause.click({ force: true });
  await page.keyboard.press('P');
  const field = page.getByLabel('optimizer.lr');
  expect(await field.getAttribute('readonly')).not.toBeNull();
  expect(await field.getAttribute('title')).toContain('may only watch');
  expect(asked('act')).toEqual([]);
});

test('The log follows the end until it is scrolled up, and older lines come on request.', async () => {
  await open('log');
  await page.getByRole('button', { name: 'Following the end' }).waitFor();
  await page.locator('.log-line').first().waitFor();
  const last = (): Promise<string | null> => page.locator('.log-line').last().textContent();
  const before = await last();
  await expect.poll(last).not.toBe(before);
  await page.mouse.move(700, 400);
  await page.mouse.wheel(0, -200);
  await page.getByRole('button', { name: 'Follow the end' }).waitFor();
  await page.locator('.log-frame').evaluate((list) => list.scrollTo(0, 0));
  await untilAsked('log', (one) => one['before'] !== null);
  expect(await page.locator('.log-line').count()).toBeLessThan(120);
  await page.getByRole('combobox', { name: 'From level' }).selectOption('error');
  await untilAsked('log', (one) => one['level'] === 'error');
  await page.locator('.log-line.level-error').first().click();
  await page.locator('.log-detail').getByText('The next attempt follows in 10 s.').waitFor();
});

test('Texts that look like HTML stay texts, in every view.', async () => {
  for (const view of ['graph', 'curves', 'samples', 'histograms', 'confusion', 'log', 'parameters', 'alerts', 'runs']) {
    await open(view, hostile);
    await page.locator('main').getByText('<img src=x').first().waitFor({ state: 'attached' });
    expect(await page.locator('main img[src="x"], main b:text("bold")').count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
  }
});

test('The keyboard alone suffices.', async () => {
  await open('graph');
  await page.locator('.tile').first().waitFor();
  await page.keyboard.press('c');
  await expect.poll(() => page.url()).toContain('#/curves/');
  await page.locator('.card').first().waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await expect.poll(() => inked('loss')).toBeGreaterThan(300);
  // The first card can be reached with Tab, and can then be zoomed with keys.
  for (let i = 0; i < 80 && !(await page.evaluate(() => document.activeElement?.classList.contains('card'))); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('+');
  await untilAsked('curve', (one) => one['from'] !== null);
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Unpin' }).waitFor();
  await page.keyboard.press('g');
  await page.locator('.tile').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('.details').getByText('Plugin').waitFor();
  // The focused element has a visible outline.
  expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).toBe('solid');
  await page.keyboard.press('l');
  await page.locator('#log-search').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('checkpoint');
  await untilAsked('log', (one) => one['text'] === 'checkpoint');
  await page.keyboard.press('Escape');
  await page.keyboard.press('P');
  await untilAsked('act', (one) => one['action'] === 'pause');
});

test('The theme follows the system and can be switched.', async () => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open('graph');
  const background = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.keyboard.press('t');
  expect(await background()).not.toBe(dark);
  await page.keyboard.press('t');
  expect(await background()).toBe(dark);
});

test('Nothing is wider than a phone.', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const view of ['graph', 'curves', 'samples', 'histograms', 'confusion', 'log', 'parameters', 'alerts', 'runs']) {
    await open(view);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), view).toBeLessThanOrEqual(390);
  }
});

test('Histograms are drawn over time, and described for the step that is pointed at.', async () => {
  await open('histograms', 'mnist-9ix');
  const card = page.locator('.heat-card', { hasText: 'hidden.weight' });
  const map = card.getByRole('img');
  await expect.poll(() => map.getAttribute('aria-label')).toContain('step 1,120');
  const coloured = (): Promise<number> =>
    card.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, index) => index % 4 === 3 && value > 0).length / (canvas.width * canvas.height);
    });
  await expect.poll(coloured).toBeGreaterThan(0.2);
  await map.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => map.getAttribute('aria-label')).toContain('step 1,100');
  await page.getByRole('radio', { name: 'Activations' }).click();
  await page.locator('.heat-card').nth(3).waitFor();
  expect(await page.locator('.heat-card').count()).toBe(4);
});

test('A confusion matrix shows an earlier validation, and the most frequent mistakes.', async () => {
  await open('confusion', 'mnist-9ix');
  await page.locator('.matrix').waitFor();
  expect(await page.locator('.matrix td.right').allTextContents()).toEqual(Array(10).fill('95'));
  expect(await page.locator('.mistakes li').count()).toBeGreaterThan(0);
  await page.getByRole('slider', { name: 'Step' }).fill('0');
  await untilAsked('confusion', (one) => one['step'] === 140);
  await page.getByText('step 140', { exact: true }).waitFor();
  await open('confusion', 'cifar10-b0t');
  await page.locator('.matrix-picture').waitFor();
});

test('Of judged samples, only the mistakes can be shown.', async () => {
  await open('samples', 'mnist-9ix');
  await page.locator('.verdict.right').first().waitFor();
  await page.getByLabel('Only mistakes').check();
  await expect.poll(() => page.locator('.verdict.right').count()).toBe(0);
  expect(await page.locator('.verdict.wrong').first().textContent()).toContain('right: ');
});
