// K26: for which backups a log is kept: the two newest of it, and none of an earlier log of the same data, however
// their sequences fit.
import { expect, test } from 'vitest';
import type { ClusterNode } from '../../engine/internal.js';
import {
  ClusterSettings,
  type Mark,
  marksOf,
  packSettings,
} from '../../server/cluster/membership/settings.js';

/** A leader in that epoch, with marks that were made before. */
function leaderIn(epoch: number, marks: Mark[] = []) {
  let settings = packSettings({ marks });
  const position = { epoch, seq: 1 };
  const node = {
    position,
    settings: () => settings,
    setSettings: async (bytes: Uint8Array) => {
      settings = bytes;
      return position;
    },
    refusal: undefined,
  } as Partial<ClusterNode> as ClusterNode;
  const names = () => marksOf(node).map(({ backup }) => backup);
  return { settings: new ClusterSettings(() => node), names };
}

const later = 65_536;
const old = { backup: 'a/old', seq: 50, epoch: 7 };
/** Of a version that did not say of which log. */
const unsaid = { backup: 'a/unsaid', seq: 60 };

test('K26 marks of an earlier log hold nothing, and make no room for themselves', async () => {
  expect(leaderIn(9, [old, unsaid]).names()).toEqual(['a/old', 'a/unsaid']);
  for (const epoch of [old.epoch + later, old.epoch + 3 * later]) {
    const { settings, names } = leaderIn(epoch, [old, unsaid]);
    expect(names()).toEqual([]);
    for (const late of [old, unsaid, { ...old, epoch: epoch - later }])
      await expect(settings.mark(late)).rejects.toMatchObject({ code: 'LOG_LOST' });
    await settings.mark({ backup: 'b/one', seq: 3, epoch });
    await settings.mark({ backup: 'b/two', seq: 4, epoch: epoch - later + 1 });
    expect(names()).toEqual(['b/one', 'b/two']);
  }
});

test('K26 the two newest backups keep the log; a repeated one is the newest', async () => {
  const { settings, names } = leaderIn(1);
  for (const backup of ['a', 'b', 'a', 'c']) await settings.mark({ backup, seq: 1, epoch: 1 });
  expect(names()).toEqual(['a', 'c']);
  await settings.unmark('a');
  await settings.unmark('never');
  expect(names()).toEqual(['c']);
});

test('a node that becomes the leader during a request refuses in its former role', async () => {
  const looks = [{ code: 'NO_LEADER', args: {} }];
  const node = {
    get refusal() {
      return looks.shift();
    },
  } as unknown as ClusterNode;
  const settings = new ClusterSettings(() => node);
  await expect(settings.unmark('a')).rejects.toMatchObject({ code: 'NO_LEADER' });
});
