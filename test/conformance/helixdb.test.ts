// `compat = "helix-2"` answers as HelixDB 2.3.5 did: every recorded call, in order, through a real
// server. Each difference that we want is a row of test/corpus/compat/differences.json with its
// reason; one that is not there fails, and so does a row that is no difference.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Change,
  difference,
  isPresent,
  type RecordedCall,
  readCalls,
  readDifferences,
  readProject,
} from '../support/helix/recorded.js';
import { parseExact } from '../support/corpus/exact-json.js';
import { type Server, startServer } from '../support/server/server.js';

const calls = isPresent ? readCalls() : [];
if (!isPresent) console.log('skipped: ../shared/data/helixdb-2.3.5-answers is not there');

const nameOf = (call: RecordedCall, at: number): string => `${at} ${call.query}`;

/** The wanted differences by the name of their call. */
const { also, differences } = readDifferences();
const changes = new Map<string, Change>();
for (const { change, calls: names } of differences)
  for (const each of names) {
    const [name, own] = typeof each === 'string' ? [each, {}] : each;
    changes.set(name, { ...change, ...own });
  }

const ghost = '018f0000-0000-7000-8000-00000000beef';
const ids = new Map<string, string>([['ghost', ghost]]);
let server: Server;

interface Got {
  status: number;
  text: string;
}

async function send({ query, body, status }: Partial<RecordedCall>): Promise<Got> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sent = text.replace(/"\$(\w+)"/g, (_, label: string) => `"${ids.get(label)}"`);
  // The recordings do not say the method: only another than POST was answered 405.
  const method = status === 405 ? 'GET' : 'POST';
  return server.client.request({ method, path: query!, body: sent });
}

/** The first difference between what was recorded, changed by `change`, and our answer. */
function compare(call: RecordedCall, got: Got, change: Change): string | undefined {
  const status = change.status ?? call.status;
  if (got.status !== status) return `status ${got.status}, wanted ${status}: ${got.text}`;
  if (change.any) return undefined;
  if (typeof change.code === 'string') {
    const { code } = JSON.parse(got.text) as { code: string };
    return code === change.code ? undefined : `code ${code}, wanted ${change.code}`;
  }
  if (call.answer === '' && change.answer === undefined) return undefined;
  const wanted = change.answer === undefined ? call.answer : JSON.stringify(change.answer);
  // Error bodies say more here.
  const extra = got.status < 400 ? change.extra : ['args', 'hint', 'retryable', 'request_id'];
  return difference(parseExact(wanted), parseExact(got.text), ids, { ...change, extra });
}

describe.skipIf(!isPresent)('HelixDB 2.3.5', () => {
  beforeAll(async () => {
    const config = { compat: 'helix-2' };
    server = await startServer({ sources: readProject(), config });
    const { text } = await server.client.request({ path: 'mcp/init', body: '{}' });
    ids.set('C', JSON.parse(text)).set('conn', JSON.parse(text));
  });
  afterAll(() => server?.dispose());

  test.each(calls.map((call, at) => [nameOf(call, at), call] as const))(
    '%s',
    async (name, call) => {
      for (const other of also) {
        if (other.before === name) expect((await send(other)).status, other.why).toBe(200);
      }
      const got = await send(call);
      if (call.name !== undefined && got.status === 200) {
        const [made] = Object.values(JSON.parse(got.text)) as { id: string }[];
        ids.set(call.name, made!.id);
      }
      const change = changes.get(name);
      expect(compare(call, got, change ?? {}), got.text.slice(0, 2000)).toBeUndefined();
      if (change !== undefined) expect(compare(call, got, {}), 'no difference').toBeDefined();
    },
  );
});

test('every wanted difference is one of a recorded call', () => {
  const known = new Set(calls.map(nameOf));
  const named = [...changes.keys(), ...also.map(({ before }) => before)];
  if (isPresent) expect(named.filter((name) => !known.has(name))).toEqual([]);
});
