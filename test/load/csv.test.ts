// CSV into rows: whatever a table holds comes through any cut of its bytes, and a record that cannot be
// taken apart is a refused row with its place; nothing is merged, cut or dropped.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import type { ElementType } from '../../engine/base/schema.js';
import { CsvReader } from '../../server/import/csv.js';
import { dateReader, plainDate } from '../../server/import/csv-date.js';
import { node } from '../storage/support/declare.js';
import { Random } from '../support/random.js';

const type: ElementType = node('P', { name: 'String', age: 'I64', born: 'Date', tags: '[String]' });

async function rowsOf(text: string | Uint8Array, cut = 1 << 20, format?: string, of = type) {
  const reader = new CsvReader('p.csv', {
    delimiter: ',',
    readDate: format === undefined ? plainDate : dateReader(format),
    type: of,
    typeOf: () => undefined,
    columns: new Map(),
    skip: new Set(),
    keys: {},
  });
  const bytes = Buffer.from(text as string);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += cut)
    parts.push(reader.read(bytes.subarray(at, at + cut)));
  parts.push(reader.end());
  const lines = Buffer.concat(parts).toString();
  return lines.split('\n').slice(0, -1);
}

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => `no error: ${JSON.stringify(value)}`,
    (error) => (error instanceof TrellisError ? error.message : `defect: ${String(error)}`),
  );

const properties = (line: string): unknown =>
  line === '' ? '' : (JSON.parse(line).properties ?? JSON.parse(line).refused);

