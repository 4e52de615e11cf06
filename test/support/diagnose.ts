// Runs `trellis check` over many invalid sources in one call. The cases of a file that share a schema become
// one project with one file per case, and the output is assigned to the cases.
import type { Case } from './corpus/case.js';
import { makeFolder, removeFolder, writeProject } from './project.js';
import { commandHere } from './server/command-here.js';

interface Diagnostic {
  code: string;
  place: string;
  /** Message, hint and picture. */
  text: string;
}

const header = /^(?:.*\/)?([\w.-]+\.hx):(\d+):(\d+) ([EW]\d{3}) (.*)$/;

export const fileNameOf = (one: Case) => `case-${one.id.replace(/[^\w-]/g, '_')}.hx`;

/** Diagnostics by file name, in the order printed. */
function parseDiagnostics(output: string): Map<string, Diagnostic[]> {
  const found = new Map<string, Diagnostic[]>();
  let last: Diagnostic | undefined;
  for (const line of output.split('\n')) {
    const match = header.exec(line);
    if (match === null) {
      if (last !== undefined) last.text += `\n${line}`;
      continue;
    }
    const [, file, row, column, code, text] = match;
    last = { code: code!, place: `${row}:${column}`, text: text! };
    found.set(file!, [...(found.get(file!) ?? []), last]);
  }
  return found;
}

/** What `trellis check` says about each case of a group with one schema. */
export async function diagnose(cases: Case[]): Promise<Map<string, Diagnostic[]>> {
  const folder = makeFolder();
  const sources: Record<string, string> = {};
  const schema = `${cases[0]!.schema}\n${cases[0]!.shared}`.trim();
  if (schema !== '') sources['a-schema.hx'] = schema;
  for (const one of cases) sources[fileNameOf(one)] = one.queries;
  writeProject(folder, { sources, config: cases[0]!.config });
  try {
    const done = await commandHere(['check', folder]);
    const found = parseDiagnostics(done.stdout);
    const errors = [...found.values()].flat().some((one) => one.code.startsWith('E'));
    if (done.code !== (errors ? 1 : 0))
      throw new Error(`exit ${done.code}\n${done.stdout.slice(0, 2000)}${done.stderr}`);
    return found;
  } finally {
    removeFolder(folder);
  }
}

/**
 * The first difference between what was reported and what the case wants. `E001|E305` allows
 * either; a last `...` allows what follows from the first error.
 */
export function diagnosticFault(one: Case, got: Diagnostic[]): string | undefined {
  const open = one.diagnostics!.at(-1) === '...';
  const wanted = open ? one.diagnostics!.slice(0, -1) : one.diagnostics!;
  const shown = got.map((each) => `${each.code} ${each.place} ${each.text.split('\n')[0]}`);
  if (open ? got.length < wanted.length : got.length !== wanted.length)
    return `wanted [${wanted}], got [${shown.join('; ')}]`;
  for (const [index, want] of wanted.entries()) {
    const space = `${want} `.indexOf(' ');
    const detail = want.slice(space + 1);
    const { code, place, text } = got[index]!;
    const fits = /^\d+:\d+$/.test(detail) ? place === detail : text.includes(detail);
    if (!want.slice(0, space).split('|').includes(code) || !fits)
      return `wanted ${want}, got [${shown.join('; ')}]`;
  }
  return undefined;
}
