// The reserve file: written some seconds after the start, whole or not at all, and only where the disk
// has room for it.
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { maintainBallast } from '../../engine/database/maintenance/ballast.js';
import { freshFolder } from './support/garden.js';

const bytes = 3 * 1024 * 1024 + 17;
const delayMs = 10_000;

/** Resolves when the file is there, or nothing has come for a while. */
async function settle(folder: string): Promise<void> {
  for (let i = 0; i < 40 && !existsSync(join(folder, 'ballast')); i++) await delay(10);
}

describe('ballast', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('reserves its disk space after a while', async () => {
    const folder = freshFolder();
    maintainBallast(folder, bytes, 0);
    vi.advanceTimersByTime(delayMs - 1);
    await settle(folder);
    expect(readdirSync(folder)).toEqual([]);
    vi.advanceTimersByTime(1);
    await settle(folder);
    const found = statSync(join(folder, 'ballast'));
    expect(found.size).toBe(bytes);
    // Not a hole: the blocks are there.
    expect(found.blocks * 512).toBeGreaterThanOrEqual(bytes);
    expect(readdirSync(folder)).toEqual(['ballast']);
  });

  it('keeps an existing file, and writes none that is not configured', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(bytes + 1));
    maintainBallast(folder, bytes, 0);
    const empty = freshFolder();
    maintainBallast(empty, 0, 0);
    vi.advanceTimersByTime(delayMs);
    await settle(empty);
    expect(statSync(join(folder, 'ballast')).size).toBe(bytes + 1);
    expect(readdirSync(empty)).toEqual([]);
  });

  it('is not written if it would take space that must stay free', async () => {
    const folder = freshFolder();
    maintainBallast(folder, bytes, 2 ** 60);
    vi.advanceTimersByTime(delayMs);
    await settle(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is abandoned when the database closes, before and while it is written', async () => {
    const early = freshFolder();
    maintainBallast(early, bytes, 0).stop();
    const late = freshFolder();
    const writing = maintainBallast(late, bytes, 0);
    vi.advanceTimersByTime(delayMs);
    writing.stop();
    await settle(late);
    expect(readdirSync(late)).toEqual([]);
    expect(readdirSync(early)).toEqual([]);
  });
});