describe('CSV', () => {
  it('reads the content of a table, in blocks of any size', async () => {
    const random = new Random(5);
    const pieces = ['a', 'ä', '"', '""', ',', '\n', '\r\n', '\r', ' ', '€', '\ufeff', '', 'x y'];
    for (let round = 0; round < 60; round++) {
      const ending = random.pick(['\n', '\r\n', '\r']);
      const names = Array.from({ length: 1 + random.below(20) }, () =>
        Array.from({ length: random.below(6) }, () => random.pick(pieces)).join(''),
      );
      const records = names.map((name) => `"${name.replaceAll('"', '""')}",7`);
      const bom = random.chance(0.5) ? '\ufeff' : '';
      const end = random.chance(0.5) ? ending : '';
      const text = `${bom}${random.pick(['name', '"name"'])},age${ending}${records.join(ending)}${end}`;
      const lines = await rowsOf(text, 1 + random.below(9));
      expect(lines.map(properties), JSON.stringify(text)).toEqual(
        names.map((name) => ({ name, age: 7 })),
      );
    }
  });

  const cells: Record<string, [string, unknown[]]> = {
    'unset and empty': ['name,age\n,1\n"",2\n', [{ age: 1 }, { name: '', age: 2 }]],
    'a blank line': ['name,age\n\na,1\n', ['', { name: 'a', age: 1 }]],
    'no last newline': ['name\na', [{ name: 'a' }]],
    'a list': ['tags\n"[""a"",""b""]"\n', [{ tags: ['a', 'b'] }]],
    'too few cells': [
      'name,age\na\nb,2\n',
      [
        { param: 'row', allowed: 'a record of 2 cells, as the header has', got: '1' },
        { name: 'b', age: 2 },
      ],
    ],
    'too many cells': [
      'name,age\na,1,x\n',
      [{ param: 'row', allowed: 'a record of 2 cells, as the header has', got: '3' }],
    ],
    'a date of digits': [
      'born\n19891203\n1989-12-03\n',
      [
        {
          param: 'born',
          allowed: 'a date that says what its digits are (--date-format)',
          got: '19891203',
        },
        { born: '1989-12-03' },
      ],
    ],
  };
  it.each(Object.keys(cells))('reads %s', async (name) => {
    const [text, expected] = cells[name]!;
    for (const cut of [1, 3, 1000]) {
      expect((await rowsOf(text, cut)).map(properties)).toEqual(expected);
    }
  });

  const dates: [string, string, string | undefined][] = [
    ['YYYYMMDD', '19891203', '1989-12-03'],
    ['YYYYMMDD', '1989123', undefined],
    ['DD.MM.YYYY', '3.12.1989', '1989-12-03'],
    ['MM/DD/YYYY', '12/03/1989', '1989-12-03'],
    ['MM/DD/YYYY', '1989-12-03', undefined],
    ['YYYY-MM-DD hh:mm:ss', '1989-12-03 04:05:06', '1989-12-03T04:05:06Z'],
    ['YYYYMMDDhhmmssSSS', '20100214153210447', '2010-02-14T15:32:10.447Z'],
    ['unix', '628646400', '1989-12-03T00:00:00.000Z'],
    ['unix-ms', '628646400001', '1989-12-03T00:00:00.001Z'],
    ['unix', '1e9', undefined],
  ];
  it.each(dates)('reads dates as %s: %s', async (format, cell, born) => {
    const [line] = await rowsOf(`born\n${cell}\n`, 100, format);
    const refused = { param: 'born', allowed: `a date as ${format}`, got: cell };
    expect(properties(line!)).toEqual(born === undefined ? refused : { born });
  });

  it.each(['YYMMDD', 'DD.MM', 'YYYY', 'MM/DD/YYYY MM', 'date', ''])(
    'refuses the format %j',
    (it) => {
      expect(() => dateReader(it)).toThrow(/is no format/);
    },
  );

  const refused: [string, string | Uint8Array, unknown[]][] = [
    ['a quote within a cell', 'name,age\na,1\nb"c,2\nd,3\n', ['a', /around whole cells/, 'd']],
    ['text behind a quote', 'name,age\n"a"b,1\nc,1\n', [/closing quote/, 'c']],
    ['a quote behind a space', 'name,age\na, "b"\nc,1', [/around whole cells/, 'c']],
    ['a quote that stays open', 'name,age\na,1\n"b,2\nc,3\nd,4\n', ['a', /closed/, 'c', 'd']],
    ['one that the next one closes', 'name,age\n"b,2\nc,3\n"d,4"\n', [/quote/, 'c', /2 cells/]],
    ['one in a record of lines', 'name,age\n"a\nb"c,1\nd,2\n', [/quote/, /quote/, 'd']],
    ['one at the end', 'name,age\na,1\nb,"', ['a', /closed/]],
    ['a zero byte', 'name\na\nb\0\nc\n', ['a', /zero bytes/, 'c']],
    ['a zero byte in quotes', 'name\na\n"b\0\nx"\nc\n', ['a', /zero bytes/, 'c']],
    ['Latin-1', Buffer.from('name\nä\nb\nö\n', 'latin1'), [/UTF-8/, 'b', /UTF-8/]],
    ['half a character', Buffer.from('name\na\nä').subarray(0, -1), ['a', /UTF-8/]],
  ];
  it.each(refused)('refuses a record with %s, and reads on', async (_, text, expected) => {
    for (const ending of ['\n', '\r\n', '\r']) {
      const bytes =
        typeof text === 'string' ? Buffer.from(text.replaceAll('\n', ending)) : Buffer.from(text);
      for (const cut of [1, 2, 7, 1000]) {
        const rows = (await rowsOf(bytes, cut)).map(properties) as Record<string, string>[];
        const told = rows.map(({ name, allowed, record }) => {
          if (record !== undefined) expect(bytes.toString()).toContain(record);
          return name ?? allowed;
        });
        expect(told).toHaveLength(expected.length);
        for (const [i, one] of expected.entries()) expect(told[i]).toMatch(one as string);
      }
    }
  });

  it('puts every line of a file into one record, with any content', async () => {
    const random = new Random(11);
    const pieces = ['a', 'ä', '"', '"', '""', ',', '\n', '\n', '\r\n', '\0', ' ', '1'];
    for (let round = 0; round < 200; round++) {
      const body = Array.from({ length: random.below(30) }, () => random.pick(pieces)).join('');
      const bytes = Buffer.from(`name,age\nfirst,1\n${body}\nlast,2\n`);
      if (random.chance(0.3) && body.length > 0)
        bytes[17 + random.below(Buffer.byteLength(body))] = 0xff;
      const whole = await rowsOf(bytes);
      for (const cut of [1, 1 + random.below(9)]) expect(await rowsOf(bytes, cut)).toEqual(whole);
      const rows = whole.map(properties) as Record<string, unknown>[];
      expect(rows[0]).toEqual({ name: 'first', age: 1 });
      // An open quote takes the last line with it only where a later one closes it.
      const quotes = body.match(/"/g)?.length ?? 0;
      if (quotes === 0) expect(rows.at(-1)).toEqual({ name: 'last', age: 2 });
    }
  });

  it('reads a header and records of many cells, and lines without quotes that pair, in linear time', async () => {
    const wide = node('P', Object.fromEntries(many(2000, (i) => [`p${i}`, 'String'] as const)));
    const cpu = async (size: number, text: (size: number) => string): Promise<number> => {
      const input = text(size);
      const before = process.cpuUsage();
      await rowsOf(input, 1 << 22, undefined, wide).catch(() => undefined);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const texts: Record<string, (size: number) => string> = {
      'a header': (size) => `${many(size, (i) => `p${i}`).join(',')}\n`,
      'a name of colons': (size) => `p1,${':ID('.repeat(size)}\n`,
      'wide records': (size) => `p1,p2\n${`${'a,'.repeat(size)}\n`.repeat(3)}`,
      'a long line': (size) => `p1\n${'a'.repeat(20 * size)}\n`,
      'stray quotes': (size) => `p1\n${'a"b\n'.repeat(size)}`,
      'open quotes': (size) => `p1\n${'"b\n'.repeat(size)}`,
      'an open quote, then pairs': (size) => `p1\n"b\n${'""\n'.repeat(size)}`,
      'quotes of three': (size) => `p1\n${'"""\n'.repeat(size)}`,
    };
    for (const [what, text] of Object.entries(texts)) {
      await cpu(20_000, text);
      const [small, large] = [await cpu(20_000, text), await cpu(160_000, text)];
      // Eight times the bytes: 64 times the work where it grows with their square.
      expect(large, `${what}: ${small} us, then ${large}`).toBeLessThan(24 * small + 200_000);
    }
  });

  const broken: [string, string | Uint8Array, RegExp][] = [
    [
      'a stray quote',
      'na"me,age\na,1\n',
      /^p\.csv, line 1: the header must be a record whose quotes/,
    ],
    [
      'UTF-16',
      Buffer.from('name\na\n', 'utf16le'),
      /^p\.csv, line 1: the header .* without zero b/,
    ],
    ['a long name', `${'a'.repeat(2000)}\n`, /^p\.csv, line 1: the name of column 1 has 2000 char/],
    ['an unknown column', 'name,size\na,1\n', /^p\.csv, line 1: there is a column size/],
    ['a column twice', 'name,name\na,b\n', /^p\.csv, line 1: the column name stands there twice/],
    ['an empty name', 'name,\na,b\n', /^p\.csv, line 1: there is a column ;/],
  ];
  it.each(broken)('refuses a file whose header has %s', async (_, text, message) => {
    for (const cut of [1, 1000]) expect(await messageOf(rowsOf(text, cut))).toMatch(message);
  });
});

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
