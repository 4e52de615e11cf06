// Nothing is undocumented: every key of the configuration with its default, every limit, every command and flag, every
// metric; and what the manual leads to is there.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../server/command/cli.js';
import { keySchemas, type KeySchema, vectorTypeSchema } from '../../server/config/config-schema.js';
import { projectFlags } from '../../server/terminal/command.js';
import { readManual } from '../support/page.js';
import { root } from '../support/project.js';

const pageOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const list = (faults: string[]): void => expect(faults).toEqual([]);

const units = {
  bytes: [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
    ['B', 1],
  ],
  milliseconds: [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ],
} as const;

/** A value as the tables of the manual write it. */
function printValue(value: unknown, { unit }: KeySchema): string {
  if (typeof value !== 'number') return `\`${Array.isArray(value) ? '[]' : value}\``;
  if (unit === undefined || value === 0) return value.toLocaleString('en');
  const [name, size] = units[unit].find(([, size]) => value % size === 0)!;
  return `${(value / size).toLocaleString('en')} ${name}`;
}

/** Defaults that words tell: empty in the schema, found at the start, or better read so. */
const isTold = (key: string, { default: value }: KeySchema): boolean =>
  value === '' || key === 'server.port' || (value === 0 && !key.startsWith('limits.'));

describe('the configuration', () => {
  const page = pageOf('server/configuration.md');
  const rows = new Map(
    [...page.matchAll(/^\| `([\w.]+)` \| (.*) \|$/gm)].map((row) => [
      row[1]!,
      row[2]!.split(' | '),
    ]),
  );

  test('every key has a row, with its default', () => {
    list(
      [...keySchemas].flatMap(([key, schema]) => {
        const row = rows.get(key);
        if (row === undefined) return [`${key} has no row`];
        const standard = printValue(schema.default, schema);
        const says = row[0]!.replace(' (off)', '');
        return isTold(key, schema) || says === standard ? [] : [`${key}: ${says}, not ${standard}`];
      }),
    );
  });

  test('every limit says how far it may be raised', () => {
    const limits = [...keySchemas].filter(([key]) => key.startsWith('limits.'));
    expect(limits.length).toBeGreaterThan(40);
    list(
      limits.flatMap(([key, schema]) => {
        const most =
          schema.maximum === Number.MAX_SAFE_INTEGER ? '' : printValue(schema.maximum, schema);
        const says = rows.get(key)?.[1]?.trim();
        return says === most ? [] : [`${key}: at most ${says}, not ${most}`];
      }),
    );
  });

  test('every row is about an existing key', () => {
    list([...rows.keys()].filter((key) => !keySchemas.has(key)));
  });

  test('every key of a vector type is named', () => {
    const names = Object.keys(vectorTypeSchema.properties);
    list(names.filter((name) => !page.includes(`\`vectors.<Type>.${name}\``)));
  });
});

describe('the command line', () => {
  const page = pageOf('server/command-line.md');
  const [front, ...sections] = page.split(/^## /m);
  /** The part of the page whose title, or else text, names a command. */
  const sectionOf = (name: string): string =>
    sections.find((part) => new RegExp(`\\b${name}\\b`).test(part.split('\n')[0]!)) ?? front!;

  test('every command is described', () => {
    expect(commands.length).toBeGreaterThan(12);
    list(
      commands
        .filter(({ name }) => !sectionOf(name).includes(`trellis ${name}`))
        .map(({ name }) => name),
    );
  });

  test('every flag stands with its command, or with those of all', () => {
    list(
      commands.flatMap(({ name, flags }) =>
        Object.keys(flags)
          .filter((flag) => {
            const text = Object.hasOwn(projectFlags, flag) ? front! : sectionOf(name);
            return !new RegExp(`--${flag}\\b(?!-)`).test(text);
          })
          .map((flag) => `trellis ${name} --${flag}`),
      ),
    );
  });
});

test('the mistakes are those that are tested, with what is said of them', () => {
  type Mistake = [habit: string, source: string, first: string, hint: string];
  const known = JSON.parse(pageOf('test/lang/mistakes.json')) as Mistake[];
  const rows = [
    ...pageOf('engine/lang/mistakes.md').matchAll(/^\| `(.+?)` \| (.*) \| (\w+) \|$/gm),
  ];
  expect(rows.length).toBeGreaterThan(60);
  const isKnown = ([, written, hint, code]: RegExpMatchArray): boolean =>
    known.some(
      ([, source, first, said]) =>
        source.includes(written!) && said === hint && first.startsWith(`${code} `),
    );
  list(rows.filter((row) => !isKnown(row)).map(([row]) => row));
});

test('every room has a row, which names the rooms in it', () => {
  const page = pageOf('engine/README.md');
  const roomsIn = (path: string): string[] =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const rooms = [...roomsIn('engine').map((name) => `engine/${name}`), 'server'];
  list(
    rooms.flatMap((room) => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${room}\``)) ?? '';
      return ['', ...roomsIn(room)]
        .filter((name) => !row.includes(name === '' ? room : `\`${name}\``))
        .map((name) => `${room}/${name}`);
    }),
  );
});

test('every benchmark is named', () => {
  const source = pageOf('bench/main.ts');
  const names = [...source.matchAll(/^ {2}(\w+): '\w+\/[\w-]+',$/gm)].map((match) => match[1]!);
  expect(names.length).toBeGreaterThan(10);
  const page = pageOf('bench/README.md');
  list(names.filter((name) => !new RegExp(`^\\|.*\`${name}\\b`, 'm').test(page)));
});

describe('what the manual leads to', () => {
  const pages = readManual();
  /** The name that a heading is linked by. */
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
  const anchors = new Map(
    pages.map(({ path, text }) => [
      path,
      new Set([...text.matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1]!))),
    ]),
  );

  test('links lead to pages and headings', () => {
    list(
      pages.flatMap(({ path, text }) =>
        [...text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].flatMap(([, link]) => {
          const [file, heading] = link!.split('#') as [string, string | undefined];
          const target = file === '' ? path : join(dirname(path), file);
          if (!existsSync(join(root, target))) return [`${path}: ${link}`];
          const known = heading === undefined || anchors.get(target)?.has(heading) === true;
          return known ? [] : [`${path}: ${link}`];
        }),
      ),
    );
  });

  test('files that are named exist', () => {
    list(
      pages.flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:engine|server|wasm|bench|test)\/[\w./-]*\w)`/g)]
          .filter(([, name]) => !existsSync(join(root, name!)))
          .map(([, name]) => `${path}: ${name}`),
      ),
    );
  });

  test('every page is led to from the first', () => {
    const linked = new Set<string>();
    const follow = (path: string): void => {
      if (linked.has(path)) return;
      linked.add(path);
      const text = pages.find((page) => page.path === path)?.text ?? '';
      for (const [, link] of text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)) {
        const target = join(dirname(path), link!);
        if (target.endsWith('.md')) follow(target);
      }
    };
    follow('README.md');
    list(pages.map(({ path }) => path).filter((path) => !linked.has(path)));
  });
});
