// A disk beside the data file that is full or fails: whoever asked for a backup or a snapshot is told so,
// and which disk, by a code of the catalogue; what is no trouble of a disk stays the defect that it is.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TrellisError } from '../../../engine/base/errors.js';
import { asDiskError } from '../../../engine/storage/lock/disk-error.js';
import { openEmbedded } from '../../support/server/embedded-server.js';
import { freshFolder } from '../../storage/support/garden.js';

const place = { path: freshFolder(), name: 'the folder of backups', bytes: 7 };
const failed = (code: unknown): Error => Object.assign(new Error('it failed, write'), { code });

// As Node names errors of the system, and as LMDB numbers them.
it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27])('%s is a full disk', (code) => {
  const { data } = asDiskError(failed(code), place) as TrellisError;
  expect(data).toMatchObject({
    code: 'INSUFFICIENT_STORAGE',
    args: { needed: 7 },
    hint: 'Free space on the disk of the folder of backups.',
  });
  expect(data.args.free).toBeGreaterThan(0);
});

it.each(['EIO', 'EROFS', 'EACCES', 'ENOTDIR', 5])(
  '%s is a directory that cannot be used',
  (code) => {
    const { data } = asDiskError(failed(code), place) as TrellisError;
    expect(data).toEqual({
      code: 'DATA_DIR_BAD',
      args: { what: 'the folder of backups: it failed' },
    });
  },
);

it.each([
  failed('ERR_ASSERTION'),
  failed(undefined),
  new TypeError('no function'),
  new TrellisError({ code: 'DATA_CORRUPT', args: {} }),
  'a text',
])('%s stays what it is', (error) => expect(asDiskError(error, place)).toBe(error));

it('a backup to an impossible path is refused, and the next one succeeds', async () => {
  const source = 'N::Item { v: I64 } QUERY add() => AddN<Item>({ v: 1 }) RETURN NONE';
  const { db, dispose } = await openEmbedded({ sources: { 'main.hx': source } });
  const folder = freshFolder();
  const taken = join(folder, 'file');
  writeFileSync(taken, '');
  try {
    const refused = db.database.backUp(join(taken, 'b'));
    await expect(refused).rejects.toMatchObject({ code: 'DATA_DIR_BAD' });
    const { bytes } = await db.database.backUp(join(folder, 'b'));
    expect(bytes).toBeGreaterThan(0);
    expect(existsSync(join(folder, 'b', 'BACKUP.json'))).toBe(true);
  } finally {
    await dispose();
  }
});
