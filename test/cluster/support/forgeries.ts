// The entries that an attacker can append to the log of a cluster: one that can read and write the log but
// does not know its secret. All log drivers use the same table. Each entry is as valid as possible: its
// checksums, its position and its hash chain are right, so that a node that checks only these accepts it.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { EntryDecoder } from '../../../engine/cluster/entry/decode-entry.js';
import { logStart, type Position } from '../../../engine/cluster/entry/chain.js';
import { ChangeWriter } from '../../../engine/cluster/entry/changes.js';
import { EntryKeys } from '../../../engine/cluster/entry/entry-keys.js';
import { bodyOf, headSizeOf, sealHead } from '../../../engine/cluster/entry/head.js';
import { macAt, signedHeadBytes } from '../../../engine/cluster/entry/head-layout.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import { type Signer, encodeEntry } from '../../../engine/cluster/entry/encode-entry.js';
import { packLeader } from '../../../engine/cluster/ipc/leader.js';

export const logName = 'forged';
/** Oldest first; the oldest is replaced: who wrote first signed by it. */
export const secrets = ['the one that was replaced, and is known outside', 'the one that counts'];
export const keys = new EntryKeys(secrets, logName);
const [retired] = keys.ids as [number, number];

/** The log before the attack: all signed entries, in order. */
interface Found {
  messages: readonly Uint8Array[];
  /** Behind which it is to stand. */
  at: Position;
  epoch: number;
}

type Forge = (found: Found) => Uint8Array[];

const thief = packLeader({ node: 'thief', address: 'thief:1' });

function change(): Uint8Array {
  const changes = new ChangeWriter();
  changes.put(1, Uint8Array.of(1, 2, 3), Uint8Array.of(9));
  return changes.take();
}

interface Written {
  kind: number;
  epoch: number;
  body: Uint8Array;
}

function sealed({ at }: Found, written: Written, signer?: Signer): Uint8Array[] {
  const source = { ...written, id: randomBytes(16), time: Date.now() };
  const plain = { epoch: at.epoch, seq: at.seq, chain: at.chain };
  return encodeEntry(plain, at.seq, source, signer).parts.map(({ bytes }) => bytes);
}

const epochOf = ({ epoch }: Found): Written => ({
  kind: entryKind.epoch,
  epoch: epoch + 1,
  body: thief,
});

/** One entry of every kind, and one of an unknown kind. */
const kinds: Record<string, (found: Found) => Written> = {
  epoch: epochOf,
  'epoch of nobody': (found) => ({
    ...epochOf(found),
    body: packLeader({ node: '', address: '' }),
  }),
  changes: ({ epoch }) => ({ kind: entryKind.changes, epoch, body: change() }),
  beat: ({ epoch }) => ({ kind: entryKind.beat, epoch, body: thief }),
  'schema and settings': ({ epoch }) => ({ kind: entryKind.schema, epoch, body: change() }),
  check: ({ epoch }) => ({ kind: entryKind.check, epoch, body: Buffer.from('{}') }),
  mark: ({ epoch }) => ({ kind: entryKind.mark, epoch, body: Buffer.from('{}') }),
  intent: ({ epoch }) => ({ kind: entryKind.intent, epoch, body: new Uint8Array(16) }),
  genesis: () => ({ kind: entryKind.genesis, epoch: 0, body: Buffer.from('{}') }),
  'a kind of later': ({ epoch }) => ({ kind: 200, epoch, body: change() }),
  'of two parts': ({ epoch }) => ({ kind: entryKind.changes, epoch, body: randomBytes(600_000) }),
};

/** By which keys, if by any. */
const signers: Record<string, Signer | undefined> = {
  'not signed': undefined,
  'signed by another secret': signerOf('a secret of somebody else', logName),
  'signed for another log': signerOf(secrets[1]!, 'another'),
  'signed by a replaced key': { keys, id: retired },
};

function signerOf(secret: string, name: string): Signer {
  const other = new EntryKeys([secret], name);
  return { keys: other, id: other.newest };
}

