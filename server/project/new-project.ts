// Creates a project: the files of a template, and those that every project has.
//
// Invariant: existing files are never overwritten.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { excerpt, fail, nearestName } from '../../engine/internal.js';
import { keySchemas } from '../config/config-schema.js';
import { exists } from '../folder/contained-path.js';
import type { Command } from '../terminal/command.js';
import { shownPath } from '../terminal/format.js';

export interface NewProject {
  folder: string;
  /** Folder of all templates, and the name of one. */
  templates: string;
  template: string;
  version: string;
  /** Whether `trellis dev` generates a TypeScript module. */
  hasClient: boolean;
}

/** Other names of templates. */
const aliases: ReadonlyMap<string, string> = new Map([['hello', 'start']]);

function templateOf({ templates, template }: NewProject): string {
  const known = readdirSync(templates).filter((name) => !name.startsWith('.'));
  const name = aliases.get(template) ?? template;
  if (known.includes(name)) return join(templates, name);
  const near = nearestName(name, [...known, ...aliases.keys()]);
  const hint = near === undefined ? `There are ${known.join(', ')}.` : `Did you mean ${near}?`;
  return fail('CONFIG_INVALID', { what: `There is no template ${excerpt(name)}.` }, { hint });
}

/** Writes the files that do not exist. Returns the names of written and of kept files. */
export function makeProject(project: NewProject): { written: string[]; existing: string[] } {
  const { folder } = project;
  const template = templateOf(project);
  const files = new Map<string, string | Buffer>();
  for (const name of readdirSync(template)) files.set(name, readFileSync(join(template, name)));
  const pages = [files.get('README.md')?.toString() ?? '', ...(project.hasClient ? [typed] : [])];
  files.set('README.md', [...pages, daily].join('\n'));
  files.set('trellis.toml', configText(project));
  files.set('.gitignore', '.trellis/\nnode_modules/\n.env\n');
  files.set('package.json', packageText(project));
  const written: string[] = [];
  const existing: string[] = [];
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of files) {
      const path = join(folder, name);
      // A dangling link counts as existing.
      const isPresent = exists(path);
      if (!isPresent) writeFileSync(path, text, { flag: 'wx' });
      (isPresent ? existing : written).push(name);
    }
  } catch (error) {
    const what = `A project cannot be written to ${shownPath(folder)}: ${(error as NodeJS.ErrnoException).code}.`;
    fail('CONFIG_INVALID', { what }, { hint: 'Name a folder that can be written to.' });
  }
  return { written, existing };
}

/** Whether the folder contains sources. Returns false if it cannot be read. */
export function hasSources(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.hx'));
  } catch {
    return false;
  }
}

/** Fails CONFIG_INVALID if the only word of a command about a query is a project. */
export function refuseFolder({ name, words }: Pick<Command, 'name' | 'words'>, word: string): void {
  if (!hasSources(word)) return;
  const hint = `Usage: trellis ${name} ${words}`;
  fail('CONFIG_INVALID', { what: `trellis ${name} needs QUERY.` }, { hint });
}

const typed = `\`trellis.gen.ts\` has a function for every query, with the types of what it takes and gives:

\`\`\`ts
import { connect } from 'trellisdb/client';
import { queries } from './trellis.gen.js';

const db = queries(connect({ url: 'http://127.0.0.1:6969' }));
\`\`\`

TypeScript finds both modules with \`"module": "nodenext"\`, or with \`"moduleResolution": "bundler"\`.
\`npm run types\` writes the file again. \`npm run dev\` does so after every change.
`;

const daily = `Run \`npm install\` one time. Then \`npm run dev\` serves this folder, and reloads it when you save a file.
\`npm run check\` prints errors in the sources. \`npx --no-install trellisdb help\` lists all commands.
The data are in \`.trellis\`. The server fills an empty database from \`seed.ndjson\`.
`;

function packageText({ folder, version }: NewProject): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-');
  const scripts = {
    dev: 'trellis dev',
    start: 'trellis serve',
    check: 'trellis check',
    types: 'trellis types',
  };
  const dependencies = { trellisdb: `^${version}` };
  // `trellis types` writes an ES module.
  const text = {
    name: name.replace(/^[._-]+/, '') || 'app',
    private: true,
    type: 'module',
    scripts,
    dependencies,
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** Values of the configuration of a new project that differ from the defaults. */
const chosenFor = ({ hasClient }: NewProject): ReadonlyMap<string, unknown> =>
  new Map([
    ['embedding.model', 'hash'],
    ...(hasClient ? ([['types.out', 'trellis.gen.ts']] as const) : []),
  ]);

/** Returns a `trellis.toml` with every key. Keys with their default are comments. */
function configText(project: NewProject): string {
  const chosen = chosenFor(project);
  const lines = ['# Every key with its default. Remove the # to change one.'];
  let current = '';
  for (const [key, schema] of keySchemas) {
    const [section, name] = key.split('.') as [string, string | undefined];
    if (name !== undefined && section !== current) lines.push('', `[${section}]`);
    current = section;
    if (key === 'embedding.model') lines.push(...aboutModel);
    const isChosen = chosen.has(key);
    const defaultValue = schema.auto ? 'auto' : schema.default;
    const value = isChosen ? chosen.get(key) : defaultValue;
    const unit = schema.unit === 'milliseconds' ? '  # ms' : schema.unit ? '  # bytes' : '';
    lines.push(`${isChosen ? '' : '# '}${name ?? key} = ${JSON.stringify(value)}${unit}`);
  }
  return `${lines.join('\n')}\n`;
}

const aboutModel = [
  '# "hash" is computed locally and works offline. It compares words, not meanings. A real model:',
  '# "openai:text-embedding-3-small", with OPENAI_API_KEY in the environment or in .env. Vectors of',
  '# different models cannot be compared: start with empty data after a change.',
];
