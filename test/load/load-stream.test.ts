// A stream of bytes becomes chunks of a bulk load: whole lines, without loss, whatever the blocks of the
// stream. Chunks that were committed before are read again with the same bounds.
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { noProgress } from '../../engine/database/load/load-progress.js';
import type { LoadedChunk } from '../../engine/database/load/load-piece.js';
import { LoadStream } from '../../engine/database/load/load-stream.js';
import type { BulkLoad } from '../../engine/database/load/load-run.js';
import { randomOf } from '../../bench/support/seeded-random.js';

const mebi = 1024 * 1024;

interface Heard {
  bytes: Uint8Array;
  line: number;
}

/** A load that notes what it is given, and refuses the first row of every piece. */
class NotedLoad implements BulkLoad {
  readonly progress = noProgress;
  readonly isOver = false;
  readonly heard: Heard[] = [];
  readonly replayed: Heard[] = [];
  readonly committed: LoadedChunk[] = [];

  readonly takenBack: number[] = [];

  constructor(
    public chunks: readonly LoadedChunk[] = [],
    readonly isMendable = false,
  ) {}

  prepare = (): Promise<void> => Promise.resolve();

  replay(bytes: Uint8Array<ArrayBuffer>, piece: LoadedChunk) {
    this.replayed.push({ bytes, line: piece.from.line });
    return Promise.resolve({ rejects: [], bytes, retried: [] });
  }

  takeBack(from: number): Promise<void> {
    this.takenBack.push(from);
    this.chunks = this.chunks.slice(0, from);
    return Promise.resolve();
  }

  rows(bytes: Uint8Array, line: number, to: LoadedChunk['to']) {
    this.heard.push({ bytes, line });
    const from = this.committed.at(-1)?.to ?? { offset: 0, line: 1 };
    this.committed.push({ from, to, firstId: 1, refused: [], checksum: crc32(bytes) });
    const error = { code: 'PARAM_TYPE' as const, args: {} };
    const counts = { nodes: 1, edges: 0, vectors: 0, updated: 0 };
    return Promise.resolve({ ...counts, rejects: [{ line, error }], bytes, retried: [] });
  }

  checkRoom = (): void => undefined;
  finish = (): Promise<void> => Promise.resolve();
  close = (): Promise<void> => Promise.resolve();
}

/** Lines of all lengths, numbered, some of several MiB. */
function linesOf(seed: number, total: number): Uint8Array {
  const random = randomOf(seed);
  const lines: string[] = [];
  for (let size = 0, i = 1; size < total; i++) {
    const length = random() < 0.01 ? random() * 5 * mebi : random() ** 4 * 20_000;
    const line = `${i} ${'x'.repeat(Math.floor(length))}\n`;
    lines.push(line);
    size += line.length;
  }
  return Buffer.from(lines.join(''));
}

async function feed(load: BulkLoad, bytes: Uint8Array, blockOf: () => number): Promise<string[]> {
  const texts: string[] = [];
  const loadFeed = new LoadStream(load, {
    onRejects: (rows) => texts.push(...rows.map(({ text }) => text)),
  });
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, Math.floor(blockOf()));
    await loadFeed.write(bytes.subarray(at, at + size));
    at += size;
  }
  await loadFeed.end();
  return texts;
}

const numberOf = (bytes: Uint8Array): number =>
  Number.parseInt(Buffer.from(bytes.subarray(0, 12)).toString(), 10);

describe('pieces of a load', () => {
  it.each([1, 2, 3])('are whole lines, and all of them (%i)', async (seed) => {
    const bytes = linesOf(seed, 50 * mebi);
    const random = randomOf(seed);
    const load = new NotedLoad();
    const texts = await feed(load, bytes, () => random() ** 3 * 8 * mebi);
    const { heard, committed } = load;
    expect(Buffer.concat(heard.map((piece) => piece.bytes)).equals(bytes)).toBe(true);
    for (const piece of heard) {
      expect(piece.bytes.at(-1)).toBe(10);
      expect(numberOf(piece.bytes)).toBe(piece.line);
      expect(piece.bytes.byteLength).toBe(piece.bytes.buffer.byteLength);
    }
    expect(texts.map((text) => Number.parseInt(text, 10))).toEqual(heard.map(({ line }) => line));
    expect(heard[0]!.bytes.length).toBeLessThan(7 * mebi);
    expect(Math.max(...heard.map((piece) => piece.bytes.length))).toBeLessThan(22 * mebi);
    const done = committed.slice(0, 3);
    const again = new NotedLoad(done);
    await feed(again, bytes, () => 3 * mebi);
    expect(again.replayed.map(({ line }) => line)).toEqual(done.map(({ from }) => from.line));
    const sizes = (pieces: readonly Heard[]) => pieces.map(({ bytes }) => bytes.length);
    expect(sizes(again.replayed)).toEqual(sizes(heard.slice(0, 3)));
    expect(numberOf(again.heard[0]!.bytes)).toBe(done[2]!.to.line);
    const all = [...again.replayed, ...again.heard].map((piece) => piece.bytes);
    expect(Buffer.concat(all).equals(bytes)).toBe(true);
  });

  const changes: [string, (lines: string[]) => string[], number][] = [
    ['nothing', (lines) => lines, 4],
    ['the first line', ([, ...lines]) => ['0 mended\n', ...lines], 0],
    ['a line in the middle', (lines) => lines.with(lines.length >> 1, '0 longer than before\n'), 2],
    ['the last line', (lines) => lines.with(-1, '0 x\n'), 3],
    ['lines at the end', (lines) => lines.slice(0, -5), 3],
    ['nearly all of it', (lines) => lines.slice(0, 2), 0],
    ['a line more', (lines) => [...lines, '0 more\n'], 4],
  ];
  it.each(changes)('keep what is the same when a file is mended in %s', async (_, change, kept) => {
    const lines = Array.from({ length: 6000 }, (_, i) => `${i} ${'x'.repeat(1000)}\n`);
    const former = new NotedLoad();
    await feed(former, Buffer.from(lines.join('')), () => mebi);
    expect(former.committed.length).toBe(4);
    const bytes = Buffer.from(change(lines).join(''));
    for (const block of [mebi / 3, 100 * mebi]) {
      const load = new NotedLoad(former.committed, true);
      await feed(load, bytes, () => block);
      expect(load.replayed).toHaveLength(kept);
      expect(load.takenBack).toEqual(kept === 4 ? [] : [kept]);
      const all = [...load.replayed, ...load.heard].map((piece) => piece.bytes);
      expect(Buffer.concat(all).equals(bytes)).toBe(true);
    }
  });

  it('take a last line without its end, and a line longer than a piece', async () => {
    const load = new NotedLoad();
    const long = Buffer.from(`1 ${'x'.repeat(3 * mebi)}\n2 ${'y'.repeat(3 * mebi)}\n3 end`);
    await feed(load, long, () => mebi / 3);
    expect(load.heard.map(({ line }) => line)).toEqual([1, 2, 3]);
    expect(Buffer.concat(load.heard.map((piece) => piece.bytes)).equals(long)).toBe(true);
  });
});