/** A copy, with all that is no secret made right again: its place and its sums. */
function moved(message: Uint8Array, { at }: Found): Uint8Array {
  const copy = message.slice();
  const view = new DataView(copy.buffer);
  view.setFloat64(16, at.seq, true);
  return summed(copy);
}

function summed(message: Uint8Array): Uint8Array {
  new DataView(message.buffer).setUint32(56, crc32(bodyOf(message)), true);
  sealHead(message);
  return message;
}

/** The last one again, with a bit turned. */
const turned =
  (at: number): Forge =>
  (found) => {
    const copy = moved(found.messages.at(-1)!, found);
    copy[at < 0 ? copy.length + at : at]! ^= 1;
    return [at === 60 ? copy : summed(copy)];
  };

const last = ({ messages }: Found): Uint8Array => messages.at(-1)!;

/** An entry that a node has signed for this very place, as one is that did not get there. */
export function honest(found: Found): Uint8Array {
  const written = { kind: entryKind.beat, epoch: found.epoch, body: thief };
  return sealed(found, written, { keys, id: keys.newest })[0]!;
}

const honestBut =
  (spoil: (message: Uint8Array) => Uint8Array): Forge =>
  (found) => [spoil(honest(found))];

const withBit = (at: number): Forge =>
  honestBut((message) => {
    message[at < 0 ? message.length + at : at]! ^= 4;
    return summed(message);
  });

const others: Record<string, Forge> = {
  'the last again, as it is': (found) => [last(found).slice()],
  'the last again, moved here': (found) => [moved(last(found), found)],
  'the first again, moved here': (found) => [moved(found.messages[0]!, found)],
  'an entry and the one before it, in the wrong order': (found) => [
    moved(found.messages.at(-1)!, found),
    moved(found.messages.at(-2)!, { ...found, at: { ...found.at, seq: found.at.seq + 1 } }),
  ],
  'another place': turned(16),
  'another id': turned(24),
  'another chain': turned(40),
  'another time': turned(48),
  'another body': turned(-1),
  'of this place, a bit of its kind': withBit(4),
  'of this place, a bit of its flags': withBit(5),
  'of this place, a bit of its epoch': withBit(12),
  'of this place, a bit of its id': withBit(30),
  'of this place, a bit of its chain': withBit(41),
  'of this place, a bit of its time': withBit(50),
  'of this place, a bit of its key': withBit(64),
  'of this place, a bit of its spare bytes': withBit(69),
  'of this place, a bit of its signature': withBit(macAt + 31),
  'of this place, a bit of its body': withBit(-1),
  'of this place, a body that is longer': honestBut((message) =>
    summed(Uint8Array.of(...message, 32)),
  ),
  'of this place, cut in its body': honestBut((message) => summed(message.slice(0, -1))),
  'of this place, cut in its signature': honestBut((message) =>
    summed(message.slice(0, signedHeadBytes - 4)),
  ),
  'of this place, without its signature': honestBut((message) => {
    const plain = Uint8Array.of(...message.slice(0, 64), ...message.slice(headSizeOf(message)));
    plain[3] = 0x31;
    return summed(plain);
  }),
  'no entry': () => [randomBytes(200)],
  nothing: () => [new Uint8Array(0)],
};

/** All of them, by what they are. */
export const forgeries: Record<string, Forge> = {
  ...Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, written]) =>
      Object.entries(signers).map(([how, signer]): [string, Forge] => [
        `${kind}, ${how}`,
        (found) => sealed(found, written(found), signer),
      ]),
    ),
  ),
  ...others,
};

/** The end of a log and its entries, as an attacker without the secret reads them. */
export function foundIn(messages: readonly Uint8Array[]): Found {
  const assembler = new EntryDecoder(logStart, keys);
  for (const [i, bytes] of messages.entries()) assembler.push({ seq: i + 1, bytes });
  return { messages, at: assembler.position, epoch: assembler.position.epoch };
}

/** An entry that deposes the leader of an unsigned log. */
export const plainEpoch = (at: Position): Uint8Array => {
  const found = { messages: [], at, epoch: at.epoch };
  return sealed(found, epochOf(found))[0]!;
};
