// CSV into rows: whatever a table holds comes through any cut of its bytes, and a file that cannot be
// taken apart is refused with its place; nothing is merged, cut or dropped.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import type { ElementType } from '../../engine/base/schema.js';
import { CsvReader } from '../../server/import/csv.js';
import { dateReader, plainDate } from '../../server/import/csv-date.js';
import { node } from '../storage/kit/declare.js';
import { Random } from '../support/random.js';

const type: ElementType = node('P', { name: 'String', age: 'I64', born: 'Date', tags: '[String]' });

async function rowsOf(text: string | Uint8Array, cut = 1 << 20, format?: string) {
  const reader = new CsvReader('p.csv', {
    delimiter: ',',
    readDate: format === undefined ? plainDate : dateReader(format),
    type,
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
  it('reads what a table holds, in whatever pieces it comes', async () => {
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

  const broken: [string, string | Uint8Array, RegExp][] = [
    ['a quote within a cell', 'name,age\na,1\nb"c,2\nd,3\n', /^p\.csv, line 3: .*quote/i],
    ['text behind a quote', 'name,age\n"a"b,1\n', /^p\.csv, line 2: .*quote/i],
    ['a quote behind a space', 'name,age\na, "b"\n', /^p\.csv, line 2: .*quote.*column 2/i],
    ['a quote that stays open', 'name,age\na,1\n"b,2\nc,3\n', /^p\.csv, line \d: .*quote/i],
    ['a zero byte', 'name\na\nb\0\n', /^p\.csv, line 3: a zero byte/],
    ['UTF-16', Buffer.from('name\na\n', 'utf16le'), /^p\.csv, line 1: a zero byte/],
    [
      'Latin-1',
      Buffer.from('name\nä\nb\n', 'latin1'),
      /^p\.csv, line [23]: bytes that are no UTF-8/,
    ],
    ['half a character', Buffer.from('name\nä').subarray(0, -1), /^p\.csv, line 2: bytes that/],
    ['an unknown column', 'name,size\na,1\n', /^p\.csv, line 1: there is a column size/],
    ['a column twice', 'name,name\na,b\n', /^p\.csv, line 1: the column name stands there twice/],
    ['an empty name', 'name,\na,b\n', /^p\.csv, line 1: there is a column ;/],
  ];
  it.each(broken)('refuses a file with %s', async (_, text, message) => {
    for (const cut of [1, 1000]) expect(await messageOf(rowsOf(text, cut))).toMatch(message);
  });
});
