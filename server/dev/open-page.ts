// Opens a page in the default browser.
import { spawn } from 'node:child_process';

/** Program and arguments, by platform. */
const openers: Record<string, [string, ...string[]]> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens the page. Never fails: `print` is called with the reason if no browser was opened. */
export function openPage(
  url: string,
  print: (what: string) => void,
  platform: string = process.platform,
): void {
  const [program, ...words] = openers[platform] ?? ['xdg-open'];
  const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true });
  child.once('error', () => print(`There is no ${program} here: open ${url} yourself.`));
  child.unref();
}
