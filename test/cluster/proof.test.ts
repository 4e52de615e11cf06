// Who counts as a node, told by its proof: for one request, once, and nobody who only listens.
import { expect, test } from 'vitest';
import { NodeProof, type SignedHead } from '../../server/auth/node-proof.js';

const body = Buffer.from('{"a":1}');
const head: SignedHead = { path: '/_admin/cluster-piece?from=1', tenant: 'acme' };

const proofs = (): [NodeProof, NodeProof, NodeProof] => [
  new NodeProof('secret one is long'),
  new NodeProof('secret one is long'),
  new NodeProof('secret two is long'),
];

test('a proof is good for one challenge, some minutes and whoever knows the secret', () => {
  const [one, same, other] = proofs();
  const challenge = one.challenge(0);
  const header = same.answer(challenge, head, body);
  expect(one.isGood(header, head, 0)).toBe(true);
  expect(one.isGood(header, head, 599_999)).toBe(true);
  const wrong: [NodeProof, string, number][] = [
    [one, header, 700_000],
    [one, other.answer(challenge, head, body), 0],
    [same, header, 0],
    [one, challenge, 0],
    [one, '', 0],
    [one, header.replace(/^0/, 'zz'), 0],
  ];
  for (const [judge, given, now] of wrong) {
    expect(judge.isGood(given, head, now)).toBe(false);
    expect(judge.accept(given, head, now)).toBe(false);
  }
});

test('every part of what was signed counts, and every part of the header', () => {
  const [one, same] = proofs();
  const header = same.answer(one.challenge(0), head, body);
  const heads: SignedHead[] = [
    { ...head, path: '/_admin/cluster-piece?from=2' },
    { ...head, path: '/_admin/cluster-piece' },
    { ...head, path: '/_admin/cluster-step-down' },
    { ...head, tenant: '' },
    { ...head, tenant: 'beta' },
    { path: `${head.path}\nacme`, tenant: '' },
  ];
  for (const other of heads) expect([other, one.isGood(header, other, 0)]).toEqual([other, false]);
  const parts = header.split('.');
  for (let i = 0; i < parts.length; i++) {
    const changed = parts.with(i, i === 2 ? '99' : `${parts[i]!.slice(0, -1)}x`).join('.');
    expect([i, one.isGood(changed, head, 0)]).toEqual([i, false]);
  }
  expect(NodeProof.isOf(header, body)).toBe(true);
  for (const other of ['', '{"a":2}', '{"a":1} ']) {
    expect(NodeProof.isOf(header, Buffer.from(other))).toBe(false);
  }
});

test('what was heard on the way is good for nothing: a proof is accepted once', () => {
  const [one, same] = proofs();
  const challenge = one.challenge(0);
  const headers = Array.from({ length: 20_000 }, () => same.answer(challenge, head, body));
  // Some overtake others.
  for (let i = 0; i + 1 < headers.length; i += 2) {
    expect(one.accept(headers[i + 1]!, head, 0) && one.accept(headers[i]!, head, 0)).toBe(true);
  }
  for (const header of headers) if (one.accept(header, head, 1)) throw new RangeError(header);
  // Nor when the list of those used was given up, minutes later.
  const fresh = one.challenge(700_000);
  expect(one.accept(same.answer(fresh, head, body), head, 1_300_001)).toBe(false);
  expect(one.accept(same.answer(fresh, head, body), head, 700_000)).toBe(true);
  for (const header of headers.slice(0, 10)) expect(one.accept(header, head, 700_001)).toBe(false);
});
