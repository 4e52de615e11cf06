// Formats of the data directory (T22 of operations.md 12): a directory of every format that this or an
// earlier version has written is kept below test/corpus/golden, and opens or is refused with what to
// do about it.
//
// They were made of schema.hx there. `format-1.0` and `format-2.0`: 300 plants of which 30 were dropped, with
// edges, texts, long values, a value that more than 128 share, and vectors in both widths. The others, by
// the recipe below, over HTTP, by builds of commits that changed what is stored, each with the packages that
// it locked: `keywords` where the keyword index had a mark that said nothing, `first` and `last` of a format,
// `rules` where the mark said by which rules, `listed` before edges of an import could wait for their lists.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { openDataDirectory, storageFormat } from '../../engine/storage/folder/manifest.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { openEmbedded } from '../support/server/embedded-server.js';
import { freshFolder } from './support/garden.js';

const golden = fileURLToPath(new URL('../corpus/golden', import.meta.url));

function unpacked(name: string, path = freshFolder()): string {
  mkdirSync(join(path, 'graph'), { recursive: true });
  writeFileSync(
    join(path, 'MANIFEST.json'),
    readFileSync(join(golden, name, 'MANIFEST.json'), 'utf8'),
  );
  const packed = readFileSync(join(golden, name, 'data.mdb.gz'));
  writeFileSync(join(path, 'graph', 'data.mdb'), gunzipSync(packed));
  return path;
}

/** SHA-256 of the dump of each directory that opens. */
const dumps: Record<string, string> = {
  'format-2.0': '7a896114dd8bd176bec231101ccb70ac5d463a7420d56bf01c653486cb73cd72',
};

const queries = `
QUERY all(words: String, near: [F64]) =>
  plants <- N<Plant>::{ code, species, text }
  edges <- E<Near>::{ a: _::FromN::{ code }, b: _::ToN::{ code }, weight }
  pictures <- V<Picture>::COUNT
  moss <- SearchBM25<Plant>(words, 500)::{ code }
  leaf <- SearchV<Leaf>(near, 1)::{ name }
  RETURN plants, edges, pictures, moss, leaf
`;

interface Answer {
  plants: unknown[];
  edges: unknown[];
  pictures: number;
  moss: { code: number }[];
  leaf: unknown[];
}

/** What was put into the younger ones. */
function recipe(): unknown {
  const isThere = (code: number): boolean => code < 85 || code >= 95;
  const codes = Array.from({ length: 100 }, (_, code) => code).filter(isThere);
  const textOf = (code: number): string =>
    code % 10 === 0 ? `${'x'.repeat(3000)} moss ${code}` : `green leaf number ${code}`;
  const edges = Array.from({ length: 60 }, (_, i) => ({ i, to: (i * 7 + 1) % 100 }));
  return {
    plants: codes.map((code) => ({
      code,
      species: code % 2 === 1 ? 'oak' : `s${code % 7}`,
      text: textOf(code),
    })),
    edges: edges
      .filter(({ to }) => isThere(to))
      .map(({ i, to }) => ({ a: i, b: to, weight: i / 8 })),
    pictures: 20,
    moss: expect.arrayContaining(codes.filter((code) => code % 10 === 0).map((code) => ({ code }))),
    leaf: [{ name: 'l' }],
  };
}

describe('a data directory of an earlier version (T22)', () => {
  const names = readdirSync(golden).filter((name) => name.startsWith('format-'));

  const isRefused = (name: string): boolean => name.startsWith('format-1.');

  it('exists for every earlier format', () => {
    const { major, minor } = storageFormat;
    expect(names.some((name) => name.startsWith(`format-${major}.${minor}`))).toBe(true);
    for (const name of names) {
      const { format } = JSON.parse(readFileSync(join(golden, name, 'MANIFEST.json'), 'utf8'));
      expect(name).toContain(`format-${format.major}.${format.minor}`);
    }
  });

  it.each(names.filter((name) => name in dumps))('opens and holds what it held: %s', (name) => {
    const path = unpacked(name);
    const directory = openDataDirectory(path);
    const storage = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'attach' });
    expect(verifyStorage(storage, { dbUuid: directory.dbUuid })).toEqual([]);
    const hash = createHash('sha256');
    for (const block of dump(storage)) hash.update(block);
    expect(hash.digest('hex')).toBe(dumps[name]);
    storage.close();
    directory.close({ clean: true });
  });

  const opened = names.filter((name) => !isRefused(name));
  it.each(opened)('is served by a server, and verified: %s', async (name) => {
    const folder = freshFolder();
    unpacked(name, join(folder, 'data'));
    const schema = readFileSync(join(golden, 'schema.hx'), 'utf8');
    const project = { sources: { 'main.hx': schema + queries } };
    const near = name in dumps ? new Array<number>(700).fill(1) : [3, 0, 1];
    // The second time by what the first has left.
    for (let time = 0; time < 2; time++) {
      const { db } = await openEmbedded(project, folder);
      const answer = await db.call<Answer>('all', { words: 'moss', near });
      if (!(name in dumps)) expect(answer).toEqual(recipe());
      expect(answer.leaf).toHaveLength(1);
      await db.call('addPlant', { species: 'new', code: 5000, text: 'fresh' });
      const found = await db.call<Answer>('all', { words: 'fresh', near });
      expect(found.moss).toEqual([{ code: 5000 }]);
      await db.call('drop', { code: 5000 });
      await db.close();
      const path = join(folder, 'data');
      const directory = openDataDirectory(path);
      const limits = defaultLimits;
      const storage = openStorage(join(path, 'graph'), { limits, mode: 'attach' });
      const { dbUuid } = directory;
      expect(verifyStorage(storage, { dbUuid, dataDir: path })).toEqual([]);
      storage.close();
      directory.close({ clean: true });
    }
  });

  it.each(names.filter(isRefused))('is refused with a way out: %s', (name) => {
    const path = unpacked(name);
    const before = readFileSync(join(path, 'graph', 'data.mdb'));
    const [, found] = /format-(\d+\.\d+)/.exec(name)!;
    expect(() => openDataDirectory(path)).toThrowError(
      expect.objectContaining({
        code: 'DATA_DIR_BAD',
        message: expect.stringContaining(`the data has format ${found}, this version reads`),
        data: expect.objectContaining({ hint: expect.stringContaining('trellis dump') }),
      }),
    );
    expect(readFileSync(join(path, 'graph', 'data.mdb')).equals(before)).toBe(true);
    expect(readFileSync(join(path, 'MANIFEST.json'), 'utf8')).toContain('"major": 1');
  });
});
