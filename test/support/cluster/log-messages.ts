// Messages of a log as tests write and read them, by whatever driver.
import { expect } from 'vitest';
import type {
  Appended,
  Logged,
  ReplicatedLog,
} from '../../../engine/cluster/log/replicated-log.js';

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Appends until the outcome is known, as a leader does; how many tries ended unknown. */
export async function appendSurely(
  log: ReplicatedLog,
  text: string,
  after: number,
  id = text,
): Promise<{ outcome: Appended; unknown: number }> {
  for (let unknown = 0; ; unknown++) {
    const outcome = await log.append(bytesOf(text), after, id);
    if (outcome !== 'unknown') return { outcome, unknown };
  }
}

/** The messages from `from` to `to`, which must follow each other. */
export async function readTo(log: ReplicatedLog, from: number, to: number): Promise<string[]> {
  const texts: string[] = [];
  if (to < from) return texts;
  for await (const { seq, bytes } of log.read(from, () => {})) {
    if (seq !== from + texts.length) throw new Error(`${seq} behind ${from + texts.length - 1}`);
    // Messages are handed to other threads, and take nothing along that is not theirs.
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
    texts.push(textOf(bytes));
    if (seq === to) break;
  }
  return texts;
}

/** Reads on in the background, into `seen`, until the log is closed or lost. */
export function follow(
  log: ReplicatedLog,
  from: number,
): { seen: Logged[]; told: boolean[]; beats: () => number; ended: Promise<unknown> } {
  const seen: Logged[] = [];
  /** For each heartbeat: whether there are more messages. */
  const told: boolean[] = [];
  const hear = (hasMore = false): void => void told.push(hasMore);
  const read = async (): Promise<void> => {
    for await (const message of log.read(from, hear)) seen.push(message);
  };
  return {
    seen,
    told,
    beats: () => told.length,
    ended: read().then(
      () => undefined,
      (error: unknown) => error,
    ),
  };
}

/** Replies to concurrent writers, by sequence. */
export interface Race {
  owner: Map<number, string>;
  twice: number;
  unknown: number;
  refused: number;
}

/** Each appends behind what it knows, every entry to its end, until `isDone` of the count acknowledged. */
export async function race(
  logs: readonly ReplicatedLog[],
  isDone: (count: number) => boolean,
): Promise<Race> {
  const result: Race = { owner: new Map(), twice: 0, unknown: 0, refused: 0 };
  const { owner } = result;
  const write = async (log: ReplicatedLog, name: string): Promise<void> => {
    let after = await log.last().catch(() => 0);
    for (let i = 0; !isDone(owner.size); i++) {
      const id = `${name}${i}`;
      const { outcome, unknown } = await appendSurely(log, id, after);
      result.unknown += unknown;
      if (outcome === 'ok') {
        if (owner.has(after + 1)) result.twice++;
        owner.set(++after, id);
      } else {
        result.refused++;
        // The known end can be out of date; the entries before it are not.
        after = Math.max(after + 1, await log.last().catch(() => 0));
      }
    }
  };
  await Promise.all(logs.map((log, i) => write(log, String.fromCharCode(97 + i))));
  return result;
}

/** That the log holds what was acknowledged, where it was, and nothing else or twice. */
export async function verify(log: ReplicatedLog, owner: Map<number, string>): Promise<void> {
  const all = await readTo(log, 1, await log.last());
  const wrong = [...owner].filter(([seq, id]) => all[seq - 1] !== id);
  expect(wrong).toEqual([]);
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBe(owner.size);
}
