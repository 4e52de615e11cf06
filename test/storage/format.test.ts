// Formats of the data directory (T22 of operations.md 12): a directory of every format that this or an
// earlier version has written is kept below test/corpus/golden, and opens or is refused with what to
// do about it.
//
// They were made of schema.hx there: 300 plants of which 30 were dropped, with edges, texts, long
// values, a value that more than 128 share, and vectors in both widths.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/care/dump.js';
import { verifyStorage } from '../../engine/database/care/verify.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { freshFolder } from './kit/garden.js';

const golden = fileURLToPath(new URL('../corpus/golden', import.meta.url));

function unpacked(name: string): string {
  const path = freshFolder();
  mkdirSync(join(path, 'graph'));
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

describe('a data directory of an earlier day (T22)', () => {
  const names = readdirSync(golden).filter((name) => name.startsWith('format-'));

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

  it.each(names.filter((name) => !(name in dumps)))('is refused with a way out: %s', (name) => {
    const path = unpacked(name);
    const before = readFileSync(join(path, 'graph', 'data.mdb'));
    const found = name.replace('format-', '');
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
