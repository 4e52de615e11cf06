// K09, K10, K16: what is said of an entry that was appended, or was not, by what the log shows before each try and
// answers to it. Unknown is said only of what was sent; of all else whoever has asked may ask again.
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { logStart } from '../../engine/cluster/entry/chain.js';
import { entryKind } from '../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../engine/cluster/entry/encode-entry.js';
import { ClusterMetrics } from '../../engine/cluster/ipc/cluster-metrics.js';
import type { Appended } from '../../engine/cluster/log/replicated-log.js';
import { appendEntry } from '../../engine/cluster/role/appender.js';

const source = { kind: entryKind.genesis, epoch: 0, time: 0, id: Buffer.alloc(16) };
const before = encodeEntry(logStart, 0, { ...source, body: Buffer.from('before') });
const other = encodeEntry(logStart, 0, { ...source, body: Buffer.from('other') });

/** What the log shows of the entry before: it, another one, nothing; what it answers to a try. */
type Shown = 'it' | 'other' | '-';
type Said = Appended | 'full' | 'fails';

const [one, two] = [1, 2];

afterEach(() => vi.restoreAllMocks());

test.each<[isSure: boolean, shown: Shown[], said: Said[], parts: number, string, sent: number]>([
  [true, [], ['ok'], one, 'ok', 1],
  [true, [], ['ok', 'ok'], two, 'ok', 2],
  [true, [], ['behind'], one, 'behind', 1],
  [true, [], ['full'], one, 'full', 1],
  [true, [], ['fails'], one, 'lost', 1],
  [false, ['it'], ['ok'], one, 'ok', 1],
  [false, ['-', '-', 'it'], ['ok'], one, 'ok', 1],
  // Nobody says what stands before it: nothing was sent.
  [false, ['-'], [], one, 'held', 0],
  [false, ['other'], [], one, 'lost', 0],
  [false, ['-', 'other'], [], one, 'lost', 0],
  // A try that was not answered may still arrive, whatever comes after it.
  [true, ['it'], ['unknown'], one, 'unknown', 2],
  [true, ['it'], ['unknown', 'ok'], one, 'ok', 2],
  [true, ['it'], ['unknown', 'behind'], one, 'behind', 2],
  [true, ['it'], ['unknown', 'full'], one, 'unknown', 2],
  [true, ['it'], ['unknown', 'fails'], one, 'unknown', 2],
  [true, ['-'], ['unknown'], one, 'unknown', 1],
  [true, ['other'], ['unknown'], one, 'unknown', 1],
  // So may the first part of two.
  [true, [], ['ok', 'full'], two, 'unknown', 2],
  [true, [], ['ok', 'behind'], two, 'behind', 2],
  [true, ['-'], ['ok', 'unknown'], two, 'unknown', 2],
])(
  'sure %s, shown %j, said %j, parts %d: %s',
  async (isSure, shown, said, count, outcome, sent) => {
    const body = randomBytes(count * 400_000);
    const entry = encodeEntry(before.position, 1, { ...source, kind: entryKind.beat, body });
    expect(entry.parts.length).toBe(count);
    let [looks, tries] = [0, 0];
    // Time is what the log takes, however busy this machine is.
    let clock = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    /** Each in turn, the last one for ever; what was not foreseen is no answer. */
    const inTurn = <T>(list: T[], nth: number): T => list[Math.min(nth, list.length - 1)]!;
    const log = {
      at: async (seq: number) => {
        const one = inTurn(shown, looks++);
        // Behind its first part the second one stands.
        if (one === 'it') return seq === 1 ? before.parts[0]!.bytes : entry.parts[0]!.bytes;
        if (one === 'other') return other.parts[0]!.bytes;
        clock += 100;
        return undefined;
      },
      append: async (): Promise<Appended> => {
        const one = inTurn(said, tries++);
        if (one === 'full') throw new TrellisError({ code: 'LOG_FULL', args: { what: 'test' } });
        if (one === 'fails') throw new TrellisError({ code: 'LOG_LOST', args: { what: 'test' } });
        // A log takes its time before it says that it does not know.
        if (one === 'unknown') clock += 120;
        return one;
      },
    };
    const faults: unknown[] = [];
    const options = {
      timeoutMs: 210,
      clusterMetrics: new ClusterMetrics(),
      onError: (e: unknown) => void faults.push(e),
    };
    const place = { ...before.position, isVerified: isSure };
    expect([await appendEntry(log, entry, place, options), tries]).toEqual([outcome, sent]);
    const isFault = said.includes('fails') || shown.includes('other');
    expect(faults.length).toBe(isFault ? 1 : 0);
  },
);
