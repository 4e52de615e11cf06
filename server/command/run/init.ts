// `trellis init`: a new project from a template. Asks nothing, and writes over nothing.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fail } from '../../../engine/index.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { packageVersion, templateFolder } from '../../lifecycle/program-file.js';
import { hasSources, makeProject } from '../../project/new-project.js';
import type { Command } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

/** Whether npx finds this program from the folder: in it or above. */
function isInstalled(folder: string): boolean {
  const from = resolve(folder);
  const isHere = existsSync(join(from, 'node_modules/trellisdb/package.json'));
  return isHere || (dirname(from) !== from && isInstalled(dirname(from)));
}

export const init: Command = {
  name: 'init',
  about: 'Makes a new project from a template.',
  words: '[DIR]',
  flags: {
    template: { value: 'NAME', about: 'start (also: hello), graphrag or memory.' },
    client: { about: 'Has `trellis dev` write trellis.gen.ts, for callers in TypeScript.' },
    force: { about: 'Also where there are sources; keeps every file that is there.' },
  },
  run: ({ words, flags, switches }) => {
    const folder = words[0] ?? '.';
    if (hasSources(folder) && !switches.has('force')) {
      const what = `${shownPath(folder)} holds .hx files already.`;
      fail('CONFIG_INVALID', { what }, { hint: 'Name another folder, or add --force.' });
    }
    const template = flags.get('template') ?? 'start';
    const templates = templateFolder();
    const { written, kept } = makeProject({
      folder,
      templates,
      template,
      version: packageVersion(),
      hasClient: switches.has('client'),
    });
    for (const name of written) printLine(`wrote ${shownPath(join(folder, name))}`);
    for (const name of kept) printLine(`kept  ${shownPath(join(folder, name))}`);
    const shown = shownPath(folder);
    // What a shell would take apart stands in quotes.
    const place = /^[\w./~-]+$/.test(shown) ? shown : `"${shown}"`;
    const go = shown === '.' ? '' : `cd ${place} && `;
    // Without a package of its own in reach npx would have to fetch one.
    const install = isInstalled(folder) ? '' : 'npm install && ';
    printLine(`\nNext: ${go}${install}npx --no-install trellisdb dev`);
    return exitCodes.ok;
  },
};
