// The language server (tooling.md 7): each feature on a project, faults as `trellis check` tells them, and
// texts that are cut and edited anywhere.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { frameOf, FrameReader } from '../../server/lsp/frame.js';
import { examplesText, gardenText } from '../lang/garden.js';
import { root } from '../support/project.js';
import { Random } from '../support/random.js';
import { Editor } from './session.js';
import { expectFigure } from '../support/run/figure.js';
import { nextTurn } from '../support/run/next-turn.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const schema = `// Someone.
N::Person {
    UNIQUE INDEX name: String,
    // In years.
    age: U8
}
N::Work { title: String, year: I32 }
E::Wrote { From: Person, To: Work, Properties: { with: String } }
V::Note { text: String }
`;
const queries = `// What somebody wrote.
QUERY worksOf(name: String, after: I32) =>
    person <- N<Person>({name: name})
    works <- person::Out<Wrote>::WHERE(_::{year}::GT(after))
    RETURN works::{title, year}

QUERY add(name: String, age: U8) =>
    added <- AddN<Person>({name, age: age})
    RETURN added::{name}
`;

interface Symbol {
  name: string;
  range: { end: { line: number } };
}

let editor: Editor;
beforeAll(() => {
  editor = new Editor({ 'schema.hx': schema, 'queries.hx': queries });
  editor.ask('initialize', { initializationOptions: { inlayHints: true } });
  editor.open('queries.hx', queries);
});
afterAll(() => editor.close());

/** Asks at the place of the `|` in a piece of the queries. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes.
function at(method: string, piece: string, more: object = {}): any {
  const offset = queries.indexOf(piece.replace('|', '')) + piece.indexOf('|');
  return editor.at(method, 'queries.hx', queries, offset, more);
}
const hoverAt = (piece: string): string => at('hover', piece)?.contents.value ?? '';
const startsOf = (found: { uri: string; range: { start: object } }[]) =>
  found.map(({ uri, range }) => [uri.split('/').at(-1), ...Object.values(range.start)]);

describe('W08 the language server', () => {
  test('says what it can', () => {
    const { result } = editor.ask('initialize', { initializationOptions: { inlayHints: true } });
    expect(Object.keys(result.capabilities).length).toBeGreaterThan(12);
    expect(
      editor.ask('textDocument/colours', { textDocument: { uri: editor.uri('a.hx') } }).error?.code,
    ).toBe(-32601);
  });

  test('hover shows types, declarations, documentation, plan and cost', () => {
    expect(hoverAt('pers|on <- ')).toContain('person: N<Person>');
    expect(hoverAt('RETURN wor|ks')).toContain('works: [N<Work>]');
    expect(hoverAt('N<Per|son>({')).toContain('UNIQUE INDEX name: String');
    expect(hoverAt('N<Per|son>({')).toContain('Someone.');
    expect(hoverAt('age|: age')).toContain('age: U8');
    expect(hoverAt('age|: age')).toContain('In years.');
    expect(hoverAt('QUERY works|Of')).toMatch(/What somebody wrote\.$/);
    expect(hoverAt('QUERY works|Of')).toContain('worksOf  cost A');
    expect(at('hover', 'RE|TURN')).toBeNull();
  });

  test('definition, references and rename follow a name through all files', () => {
    expect(startsOf(at('definition', 'Out<Wr|ote>'))).toEqual([['schema.hx', 7, 3]]);
    expect(startsOf(at('definition', 'GT(af|ter)'))).toEqual([['queries.hx', 1, 28]]);
    expect(startsOf(at('definition', '{ye|ar}::GT'))).toEqual([['schema.hx', 6, 25]]);
    expect(startsOf(at('references', 'per|son::Out'))).toEqual([
      ['queries.hx', 2, 4],
      ['queries.hx', 3, 13],
    ]);
    expect(startsOf(at('references', 'N<Per|son>'))).toEqual([
      ['queries.hx', 2, 16],
      ['queries.hx', 7, 18],
      ['schema.hx', 1, 3],
      ['schema.hx', 7, 17],
    ]);
    const { changes } = at('rename', 'N<Per|son>', { newName: 'Human' });
    expect(Object.values(changes).flat()).toHaveLength(4);
    expect(at('prepareRename', 'N<Per|son>').placeholder).toBe('Person');
    expect(at('prepareRename', 'WH|ERE')).toBeNull();
    expect(at('rename', 'N<Per|son>', { newName: 'no name' })).toBeNull();
  });

  test('renamed sources mean the same', () => {
    const parameter = at('rename', 'add(na|me', { newName: 'called' }).changes;
    const property = at('rename', '({na|me: name})', { newName: 'called' }).changes;
    expect(apply(queries, parameter[editor.uri('queries.hx')])).toContain(
      'add(called: String, age: U8) =>\n    added <- AddN<Person>({name: called, age: age})',
    );
    const renamed = apply(queries, property[editor.uri('queries.hx')]);
    expect(renamed).toContain('N<Person>({called: name})');
    expect(renamed).toContain('AddN<Person>({called: name, age: age})');
    const texts = [apply(schema, property[editor.uri('schema.hx')]), renamed];
    const sources = texts.map((text, i) => ({ path: `${i}.hx`, text }));
    expect(compile(sources, { compat: false }).diagnostics).toEqual([]);
  });

  test('completion knows steps, members, types, names and parameters', () => {
    const labels = (line: string, marked = line.indexOf('|')): string[] => {
      const text = `${queries}\nQUERY c(limit: U8) =>\n    p <- N<Person>\n    ${line.replace('|', '')}`;
      editor.change('queries.hx', text);
      const offset = text.length - (line.length - 1 - marked);
      const found = editor.at('completion', 'queries.hx', text, offset);
      editor.change('queries.hx', queries);
      return (found as { label: string }[]).map(({ label }) => label);
    };
    expect(labels('RETURN p::|').slice(0, 2)).toEqual(['name', 'age']);
    expect(labels('RETURN p::Ou|')).toEqual(expect.arrayContaining(['Out', 'WHERE', 'COUNT']));
    expect(labels('RETURN p::|')).not.toContain('FromN');
    expect(labels('RETURN p::OutE<Wrote>::|')).toEqual(expect.arrayContaining(['with', 'ToN']));
    expect(labels('w <- p::Out<|')).toEqual(['Wrote']);
    expect(labels('w <- N<|')).toEqual(['Person', 'Work']);
    expect(labels('w <- p::WHERE(_::{|')).toEqual(expect.arrayContaining(['name', 'age', 'id']));
    expect(labels('w <- p::WHERE(_::{age}::|')).toEqual(expect.arrayContaining(['GT', 'EQ']));
    expect(labels('AddN<Work>({|})')).toEqual(['title', 'year']);
    expect(labels('RETURN |')).toEqual(expect.arrayContaining(['p', 'limit', 'N', 'COALESCE']));
    expect(labels('RETURN p\n\nQUERY d(a: |')).toEqual(expect.arrayContaining(['String', 'U8']));
    expect(labels('RETURN p\n\n|')).toEqual(expect.arrayContaining(['QUERY', 'MIGRATION']));
  });

  test('symbols, folding, tokens, inlay hints and formatting', () => {
    const about = { textDocument: { uri: editor.uri('queries.hx') } };
    const ask = (method: string) => editor.ask(`textDocument/${method}`, about).result;
    expect(ask('documentSymbol').map(({ name, range }: Symbol) => [name, range.end.line])).toEqual([
      ['worksOf', 4],
      ['add', 8],
    ]);
    expect(ask('foldingRange')).toEqual([
      { startLine: 1, endLine: 4 },
      { startLine: 6, endLine: 8 },
    ]);
    const found = editor.ask('workspace/symbol', { query: 'wr' }).result;
    expect(found.map(({ name }: Symbol) => name)).toEqual(['Wrote']);
    const { data } = ask('semanticTokens/full');
    expect(data.slice(0, 10)).toEqual([1, 6, 7, 4, 1, 0, 8, 4, 3, 1]);
    expect(data.length % 5).toBe(0);
    expect(ask('inlayHint').map(({ label }: { label: string }) => label)).toEqual([
      ': N<Person>',
      ': [N<Work>]',
      ': N<Person>',
    ]);
    expect(ask('formatting')).toEqual([]);
    editor.change('queries.hx', 'QUERY a()=>RETURN 1');
    expect(ask('formatting')[0].newText).toBe('QUERY a() =>\n    RETURN 1\n');
    editor.change('queries.hx', queries);
  });

  test('diagnostics are those of the compiler, to the column, and lead to their mending', () => {
    const faulty = queries
      .replace('Out<Wrote>', 'Out<Wrot>')
      .replace('{title, year}', '{title, yea}');
    editor.change('queries.hx', faulty);
    const sources = [
      { path: 'queries.hx', text: faulty },
      { path: 'schema.hx', text: schema },
    ];
    const { diagnostics } = compile(sources, { compat: false });
    const shown = editor.diagnostics('queries.hx');
    expect(shown.map(({ code, range }) => [code, range])).toEqual(
      diagnostics.map(({ code, line, column, endLine, endColumn }) => [
        code,
        {
          start: { line: line - 1, character: column - 1 },
          end: { line: endLine - 1, character: endColumn - 1 },
        },
      ]),
    );
    expect(shown.length).toBeGreaterThan(0);
    const context = { diagnostics: shown };
    const textDocument = { uri: editor.uri('queries.hx') };
    const [action] = editor.ask('textDocument/codeAction', { textDocument, context }).result;
    expect(apply(faulty, action.edit.changes[textDocument.uri])).toContain('Out<Wrote>');
    editor.change('queries.hx', queries);
    expect(editor.diagnostics('queries.hx')).toEqual([]);
  });
});

type Edit = { range: { start: Position; end: Position }; newText: string };
type Position = { line: number; character: number };

function apply(text: string, edits: Edit[]): string {
  const lines = text.split('\n');
  const offsetOf = ({ line, character }: Position): number =>
    lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0) + character;
  const byPlace = edits.map((edit) => ({ ...edit, at: offsetOf(edit.range.start) }));
  byPlace.sort((a, b) => b.at - a.at);
  return byPlace.reduce(
    (done, { at, range, newText }) => done.slice(0, at) + newText + done.slice(offsetOf(range.end)),
    text,
  );
}

describe('W09 half-typed texts', () => {
  const requests = ['hover', 'completion', 'definition', 'references', 'prepareRename'] as const;
  const rest = ['documentSymbol', 'foldingRange', 'semanticTokens/full', 'inlayHint'];
  let one: Editor;
  beforeAll(() => {
    one = new Editor({ 'schema.hx': gardenText });
    one.ask('initialize');
    one.open('a.hx', '');
  });
  afterAll(() => one.close());

  /** Everything is answered, without an error. */
  function survives(text: string, offset: number, more = ['formatting']): void {
    one.change('a.hx', text);
    const textDocument = { uri: one.uri('a.hx') };
    const before = text.slice(0, offset).split('\n');
    const position = { line: before.length - 1, character: before.at(-1)!.length };
    for (const method of [...requests, ...rest, ...more]) {
      const { error } = one.ask(`textDocument/${method}`, { textDocument, position });
      if (error !== undefined) expect.fail(`${method} at ${offset}: ${error.message}\n${text}`);
    }
  }

  /** A query each, or what stands above the first. */
  const itemsOf = (text: string): string[] => text.split(/^(?=QUERY )/m);

  test('cut at every byte', async () => {
    // The runner gives up a test that never waits.
    const wholes = isLong ? [examplesText, gardenText, queries] : [queries];
    const cutAll = async (text: string, step: number): Promise<void> => {
      for (let end = 0; end <= text.length; end += step) {
        if (end % 100 === 0) await nextTurn();
        // Formatting takes as long as all else; of texts that are cut it has a test of its own [W10].
        survives(text.slice(0, end), end, end % 5 === 0 ? ['formatting'] : []);
      }
    };
    // What stands above a query is checked once: every byte of each by itself, and some of the whole.
    for (const whole of wholes) await cutAll(whole, 17);
    if (isLong) for (const one of wholes.flatMap(itemsOf)) await cutAll(one, 1);
  });

  test('edited at random', async () => {
    const random = new Random(11);
    const pieces = [
      '{',
      '}',
      '(',
      ')',
      '<',
      '::',
      '<-',
      '"',
      '/*',
      '_',
      'RETURN ',
      '\n',
      'N<',
      'é',
      '\u{1f331}',
    ];
    // After so many edits a text is no longer nearly right: the next ones begin with another.
    const editsOfText = 40;
    const examples = itemsOf(examplesText);
    let text = queries;
    for (let edit = 0; edit < (isLong ? 40_000 : editsOfText); edit++) {
      if (edit % 1_000 === 999) await nextTurn();
      if (edit > 0 && edit % editsOfText === 0) text = random.pick(examples);
      const at = random.below(text.length + 1);
      const cut = random.chance(0.4) ? random.below(6) : 0;
      text =
        text.slice(0, at) + (random.chance(0.6) ? random.pick(pieces) : '') + text.slice(at + cut);
      const started = performance.now();
      survives(text, at);
      expectFigure(performance.now() - started, 2_000, 'ms for an edit');
    }
  });

  test('messages that are none', () => {
    const strange = new Editor({});
    for (const message of [null, 5, [], 'x']) strange.bytes(frame(JSON.stringify(message)));
    strange.bytes(frame('{'));
    expect(strange.ask('textDocument/hover', {}).result).toBeNull();
    expect(
      strange.ask('textDocument/hover', { textDocument: { uri: 'untitled:1' } }).result,
    ).toBeNull();
    for (const byte of Buffer.from(frameOf({ id: 99, method: 'shutdown' })))
      strange.bytes(Buffer.from([byte]));
    strange.tell('exit');
    expect(strange.exited).toBe(0);
    strange.bytes('Content-Length: x\r\n\r\n');
    expect(strange.exited).toBe(1);
    strange.close();
  });
});

const frame = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

test('W08 trellis lsp over stdio', async () => {
  const child = spawn(process.execPath, [join(root, 'dist/bin/main.js'), 'lsp', '--stdio']);
  const reader = new FrameReader();
  const heard: unknown[] = [];
  child.stdout.on('data', (bytes: Buffer) => heard.push(...reader.push(bytes)));
  for (const [id, method] of [
    [1, 'initialize'],
    [2, 'shutdown'],
  ] as const)
    child.stdin.write(frameOf({ id, method }));
  child.stdin.write(frameOf({ method: 'exit' }));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, heard.length]).toEqual([0, 2]);
});
