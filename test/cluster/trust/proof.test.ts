// Who counts as a node, told by its proof: for one request, once, and nobody who only listens, or passes on what others
// say; and who is asked proves as much before.
import { expect, test } from 'vitest';
import { NodeProof, type Peer, type SignedHead } from '../../../server/cluster/node-auth.js';

const body = Buffer.from('{"a":1}');
const head: SignedHead = { path: '/_admin/cluster-piece?from=1', tenant: 'acme' };
const secrets = ['secret one is long'];

const proof = (
  node: string,
  known: readonly string[] = secrets,
  isStrict = true,
  more: readonly string[] = [],
): NodeProof => new NodeProof(known, { node, addresses: [`${node}:1`, ...more] }, () => isStrict);

const bytesOf = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** The asked node, as the asking one has it after its greeting. */
function greeted(asking: NodeProof, asked: NodeProof, address = 'asked:1', now = 0): Peer {
  const greeting = asking.greet(address);
  return asking.peerOf(greeting, asked.welcome(bytesOf(greeting), now));
}

/** As versions before this one greet and answer. */
const plain = (asking: NodeProof, asked: NodeProof, now = 0): Peer =>
  asking.peerOf(asking.greet('asked:1'), {
    challenge: asked.welcome(Buffer.from('{}'), now).challenge,
  });

test('a called node proves itself: by the secret, by its name and at its own address', () => {
  const [asking, asked] = [proof('asking'), proof('asked', secrets, true, ['10.0.0.1:6969'])];
  const cases: [string, boolean, Peer][] = [
    ['a node', true, greeted(asking, asked)],
    ['in other letters', true, greeted(asking, asked, 'ASKED:1')],
    ['as the members name it', true, greeted(asking, asked, '10.0.0.1:6969')],
    ['of another secret', false, greeted(asking, proof('asked', ['secret two is long']))],
    ['at an address of another', false, greeted(asking, asked, 'thief:1')],
    ['of a version before', false, plain(asking, asked)],
  ];
  for (const [what, isProved, peer] of cases)
    expect([what, peer.isProved]).toEqual([what, isProved]);
});

test('a proxy that forwards a greeting proves nothing', () => {
  const [asking, asked] = [proof('asking'), proof('asked')];
  // It was dialled at `thief:1`, and asks the real one, as itself and as whom it likes.
  const greeting = asking.greet('thief:1');
  const tries = [greeting, { ...greeting, address: 'asked:1' }, { ...greeting, node: 'thief' }];
  for (const one of tries) {
    const welcome = asked.welcome(bytesOf(one), 0);
    expect(asking.peerOf(greeting, welcome).isProved).toBe(false);
    expect(asking.peerOf(greeting, { ...welcome, node: 'thief' }).isProved).toBe(false);
  }
  // What one greeting was answered is no answer to another.
  const mine = asking.greet('asked:1');
  const welcome = asked.welcome(bytesOf(mine), 0);
  expect(asking.peerOf(mine, welcome).isProved).toBe(true);
  expect(asking.peerOf(asking.greet('asked:1'), welcome).isProved).toBe(false);
  for (const name of ['challenge', 'node', 'key', 'proof'] as const) {
    const other = { ...welcome, [name]: `${welcome[name]!.slice(0, -1)}x` };
    expect([name, asking.peerOf(mine, other).isProved]).toEqual([name, false]);
  }
  // What it signs as one that is asked is nothing that it signs as one that asks.
  const answered = asking.answer({ ...asking.peerOf(mine, welcome) }, head, body);
  expect(answered).not.toContain(welcome.proof);
});

test('nodes with several secrets find the newest that both know', () => {
  const [one, two, three] = ['a secret of before', 'the secret of now', 'the secret of later'];
  const both = proof('asking', [one, two]);
  const cases: [NodeProof, boolean][] = [
    [proof('asked', [one]), true],
    [proof('asked', [two, three]), true],
    [proof('asked', [three]), false],
  ];
  for (const [asked, isProved] of cases) {
    const peer = greeted(both, asked);
    expect(peer.isProved).toBe(isProved);
    const said = both.answer(peer, head, body);
    expect(asked.isGood(said, head, 0)).toBe(isProved);
  }
  expect(greeted(both, proof('asked', [one, two])).welcome.key).toBe(
    greeted(both, proof('asked', [two])).welcome.key,
  );
});

