// Merges the replies of all shards into one. Hits are ordered as one database would order them: by distance
// or score, then by id. Then conditions apply, then ranks are assigned.
// Invariant: the bytes of a hit are those that its shard has printed.
import { fail } from '../../base/errors.js';
import type { MergedMember } from '../../plan/scatter-merge.js';
import { type Span, itemsOf, membersOf } from './json-spans.js';

interface Reply {
  text: Buffer;
  members: ReadonlyMap<string, Span>;
}

interface Hit {
  text: Buffer;
  members: ReadonlyMap<string, Span>;
  id: string;
  score: number;
  /** Sort key, ascending. */
  sortKey: number;
}

const textOf = ({ text }: { text: Buffer }, [start, end]: Span): string =>
  text.toString('latin1', start, end);
const numberAt = (reply: Reply, name: string): number =>
  Number(textOf(reply, reply.members.get(name)!));

export function mergeReplies(
  members: readonly MergedMember[],
  bodies: readonly Uint8Array[],
): Uint8Array {
  const replies = bodies.map((body): Reply => {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return { text, members: membersOf(text, [0, text.length]) };
  });
  const printed = members.map((member, index) => {
    const key = `${JSON.stringify(member.key)}:`;
    const [first] = replies;
    if (member.kind === 'hits')
      return Buffer.concat([Buffer.from(`${key}[`), ...hits(member, index, replies), close]);
    return Buffer.concat([Buffer.from(key), spanOf(first!, first!.members.get(String(index))!)]);
  });
  return Buffer.concat([Buffer.from('{'), ...joined(printed), Buffer.from('}')]);
}

const close = Buffer.from(']');
const comma = Buffer.from(',');
const joined = (parts: readonly Buffer[]): Buffer[] =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [comma, part]));
const spanOf = ({ text }: { text: Buffer }, [start, end]: Span): Buffer =>
  text.subarray(start, end);

function hits(
  { lists, rank, parts }: MergedMember & { kind: 'hits' },
  index: number,
  replies: readonly Reply[],
): Buffer[] {
  const ranked = Array.from({ length: lists }, (_, at) => nearest(replies, `${index}`, at));
  const last =
    ranked.length === 1 && rank !== 'fuse' ? ranked[0]! : fuse(ranked, index, replies[0]!);
  const scores = rank === 'rerank' ? numberAt(replies[0]!, `${index}.n`) : 0;
  return joined(
    last.map((hit, i) => {
      if (parts === undefined) return spanOf(hit, hit.members.get('v')!);
      return compose(hit, parts, rank === 'rerank' ? 1 / (scores + i + 1) : hit.score);
    }),
  );
}

/** Returns the best hits of all shards that satisfy the conditions. */
function nearest(replies: readonly Reply[], member: string, at: number): Hit[] {
  const k = numberAt(replies[0]!, `${member}.k${at}`);
  const all = replies.flatMap((reply) =>
    itemsOf(reply.text, reply.members.get(`${member}.l${at}`)!).map((span) =>
      hitAt(reply.text, span),
    ),
  );
  all.sort((a, b) => a.sortKey - b.sortKey || (a.id < b.id ? -1 : 1));
  return all.slice(0, k).filter((hit) => {
    const holds = hit.members.get('w');
    return holds === undefined || textOf(hit, holds) === 'true';
  });
}

function hitAt(text: Buffer, span: Span): Hit {
  const members = membersOf(text, span);
  const reply = { text, members };
  const score = numberAt(reply, 's');
  const sortKey = members.has('d') ? numberAt(reply, 'd') : -score;
  return { text, members, id: textOf(reply, members.get('i')!), score, sortKey };
}

/** Fuses several lists like `RerankRRF`: every list adds weight / (k + rank) to its hits. */
function fuse(lists: readonly Hit[][], index: number, reply: Reply): Hit[] {
  const k = numberAt(reply, `${index}.n`);
  const weightBytes = reply.members.get(`${index}.w`);
  const weights =
    weightBytes && itemsOf(reply.text, weightBytes).map((span) => Number(textOf(reply, span)));
  const entries = new Map<string, Hit>();
  for (const [i, list] of lists.entries()) {
    const weight = weights?.[i] ?? 1;
    if (weight === 0) continue;
    for (const [rank, hit] of list.entries()) {
      const score = weight / (k + rank + 1);
      const entry = entries.get(hit.id);
      if (entry === undefined) entries.set(hit.id, { ...hit, score: score });
      else entry.score += score;
    }
  }
  const hits = [...entries.values()];
  if (!hits.every(({ score }) => Number.isFinite(score))) {
    fail('ARITHMETIC', { operation: 'RerankRRF', what: 'the result is not finite' });
  }
  return hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

function compose(
  hit: Hit,
  parts: readonly { name: string; isScore: boolean }[],
  score: number,
): Buffer {
  const printed = parts.map(({ name, isScore }, i) => {
    const value = isScore ? Buffer.from(String(score)) : spanOf(hit, hit.members.get(`p${i}`)!);
    return Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), value]);
  });
  return Buffer.concat([Buffer.from('{'), ...joined(printed), Buffer.from('}')]);
}
