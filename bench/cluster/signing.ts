// `npm run bench -- signing [--rounds 20000]`: measures what it costs a leader to sign a log entry, and a
// node to check it. Seals and reads entries of several sizes with a signature and without, in alternation.
// Also prints the share of the CPU time of a write in a cluster (server/cluster.md).
import { randomBytes } from 'node:crypto';
import { EntryDecoder } from '../../engine/cluster/entry/decode-entry.js';
import { logStart } from '../../engine/cluster/entry/chain.js';
import { EntryKeys } from '../../engine/cluster/entry/entry-keys.js';
import { entryKind } from '../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../engine/cluster/entry/encode-entry.js';
import { numberOption } from '../support/bench-option.js';
import { type Cell, printTable } from '../support/table.js';

/** Clients, writes that share an entry, bytes of it, and the leader's processor time a write as cluster.md has it. */
const groups: [clients: number, writes: number, bytes: number, leaderUs: number][] = [
  [1, 1, 950, 962],
  [64, 50, 50 * 190, 86.5],
  [256, 200, 200 * 190, 65.3],
];

const keys = new EntryKeys(['what all nodes know, 32 bytes or more'], 'bench');
const signer = { keys, id: keys.newest };

/** Microseconds of an entry: sealed, and read. */
function timesOf(body: Uint8Array, isSigned: boolean, rounds: number): [number, number] {
  const id = randomBytes(16);
  const source = { kind: entryKind.genesis, epoch: 1, id, time: 0, body };
  const seal = () => encodeEntry(logStart, 0, source, isSigned ? signer : undefined);
  const sealed = seal();
  let from = process.cpuUsage();
  const since = (): number => {
    const { user, system } = process.cpuUsage(from);
    from = process.cpuUsage();
    return (user + system) / rounds;
  };
  for (let i = 0; i < rounds; i++) seal();
  const sealing = since();
  for (let i = 0; i < rounds; i++) {
    const assembler = new EntryDecoder(logStart, isSigned ? keys : undefined);
    assembler.push({ seq: 1, bytes: sealed.parts[0]!.bytes });
  }
  return [sealing, since()];
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** What the signature adds to an entry of this kind. */
function rowOf(
  [clients, writes, bytes, leaderUs]: (typeof groups)[number],
  rounds: number,
): Cell[] {
  const body = randomBytes(bytes);
  const times = { plain: [[], []], signed: [[], []] } as Record<string, [number[], number[]]>;
  for (let turn = 0; turn < turns; turn++)
    for (const how of ['plain', 'signed']) {
      const pair = timesOf(body, how === 'signed', Math.ceil(rounds / turns));
      for (const [i, time] of pair.entries()) times[how]![i]!.push(time);
    }
  const [seal, sealSigned] = [median(times.plain![0]), median(times.signed![0])];
  const [read, readSigned] = [median(times.plain![1]), median(times.signed![1])];
  const aWrite = (sealSigned - seal) / writes;
  const share = `${((100 * aWrite) / leaderUs).toFixed(2)} %`;
  const us = (value: number): string => value.toFixed(1);
  return [clients, writes, bytes, us(seal), us(sealSigned), us(read), us(readSigned), share];
}

const turns = 7;
const columns = ['clients', 'writes in an entry', 'bytes', 'sealed us', 'and signed', 'read us'];

export async function run(args: readonly string[]): Promise<void> {
  const rounds = numberOption(args, 'rounds', 20_000);
  const rows = groups.map((one) => rowOf(one, rounds));
  const last = ['and checked', "signing, of a leader's time a write"];
  console.log(printTable([...columns, ...last], rows));
}
