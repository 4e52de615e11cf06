// Every row of the specification's checklists is claimed by at least one case or test: a case lists
// it in `rows`, a test writes it in brackets in its title.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { caseFiles, readCases } from '../support/corpus/case.js';
import { root } from '../support/project.js';
import { readSources } from '../support/source-tree.js';

const numbers = (prefix: string, from: number, to: number, step = 1, width = 2): string[] => {
  const rows: string[] = [];
  for (let n = from; n <= to; n += step) rows.push(prefix + String(n).padStart(width, '0'));
  return rows;
};

const words = (prefix: string, names: string) => names.split(' ').map((name) => prefix + name);

/**
 * The checklists: language forms, examples, diagnostics, faults, breaks, clients, sessions, hostile
 * inputs.
 */
const checklists: Record<string, string[]> = {
  language: numbers('L', 1, 123, 1, 3),
  examples: numbers('X', 1, 29),
  extensions: numbers('X', 1, 30, 1, 3),
  errors: words(
    'E',
    '001 002 003 004 005 101 102 103 104 105 106 107 108 109 201 202 203 204 205 206 207 209 210 ' +
      '301 302 303 304 305 306 401 501 601 602 603 604 611 612 621 622 623 624 625 626 627 628 ' +
      '631 633 641 643 644 645 646 651 652 653 654 656 657 658 659 660 701 702 703 704 705 706 ' +
      '707 708 709 710 711 712 713 714 715 716 717',
  ),
  warnings: numbers('W', 101, 119, 1, 3),
  faults: numbers('F', 1, 24),
  breaks: words('BREAK-', 'RANGE K ISIN DIV NULL ID LAMBDA IDS ORDER DIMENSION EMBED'),
  clients: numbers('H', 1, 36),
  sessions: numbers('S', 1, 60),
  framing: numbers('XH', 1, 47, 2),
  json: numbers('XJ', 2, 22, 2),
  numbers: numbers('XN', 1, 19, 2),
  strings: numbers('XU', 2, 8, 2),
  vectors: numbers('XV', 1, 15, 2),
  ids: numbers('XI', 2, 10, 2),
  source: numbers('XQ', 1, 23, 2),
  hostileSessions: numbers('XS', 2, 36, 2),
  resources: numbers('XR', 1, 7, 2),
  auth: numbers('XA', 2, 8, 2),
  config: numbers('XC', 1, 9, 2),
  files: numbers('XF', 2, 14, 2),
};

function readClaims(): Set<string> {
  const claimed = new Set<string>();
  for (const folder of ['language', 'http', 'sessions', 'hostile'])
    for (const path of caseFiles(folder)) {
      const base = folder === 'hostile' ? 'hostile.json' : undefined;
      // A hostile row without steps is only described; a test must claim it by its title.
      for (const one of readCases(path, base))
        if (one.steps.length > 0 || one.diagnostics !== undefined)
          for (const row of one.rows) claimed.add(row);
    }
  for (const { path } of readSources('test')) {
    if (!path.endsWith('.test.ts') || path.endsWith('complete.test.ts')) continue;
    const text = readFileSync(join(root, path), 'utf8');
    for (const [, row] of text.matchAll(/\[([A-Z][A-Z0-9-]*[0-9A-Z])\]/g)) claimed.add(row!);
  }
  return claimed;
}

let claimed: Set<string> | undefined;

for (const [name, rows] of Object.entries(checklists))
  test(`every row of ${name} has a case`, () => {
    claimed ??= readClaims();
    const missing = rows.filter((row) => !claimed!.has(row));
    expect(missing, missing.join(' ')).toEqual([]);
  });
