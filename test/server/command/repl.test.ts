// The shell: several lines, its own words, history, completion, and Ctrl-C while a query runs.
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { compile } from '../../../engine/lang/compile.js';
import { splitWords } from '../../../server/repl/parse-arguments.js';
import type { QueryRunner, QueryRequest } from '../../../server/repl/query-runner.js';
import { Repl } from '../../../server/repl/repl.js';
import { expectFigure } from '../../support/run/figure.js';

const source = `N::Person { name: String, age: U8 }
N::City { UNIQUE INDEX code: String, INDEX size: I64 }
E::Lives UNIQUE { From: Person, To: City, Properties: { since: Date } }
E::Near { From: City, To: City }
V::Note { text: String }
QUERY older(than: U8) => p <- N<Person>::WHERE(_::{age}::GT(than)) RETURN p::{name}
QUERY named(name: String) => p <- N<Person>::WHERE(_::{name}::EQ(name)) RETURN p::{name}
`;
const sources = [{ path: 'main.hx', text: source }];
const program = compile(sources, { compat: false }).program!;

interface Started {
  asked: QueryRequest[];
  printed: string[];
  input: PassThrough;
  shell: Repl;
  left: Promise<string[]>;
}

function start(ask: QueryRunner['run'], terminal = false): Started {
  const asked: QueryRequest[] = [];
  const printed: string[] = [];
  for (const name of ['log', 'error'] as const)
    vi.spyOn(console, name).mockImplementation(
      (...line: unknown[]) => void printed.push(line.join(' ')),
    );
  const runner: QueryRunner = {
    run: (question, hear) => {
      asked.push(question);
      return ask(question, hear);
    },
    close: async () => undefined,
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.resume();
  const given = { input, output, terminal, history: ['.schema'], write: false };
  const shell = new Repl({ program, sources, limits: defaultLimits, runner, ...given });
  return { asked, printed, input, shell, left: shell.run() };
}
afterEach(() => vi.restoreAllMocks());

const empty = async (): Promise<string> => '{"data":[]}';

async function typed(...lines: string[]): Promise<Started> {
  const started = start(empty);
  started.input.end(lines.map((line) => `${line}\n`).join(''));
  await started.left;
  return started;
}

test('W05 one line, several lines, and an empty line at the end', async () => {
  const { asked } = await typed(
    'N<Person>',
    'p <- N<Person>::',
    '  {name}',
    '',
    'p <- N<Person>',
    'RETURN p',
    'N<Person>::WHERE(',
    '_::{name}::EQ("(")',
    ')',
    'older than=3',
  );
  expect(asked.map(({ source, name, parameters }) => [source ?? name, parameters])).toEqual([
    ['N<Person>', '{}'],
    ['p <- N<Person>::\n  {name}', '{}'],
    ['p <- N<Person>\nRETURN p', '{}'],
    ['N<Person>::WHERE(\n_::{name}::EQ("(")\n)', '{}'],
    ['older', '{"than":3}'],
  ]);
});

test('W05 its own words', async () => {
  const { asked, printed } = await typed(
    '.schema',
    '.queries',
    '.params {"than": 5}',
    'older',
    '.explain older',
    '.json',
    'older',
    'DROP N<Person>',
    '',
    'N<Persn>',
    '.params {',
    '.params [1]',
    '.nothing',
    '.exit',
    'N<Person>',
  );
  expect(printed[0]!.split('\n')).toEqual([
    'N::Person { name: String, age: U8 }',
    'N::City { UNIQUE INDEX code: String, INDEX size: I64 }',
    'E::Lives UNIQUE { From: Person, To: City, Properties: { since: Date } }',
    'E::Near { From: City, To: City, Properties: {} }',
    'V::Note { text: String }',
  ]);
  expect(printed.filter((line) => line.startsWith('CONFIG_INVALID: .params takes'))).toHaveLength(
    2,
  );
  expect(printed.join()).not.toContain('SyntaxError');
  expect(printed).toContain('older(than: U8)\nnamed(name: String)');
  expect(asked.map(({ parameters, mode: look }) => [parameters, look])).toEqual([
    ['{"than": 5}', undefined],
    ['{"than": 5}', 'explain'],
    ['{"than": 5}', undefined],
  ]);
  expect(printed).toContain('{"data":[]}');
  expect(printed).toContain('This query writes data. Start the shell with --write.');
  expect(printed.some((line) => line.includes('E101'))).toBe(true);
  expect(printed.at(-1)).toContain('.schema');
});

test.each([
  ['name=Ada', ['name=Ada']],
  ['name="Mary Shelley"  age=3', ['name=Mary Shelley', 'age=3']],
  ['name=\'Mary "S"\' b=', ['name=Mary "S"', 'b=']],
  ['name="a \\"b\\" \\u00e9"', ['name=a "b" \u00e9']],
  ['ids=["a b", "c]"] x={"y": [1, 2]}', ['ids=["a b", "c]"]', 'x={"y": [1, 2]}']],
  ['name="', undefined],
  ['ids=[1, 2', undefined],
])('the words of %s', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test('a call takes values with spaces', async () => {
  const { asked } = await typed('named name="Mary Shelley"', `named name='Percy "P" Shelley'`);
  expect(asked.map(({ name, parameters }) => [name, JSON.parse(parameters)])).toEqual([
    ['named', { name: 'Mary Shelley' }],
    ['named', { name: 'Percy "P" Shelley' }],
  ]);
});

test('W05 Ctrl-C ends the query in 200 ms, not the shell', async () => {
  let cancelled = 0;
  const slow: QueryRunner['run'] = (_, hear) => {
    hear?.(() => cancelled++);
    return setTimeout(30_000, '{"data":[]}', { ref: false });
  };
  const { asked, printed, input, left } = start(slow, true);
  input.write('N<Person>\r');
  while (asked.length === 0) await setTimeout(5);
  const before = performance.now();
  input.write('\u0003');
  while (!printed.includes('cancelled')) await setTimeout(2);
  expectFigure(performance.now() - before, 200, 'ms to the end of the query');
  expect(cancelled).toBe(1);
  input.write('.queries\r');
  while (!printed.some((line) => line.startsWith('older(than: U8)'))) await setTimeout(2);
  input.write('\u0004');
  expect((await left).slice(0, 3)).toEqual(['.queries', 'N<Person>', '.schema']);
});

test('W05 completion is that of the language server', async () => {
  const { asked, input, left } = start(empty, true);
  input.write('N<Per\t');
  await setTimeout(50);
  input.write('>::COU\t');
  await setTimeout(50);
  input.write('\r');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(asked[0]!.source).toBe('N<Person>::COUNT');
  input.write('\u0004');
  await left;
});
