// Walks the page of a running service with Chromium: its main paths, keyboard, links, small screens; fails on errors of
// the console and serious violations that axe-core finds. tools/try-page runs it.
//
//   node walk.js URL URL_WITH_TOKEN TOKEN DATA PICTURES
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, guardedUrl, token, data, pictures] = process.argv.slice(2);
const kFirst_ms = 1000; // the goal: the first forecast is drawn so long after loading began
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const kPatience_ms = 15000;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const results = [];

// A window whose errors are kept. Those of answers that say what is wrong are expected where a step asks for them.
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience_ms);
  page.errors = [];
  page.on('console', (message) => message.type() === 'error' && page.errors.push(message.text()));
  page.on('pageerror', (error) => page.errors.push(String(error)));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'blob:' && origin !== new URL(address).origin)
      page.errors.push(`asks another address: ${request.url()}`);
  });
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('[aria-label="Forecast"] tbody tr')) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame((now) => (window.firstDrawn_ms = now)));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(address);
  return page;
}

const forecastOf = (page) => page.getByRole('region', { name: 'Forecast' });
const settled = (page) =>
  page.waitForFunction(() => [...document.querySelectorAll('.busy')].every((line) => line.textContent === ''), null, {
    timeout: 60000,
  });

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

async function step(name, walk) {
  const began = Date.now();
  try {
    await walk();
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
  results.push(`${String(Date.now() - began).padStart(6)} ms  ${name}`);
}

async function csvOf(page, place) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    place.getByRole('button', { name: 'Download CSV' }).first().click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}

const main = await open(url);

await step('the first forecast is drawn', async () => {
  await main.waitForFunction(() => window.firstDrawn_ms !== undefined);
  await settled(main);
  const times = [await main.evaluate(() => window.firstDrawn_ms)];
  for (let i = 0; i < 4; ++i) {
    const again = await open(url);
    await again.waitForFunction(() => window.firstDrawn_ms !== undefined);
    times.push(await again.evaluate(() => window.firstDrawn_ms));
    await again.context().close();
  }
  times.sort((a, b) => a - b); // other work on this machine only adds: the least time is the page's own
  results.push(
    `${times.map((time) => time.toFixed(0)).join(', ')} ms until the first forecast was drawn, of ${times.length} loads`,
  );
  assert.ok(times[0] <= kFirst_ms, `the least of ${times} ms is above ${kFirst_ms} ms`);
});

await step("a profile of one's own", async () => {
  await main
    .getByLabel('Drop a profile here, or choose its file')
    .setInputFiles(join(data, 'profiles/apps/apps.git.json'));
  await forecastOf(main).getByText('apps.git', { exact: true }).waitFor();
  assert.match(main.url(), /example=own/);
  await main.getByLabel('Drop a profile here, or choose its file').setInputFiles(join(data, 'prices/example.csv'));
  await main.getByRole('alert').getByText('is no JSON').waitFor();
  await main.getByLabel('Or try an example').selectOption('crafty');
  await forecastOf(main).getByText('apps.crafty', { exact: true }).waitFor();
  assert.equal(await main.getByRole('alert').count(), 0);
});

await step('filters, and the table as CSV', async () => {
  await main.getByLabel('Kind').selectOption('server');
  await settled(main);
  const lines = (await csvOf(main, forecastOf(main))).trim().split('\n');
  assert.match(lines[0], /^platform,value_s,lower_s,upper_s,kind$/);
  assert.ok(lines.length > 20 && lines.slice(1).every((line) => line.endsWith(',server')));
  const values = lines.slice(1).map((line) => Number(line.split(',')[1]));
  assert.deepEqual(
    values,
    [...values].sort((a, b) => a - b),
  );
  assert.equal(await forecastOf(main).locator('tbody tr').count(), 20);
  await forecastOf(main)
    .getByRole('button', { name: /^Show all/ })
    .click();
  assert.equal(await forecastOf(main).locator('tbody tr').count(), lines.length - 1);
  await main.getByLabel('Kind').selectOption('');
});

await step('prices that are edited', async () => {
  const instances = main.getByRole('region', { name: 'Cheapest instances' });
  await settled(main);
  await instances.getByText('Edit the price list').click();
  const list = instances.getByLabel('One instance type a line');
  await list.fill('vendor,server,price_usd_per_hour\naws,c7a.xlarge,9\naws,c7g.xlarge,0.001\n');
  await list.blur();
  await settled(main);
  assert.match(await instances.locator('tbody tr').first().innerText(), /^c7g\.xlarge/);
  assert.equal(await instances.locator('tbody tr').count(), 2);
  await instances.getByRole('combobox', { name: 'Prices' }).selectOption('example');
  await settled(main);
  assert.ok((await instances.locator('tbody tr').count()) > 2);
  assert.doesNotMatch(await instances.locator('tbody').innerText(), /cpx31/); // its vCPUs are shared
  await instances.getByLabel('Shared vCPUs, too').check();
  await settled(main);
  assert.match(await instances.locator('tbody').innerText(), /cpx31/);
});

