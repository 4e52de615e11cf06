// `trellis init` creates a project from a template. It asks no questions and overwrites no file.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fail } from '../../../engine/internal.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { packageVersion, templateFolder } from '../../lifecycle/program-file.js';
import { hasSources, makeProject } from '../../project/new-project.js';
import type { Command } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

/** Whether this package is installed in the folder or above it, where `npm run` finds its program. */
function isInstalled(folder: string): boolean {
  const from = resolve(folder);
  const isLocal = existsSync(join(from, 'node_modules/trellisdb/package.json'));
  return isLocal || (dirname(from) !== from && isInstalled(dirname(from)));
}

/** Whether `npm run dev` starts this program. A package.json that existed before may have another script. */
function hasScript(folder: string): boolean {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, string> };
    return scripts?.dev === 'trellis dev';
  } catch {
    return false;
  }
}

export const init: Command = {
  name: 'init',
  about: 'Create a project from a template.',
  words: '[DIR]',
  flags: {
    template: { value: 'NAME', about: 'start (also: hello), graphrag or memory (default: start).' },
    client: { about: 'Let `trellis dev` generate trellis.gen.ts, for clients in TypeScript.' },
    force: { about: 'Also in a folder with sources. Existing files are kept.' },
  },
  run: ({ words, flags, switches }) => {
    const folder = words[0] ?? '.';
    if (hasSources(folder) && !switches.has('force')) {
      const what = `${shownPath(folder)} holds .hx files already.`;
      fail('CONFIG_INVALID', { what }, { hint: 'Name another folder, or add --force.' });
    }
    const template = flags.get('template') ?? 'start';
    const templates = templateFolder();
    const { written, existing } = makeProject({
      folder,
      templates,
      template,
      version: packageVersion(),
      hasClient: switches.has('client'),
    });
    for (const name of written) printLine(`wrote ${shownPath(join(folder, name))}`);
    for (const name of existing) printLine(`kept  ${shownPath(join(folder, name))}`);
    const shown = shownPath(folder);
    // Quotes keep a path with spaces together.
    const shownFolder = /^[\w./~-]+$/.test(shown) ? shown : `"${shown}"`;
    const go = shown === '.' ? '' : `cd ${shownFolder} && `;
    const install = isInstalled(folder) ? '' : 'npm install && ';
    const start = hasScript(folder) ? 'npm run dev' : 'npx --no-install trellisdb dev';
    printLine(`\nNext: ${go}${install}${start}`);
    return exitCodes.ok;
  },
};
