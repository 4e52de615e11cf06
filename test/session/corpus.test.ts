// The cases of test/corpus/sessions (dialogues D1 to D9, rows S01 to S60) and the session rows of
// the hostile inputs, played in this process. The same files run against a real server in
// test/conformance.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { type Case, caseFiles, corpus, readCases } from '../support/corpus/case.js';
import { Replay } from './replay.js';

const sessions = caseFiles('sessions').flatMap((path) => readCases(path));
const hostile = readCases(join(corpus, 'hostile', 'sessions.ndjson'), 'hostile.json');

/** What needs sockets or a process of its own. */
function isReplayable({ steps }: Case): boolean {
  return (
    steps.length > 0 &&
    steps.every((step) => step.has('post') || step.has('wait_ms')) &&
    steps.every((step) => step.get('post') !== 'mcp')
  );
}

function programOf(one: Case) {
  const sources = [one.schema, one.shared, one.queries].map((text, i) => ({
    path: `${i}.hx`,
    text,
  }));
  const compat = one.config.compat === 'helix-2';
  const { program, diagnostics } = compile(sources, { compat });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return program!;
}

describe.each([
  ['sessions', sessions],
  ['hostile', hostile],
])('%s', (_, cases) => {
  test.each(cases.filter(isReplayable).map((one) => [`${one.file} ${one.id}`, one] as const))(
    '%s',
    async (_, one) => {
      await new Replay(one, programOf(one)).run();
    },
  );
});

test('every row of the specification has a case', () => {
  const rows = new Set(sessions.flatMap(({ rows }) => rows));
  const wanted = Array.from({ length: 60 }, (_, i) => `S${String(i + 1).padStart(2, '0')}`);
  expect(wanted.filter((row) => !rows.has(row))).toEqual([]);
});
