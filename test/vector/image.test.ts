// What a snapshot relies on: every change of the memory is marked, so that the last pass copies a few
// pages and the image is still what the memory was.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as at from '../../wasm/layout.js';
import { LargeFile } from '../../engine/fs/large-file.js';
import { SnapshotCopy } from '../../engine/vector/snapshot-copy.js';
import type { Layout, Metric } from '../../engine/vector/index.js';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { defaults, indexOf, long } from './fixture.js';
import { clustered, randomFrom } from './random.js';

/** The memory of a segment with nothing left of what snapshots may hold in any state. */
function durablePart(index: SharedIndex, bytes: Uint8Array): Uint8Array {
  const segment = index.segments[0]!;
  const copy = bytes.slice(0, segment.bytes);
  const live = new DataView(segment.memory.buffer);
  const word = (address: number): number => live.getUint32(address, true);
  const clear = (from: number, length: number): void => {
    copy.fill(0, from, from + length);
  };
  const padded = segment.padded;
  for (let i = 0; i < at.SCRATCHES_MAX; i++) {
    const lane = (word(at.H_SCRATCH_TABLE + i * 4) & ~1) >>> 0;
    if (lane === 0) continue;
    const seen = Math.ceil((word(at.H_CAPACITY) + 63) / 8 / 64) * 64;
    clear(lane, word(lane + at.L_SEEN) + seen - lane);
    clear(word(lane + at.L_ALLOW), word(lane + at.L_ALLOW_ROOM) * 4);
  }
  if (word(at.H_BULK_ROWS)) clear(word(at.H_BULK_ROWS), at.BULK_ROWS * (64 + padded * 4));
  clear(word(at.H_MARKS), word(at.H_BYTES_MAX) / at.PAGE_BYTES + 1);
  for (let slot = 0; slot < segment.slots; slot++) {
    clear((segment.kernel.nodeAt(slot) >>> 0) + at.N_DEGREE, 4);
  }
  return copy;
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b) === 0 ? -1 : a.findIndex((byte, i) => byte !== b[i]);
}

/** Any change that a server makes, at random. */
function change(index: SharedIndex, seed: number, metric: Metric): void {
  const random = randomFrom(seed);
  const vectors = clustered(60, index.dimension, { seed, clusters: 6, spread: 1 });
  for (const [i, vector] of vectors.entries()) {
    const choice = random();
    const id = 1 + Math.floor(random() * 4_000);
    if (choice < 0.2) index.delete(id);
    else if (choice < 0.3) index.put(id, vectors[0]!);
    else if (choice < 0.35 && metric === 'cosine') index.put(id, new Float64Array(index.dimension));
    // Outside the range of the codes, now and then.
    else if (choice < 0.4)
      index.put(
        id,
        vector.map((x) => x * 40),
      );
    else index.put(id, vectors[i]!);
    if (choice > 0.9) index.maintain(0.2);
  }
  const batch = clustered(150, index.dimension, { seed: seed + 1, clusters: 6 });
  const first = 5_000 + Math.floor(random() * 60_000);
  index.insertBatch(
    Uint32Array.from(batch, (_, i) => first + i),
    (i) => batch[i]!,
  );
}

const rounds = long ? 40 : 6;

test.each<[Metric, Layout, number]>([
  ['l2', 'fast', 1_300],
  ['cosine', 'compact', 1_300],
  ['dot', 'fast', 1_300],
  // The graph begins while the snapshot is being made.
  ['l2', 'compact', 950],
  ['cosine', 'fast', 950],
])('%s, layout %s: all changes since the first pass are in the image', (metric, layout, count) => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const vectors = clustered(count, 40, { seed: 3, clusters: 12 });
  const index = indexOf(vectors, { ...defaults, metric, layout });
  for (let round = 0; round < rounds; round++) {
    index.openMarks();
    const path = join(folder, 'image');
    const file = new LargeFile(path, 'w');
    const copy = new SnapshotCopy(file, 0, index.segments, () => {});
    copy.pass();
    change(index, round * 10, metric);
    const second = copy.pass();
    index.put(7, vectors[1]!);
    copy.freeze();
    copy.flush();
    file.close();
    const image = readFileSync(path);
    const memory = new Uint8Array(index.segments[0]!.memory.buffer);
    expect(second).toBeLessThanOrEqual(image.length);
    expect(firstDifference(durablePart(index, image), durablePart(index, memory))).toBe(-1);
    index.closeMarks();
    change(index, round * 10 + 5, metric);
  }
  rmSync(folder, { recursive: true });
});