test('a proof is valid for one challenge, some minutes, and holders of the secret', () => {
  const [asking, asked] = [proof('asking'), proof('asked')];
  const other = proof('asking', ['secret two is long']);
  const peer = greeted(asking, asked);
  const header = asking.answer(peer, head, body);
  expect(asked.isGood(header, head, 0)).toBe(true);
  expect(asked.isGood(header, head, 599_999)).toBe(true);
  const wrong: [NodeProof, string, number][] = [
    [asked, header, 700_000],
    [asked, other.answer(greeted(other, asked), head, body), 0],
    // A node like it, of another process or another name.
    [proof('asked'), header, 0],
    [proof('third'), header, 0],
    [asked, peer.welcome.challenge, 0],
    [asked, '', 0],
    [asked, header.replace(/^v2/, 'v3'), 0],
    [asked, `${header}.`, 0],
  ];
  for (const [judge, given, now] of wrong) {
    expect(judge.isGood(given, head, now)).toBe(false);
    expect(judge.accept(given, head, now)).toBe(false);
  }
});

test('every part of what was signed counts, and every part of the header', () => {
  const [asking, asked] = [proof('asking'), proof('asked', secrets, true, ['other:1'])];
  const header = asking.answer(greeted(asking, asked), head, body);
  const heads: SignedHead[] = [
    { ...head, path: '/_admin/cluster-piece?from=2' },
    { ...head, path: '/_admin/cluster-piece' },
    { ...head, path: '/_admin/cluster-step-down' },
    { ...head, tenant: '' },
    { ...head, tenant: 'beta' },
    { path: `${head.path}\nacme`, tenant: '' },
  ];
  for (const other of heads)
    expect([other, asked.isGood(header, other, 0)]).toEqual([other, false]);
  const parts = header.split('.');
  expect(parts).toHaveLength(10);
  for (let i = 0; i < parts.length; i++) {
    const changed = parts.with(
      i,
      `${parts[i]!.slice(0, -1)}${parts[i]!.endsWith('x') ? 'y' : 'x'}`,
    );
    expect([i, asked.isGood(changed.join('.'), head, 0)]).toEqual([i, false]);
  }
  const elsewhere = parts.with(8, Buffer.from('other:1').toString('base64url')).join('.');
  expect(asked.isGood(elsewhere, head, 0)).toBe(false);
  expect(NodeProof.isOf(header, body)).toBe(true);
  for (const other of ['', '{"a":2}', '{"a":1} '])
    expect(NodeProof.isOf(header, Buffer.from(other))).toBe(false);
});

test('a recorded proof is useless: each proof is accepted one time', () => {
  const [asking, asked] = [proof('asking'), proof('asked')];
  const peer = greeted(asking, asked);
  const headers = Array.from({ length: 20_000 }, () => asking.answer(peer, head, body));
  // Some overtake others.
  for (let i = 0; i + 1 < headers.length; i += 2) {
    expect(asked.accept(headers[i + 1]!, head, 0) && asked.accept(headers[i]!, head, 0)).toBe(true);
  }
  for (const header of headers) if (asked.accept(header, head, 1)) throw new RangeError(header);
  // Nor when the list of those used was given up, minutes later.
  const fresh = greeted(asking, asked, 'asked:1', 700_000);
  expect(asked.accept(asking.answer(fresh, head, body), head, 1_300_001)).toBe(false);
  expect(asked.accept(asking.answer(fresh, head, body), head, 700_000)).toBe(true);
  for (const header of headers.slice(0, 10))
    expect(asked.accept(header, head, 700_001)).toBe(false);
});

test("two simultaneous callers do not use up each other's challenges", () => {
  const asked = proof('asked');
  for (const asking of [proof('one'), proof('two')])
    expect(asked.accept(asking.answer(greeted(asking, asked), head, body), head, 0)).toBe(true);
});

test('a version before is a node while the log is not signed, and no longer', () => {
  const asking = proof('asking');
  let isStrict = false;
  const asked = new NodeProof(secrets, { node: 'asked', addresses: ['asked:1'] }, () => isStrict);
  const said = () => asking.answer(plain(asking, asked), head, body);
  expect(said().split('.')).toHaveLength(5);
  expect(NodeProof.isOf(said(), body)).toBe(true);
  expect(asked.accept(said(), head, 0)).toBe(true);
  const used = said();
  expect([asked.accept(used, head, 0), asked.accept(used, head, 0)]).toEqual([true, false]);
  isStrict = true;
  expect([asked.isGood(said(), head, 0), asked.accept(said(), head, 0)]).toEqual([false, false]);
});
