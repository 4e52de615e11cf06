// A real browser on a page of a server: counts what must not happen there (errors on the console,
// violations of the policy, requests to others) for the test to look at.
import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core';

export interface Opened {
  page: Page;
  /** Everything that must not happen, in words. */
  faults: string[];
  close(): Promise<void>;
}

/** Milliseconds for whatever is waited for: nobody else's load makes a test fail. */
const waitMs = 60_000;
let browser: Browser | undefined;

export async function openPage(
  origin: string,
  hash: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  browser ??= await chromium.launch({
    executablePath: process.env.TRELLIS_CHROMIUM!,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
    timeout: 2 * waitMs,
  });
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`request to ${url}`);
  });
  await page.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => {
      console.error('policy ' + event.violatedDirective);
    });`,
  });
  await page.goto(`${origin}/${hash}`);
  return { page, faults, close: () => context.close() };
}

/** To another view of the page that is open. Whoever goes there waits for what stands on it. */
export const goToView = (page: Page, hash: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

/** The view in the address: what the page says, not what the browser has told of it so far. */
export const hashOf = (page: Page): Promise<string> => page.evaluate<string>('location.hash');

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}
