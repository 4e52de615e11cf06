// Generates the pages server/docs/reference/diagnostics*.md. Every code of the compiler has a title, an
// example that the compiler rejects or warns about, and a fix. Titles and fixes are in diagnostic-notes.json;
// examples are the cases of test/corpus, or are in the notes.
// Invariant: a code without a note or without an example fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../engine/lang/compile.js';
import { printDiagnostic } from '../../../engine/lang/syntax/diagnostic.js';
import { caseFiles, readCases, type Case } from '../../support/corpus/case.js';
import { root } from '../../support/project.js';
import { readSources } from '../../support/source-tree.js';

type Note = [title: string, fix: string, example?: string];

const notes = JSON.parse(
  readFileSync(join(root, 'test/docs/reference/diagnostic-notes.json'), 'utf8'),
) as Record<string, Note>;

/** Every code that the compiler reports, in order. */
export function diagnosticCodes(): string[] {
  const texts = [...readSources('engine/lang')].map(({ text }) => text).join('\n');
  return [...new Set([...texts.matchAll(/'([EW]\d{3})'/g)].map((match) => match[1]!))].sort();
}

/** The codes that have a note. */
export const notedCodes = (): string[] => Object.keys(notes);

/** A defect of the compiler itself: no source is known that provokes it. */
const withoutExample: ReadonlySet<string> = new Set(['E655']);

const cases = caseFiles('language').flatMap((path) =>
  readCases(path).filter((one) => one.diagnostics !== undefined),
);
const garden = cases.find(({ file }) => file === 'diagnostic.json')!.schema;

const caseOf = (code: string): Case | undefined => cases.find(({ id }) => id === code);

function exampleOf(code: string): { schema: string; text: string } {
  const own = notes[code]?.[2];
  const found = caseOf(code);
  if (own === undefined && found === undefined) throw new Error(`${code} has no example`);
  const isWhole = own?.startsWith('N::') === true;
  if (own !== undefined) return { schema: isWhole ? '' : garden, text: own };
  return { schema: `${found!.schema}\n${found!.shared}`, text: found!.queries };
}

/** What the compiler prints about the example, its first report of this code. */
function printedOf(code: string): string {
  const { schema, text } = exampleOf(code);
  const sources = [
    { path: 'a-schema.hx', text: schema },
    { path: 'queries.hx', text },
  ].filter((source) => source.text.trim() !== '');
  const { diagnostics } = compile(sources, { compat: code === 'W117', slow: code === 'W120' });
  const found = diagnostics.find((one) => one.code === code && one.file === 'queries.hx');
  if (found === undefined) throw new Error(`${code}: the example does not provoke it`);
  return printDiagnostic(found, text);
}

function sectionOf(code: string): string {
  const [title, fix] = notes[code] ?? [];
  if (title === undefined) throw new Error(`${code} has no note`);
  const shown = withoutExample.has(code) ? [] : ['```text', printedOf(code), '```', ''];
  return [`### ${code}: ${title}`, '', ...shown, fix].join('\n');
}

const generated = `<!-- Generated from engine/lang and diagnostic-notes.json. To generate it again:
npx vitest run --config test/vitest.config.ts test/docs/reference -u -->`;

interface Part {
  file: string;
  title: string;
  about: string;
  codes: RegExp;
}

const parts: Part[] = [
  {
    file: 'diagnostics-schema.md',
    title: 'Diagnostics E001 to E501: syntax, names and types',
    about: 'These errors are about the text of a source, its declarations and the types of values.',
    codes: /^E[0-5]/,
  },
  {
    file: 'diagnostics-queries.md',
    title: 'Diagnostics E601 to E660: steps and statements',
    about: 'These errors are about the steps of a chain and the statements of a query.',
    codes: /^E6/,
  },
  {
    file: 'diagnostics-warnings.md',
    title: 'Diagnostics E701 to E747, and all warnings',
    about: 'These errors are about whole queries. Warnings (W) never stop a start or a reload.',
    codes: /^(E7|W)/,
  },
];

function partPage({ title, about, codes }: Part): string {
  const found = diagnosticCodes().filter((code) => codes.test(code));
  const intro = `${about}
Each section shows a faulty example as the compiler prints it, and then the fix.
[All codes in one list](diagnostics.md)`;
  return `${[`# ${title}`, generated, intro, ...found.map(sectionOf)].join('\n\n')}\n`;
}

const anchorOf = (code: string): string =>
  `${code}: ${notes[code]![0]}`
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const example = [
  '```hx schema',
  'N::Person { UNIQUE INDEX key: String, name: String }',
  '```',
  '```hx faulty, with: page',
  'QUERY names() => RETURN N<Persn>::{name}',
  '```',
  '```text',
  'page.hx:1:27 E101 `Persn` is not a node type.',
  '  1 | QUERY names() => RETURN N<Persn>::{name}',
  '    |                           ^^^^^',
  '  hint: Did you mean `Person`?',
  '```',
].join('\n');

function indexPage(): string {
  const rows = diagnosticCodes().map((code) => {
    const { file } = parts.find(({ codes }) => codes.test(code))!;
    return `| [${code}](${file}#${anchorOf(code)}) | ${notes[code]![0]} |`;
  });
  const intro = `This page lists every code that the compiler reports about \`.hx\` files. All tools
show the same diagnostics: \`trellis check\`, \`trellis dev\`, a reload, and your editor.
A diagnostic has file, line, column, code, message, and a hint where one exists.

${example}

An error (E) stops a start with exit code 65. A reload with an error keeps the previous version.
A warning (W) stops nothing.
\`trellis check --json\` prints the same as JSON. Two more codes occur only with
[sharded vector types](../operate/cluster/sharding.md): \`X_SCATTER_HOP\` and \`X_SCATTER_WRITE\`.
Errors of requests have [their own page](../../errors.md).`;
  const table = ['| Code | Meaning |', '|---|---|', ...rows].join('\n');
  return `${['# Diagnostics of the compiler', generated, intro, table].join('\n\n')}\n`;
}

/** File name and text of every page. */
export function diagnosticPages(): [file: string, text: string][] {
  return [
    ['diagnostics.md', indexPage()],
    ...parts.map((part): [string, string] => [part.file, partPage(part)]),
  ];
}