await step('the link holds the state', async () => {
  await main.getByLabel('Vendor').selectOption('AMD');
  await settled(main);
  const other = await open(main.url());
  await forecastOf(other).getByText('apps.crafty', { exact: true }).waitFor();
  await settled(other);
  assert.equal(await other.getByLabel('Vendor').inputValue(), 'AMD');
  const top = (page) =>
    forecastOf(page)
      .locator('tbody tr')
      .evaluateAll((rows) => rows.slice(0, 20).map((row) => row.innerText));
  assert.deepEqual(await top(other), await top(main));
  assert.deepEqual(other.errors, []);
  await other.context().close();
});

await step('comparisons', async () => {
  await main
    .getByLabel('Drop a profile here, or choose its file')
    .setInputFiles(join(data, 'profiles/apps/apps.git.json'));
  await forecastOf(main).getByText('apps.git', { exact: true }).waitFor();
  await main.getByRole('link', { name: 'Compare' }).click();
  // The picked profile comes along.
  await main.getByRole('region', { name: 'Comparison of two CPUs' }).getByText('apps.git', { exact: true }).waitFor();
  await settled(main);
  await main.getByLabel('Compare').selectOption('programs');
  const both = main.getByRole('region', { name: 'Comparison of two programs' });
  await both.getByText('does best on').waitFor();
  const lines = (await csvOf(main, both)).trim().split('\n');
  const [, first, second, ratio] = lines[1].split(',').map(Number);
  assert.ok(Math.abs(first / second - ratio) < 1e-9);
});

await step('a language model, and its latency under load', async () => {
  await main.getByRole('link', { name: 'Language model' }).click();
  await forecastOf(main).getByText('is the fastest').waitFor();
  await main.getByLabel('Another device').fill('NVIDIA H200');
  await main.getByRole('button', { name: 'Add' }).click();
  await main.getByLabel('Price of NVIDIA H200').fill('3');
  await main.getByLabel('Price of NVIDIA H200').blur();
  await forecastOf(main).getByText('is the cheapest').waitFor();
  await settled(main);
  const load = main.getByRole('region', { name: 'Under load' });
  await load.locator('canvas').first().waitFor();
  assert.equal(await load.locator('canvas').count(), 2);
  const colours = await load
    .locator('canvas')
    .first()
    .evaluate((canvas) => {
      const { data: pixels } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(pixels.buffer)).size;
    });
  assert.ok(colours > 20, `the drawing has ${colours} colours`);
  const lines = (await csvOf(main, load)).trim().split('\n');
  assert.equal(lines.length, 1 + 3 * 6);
});

await step('claims', async () => {
  await main.getByRole('link', { name: 'Claims' }).click();
  await main.getByRole('region', { name: 'Verdicts' }).getByText('impossible').first().waitFor();
  assert.match(await main.getByRole('region', { name: 'Verdicts' }).innerText(), /does not fit/);
  await main.getByLabel('Or a file of claims').setInputFiles(join(data, 'audit/keynote-claims.json'));
  await main.getByText('Now audited: keynote-claims.json').waitFor();
  await settled(main);
});

await step('the keyboard alone', async () => {
  const page = await open(url);
  await forecastOf(page).locator('tbody tr').first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), 'Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
  await page.keyboard.press('Shift+Tab');
  await page.getByRole('link', { name: 'Claims' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Can a claim be true?' }).waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

await step('no error on the console', async () => {
  assert.deepEqual(main.errors, []);
  await main.context().close();
});

await step('problems are said in words', async () => {
  const page = await open(`${url}#llm?model=nonsense`);
  const said = page.getByRole('alert').filter({ hasText: 'Allowed:' }).first();
  await said.waitFor();
  assert.match(await said.innerText(), /nonsense/);
  assert.ok(
    page.errors.every((error) => error.includes('status of 422')),
    page.errors.join('\n'),
  );
  await page.context().close();
});

await step('a service with a token', async () => {
  const page = await open(guardedUrl);
  await page.getByText('This service wants a token').first().waitFor();
  await page.getByLabel('Token').first().fill(token);
  await page.getByRole('button', { name: 'Use it' }).first().click();
  await forecastOf(page).locator('tbody tr').first().waitFor();
  assert.ok(
    page.errors.every((error) => error.includes('status of 401')),
    page.errors.join('\n'),
  );
  await page.context().close();
});

for (const view of ['forecast', 'compare', 'compare?mode=programs', 'llm', 'audit']) {
  for (const [look, options] of Object.entries({
    light: {},
    dark: { colorScheme: 'dark' },
    small: { viewport: { width: 375, height: 800 }, colorScheme: 'light' },
  })) {
    await step(`${view}, ${look}`, async () => {
      const page = await open(`${url}#${view}`, options);
      await page.locator('main tbody tr').first().waitFor();
      await settled(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `it is ${width} pixels wide`);
      await page.screenshot({ path: join(pictures, `${view.replace(/\W+/g, '-')}-${look}.png`), fullPage: true });
      const found = await violations(page);
      assert.deepEqual(
        found.map(
          ({ id, help, nodes }) =>
            `${id}: ${help}: ${nodes
              .map(({ html }) => html)
              .slice(0, 5)
              .join('  ')}`,
        ),
        [],
      );
      assert.deepEqual(page.errors, []);
      await page.context().close();
    });
  }
}

console.log(results.join('\n'));
await browser.close();
