// Large sources are compiled on another thread. Meanwhile the server answers, a program is replaced as a
// whole or not at all, a caller with too many requests gets an error, and a thread that ends reports this to
// its caller.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { Compiler } from '../../engine/database/schema/compiler.js';
import { compile } from '../../engine/lang/compile.js';
import { hasUws } from '../support/server/has-uws.js';
import { type Server, startServer } from '../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const count = long ? 3000 : 120;

const schema =
  'N::Bird { UNIQUE INDEX ring: String, kind: String, seen: Date DEFAULT NOW, at: I64 }\n';
const queries = (said: string, from = 0, to = count): string =>
  Array.from({ length: to - from }, (_, i) => {
    const head = `// Birds seen after ${from + i}.\nQUERY q${from + i}(kind: String, limit: I64) =>\n`;
    const chain = `N<Bird>::WHERE(AND(_::{kind}::EQ(kind), _::{at}::GT(${i})))::RANGE(0, limit)`;
    return `${head}  birds <- ${chain}\n  said <- "${said}"\n  RETURN birds::{ ring, at }, said\n`;
  }).join('\n');
const sourcesOf = (said: string) => [
  { path: 'schema.hx', text: schema },
  { path: 'queries.hx', text: queries(said) },
];
const headers = { 'Content-Type': 'application/json' };
/** Once is enough: other work of the machine only makes shares larger. */
const isSmall = (shares: readonly number[]): boolean => shares.some((share) => share < 0.3);
const rules = { compat: false, limits: defaultLimits };

describe('a compiler', () => {
  it('gives what compiling here gives, large or small', async () => {
    const compiler = new Compiler({ max: 2, heapMb: 512 });
    const faulty = [
      { path: 'a.hx', text: queries('so', 0, 200).replace('kind: String', 'kind: Nothing') },
    ];
    for (const sources of [sourcesOf('so'), sourcesOf('so').slice(0, 1), faulty]) {
      const here = compile(sources, rules);
      expect(await compiler.compile(sources, rules)).toEqual(here);
      const { program, diagnostics } = await compiler.check(sources, rules);
      expect(diagnostics).toEqual(here.diagnostics);
      expect(program?.schema).toEqual(here.program?.schema);
    }
  });

  it('refuses a caller when the queue is full', async () => {
    const compiler = new Compiler({ max: 2, heapMb: 512 });
    const calls = Array.from({ length: 3 }, () => compiler.check(sourcesOf('so'), rules));
    const ends = await Promise.allSettled(calls);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ends[2]).toMatchObject({ reason: { code: 'OVERLOADED' } });
    expect(await compiler.check(sourcesOf('so'), rules)).toHaveProperty('program.schema');
  });

  const few = [{ path: 'a.hx', text: schema + queries('so', 0, 120) }];
  const many = [{ path: 'a.hx', text: schema + queries('so', 0, 4000) }];

  it.each([
    ['no thread can begin', { heapMb: 2 }, 'OVERLOADED'],
    ['its time is used up', { heapMb: 512, budgetMs: 1 }, 'QUERY_TIMEOUT'],
  ])('answers when %s', async (_, bound, code) => {
    const compiler = new Compiler({ max: 2, ...bound });
    const calls = [few, few].map((each) => compiler.compile(each, rules));
    for (const { status, ...end } of await Promise.allSettled(calls))
      expect({ status, ...end }).toMatchObject({ status: 'rejected', reason: { code } });
  });

  it('returns an error for sources that end the thread, and continues with another thread', async () => {
    const compiler = new Compiler({ max: 2, heapMb: 24 });
    const calls = [many, few].map((sources) => compiler.compile(sources, rules));
    const [first, second] = await Promise.allSettled(calls);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'OVERLOADED' } });
    expect(second).toHaveProperty('value.program.queries.length', 120);
  });
});

describe.each(hasUws ? ['uws', 'node'] : ['node'])('a server with %s', (transport) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({
      sources: { 'schema.hx': schema, 'queries.hx': queries('0') },
      env: { TRELLIS_SERVER_TRANSPORT: transport, TRELLIS_SERVER_AD_HOC_QUERIES: 'true' },
      args: ['--no-watch'],
    });
  });
  afterAll(() => server.dispose());

  const send = (path: string, body: string) =>
    fetch(`http://127.0.0.1:${server.port}/${path}`, { method: 'POST', body, headers });
  const ask = async (path: string, body: unknown) => {
    const reply = await send(path, JSON.stringify(body));
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const said = async (at: number): Promise<unknown> =>
    (await ask(`q${at}`, { kind: 'wren', limit: 1 })).body.said;

  /** The longest that others have waited while `work` ran, as a share of its time. */
  async function share(work: () => Promise<unknown>): Promise<number> {
    const started = performance.now();
    let isOver = false;
    const done = work().finally(() => (isOver = true));
    let longest = 0;
    while (!isOver) {
      const asked = performance.now();
      await server.client.request({ path: 'livez', method: 'GET' });
      longest = Math.max(longest, performance.now() - asked);
    }
    await done;
    return longest / (performance.now() - started);
  }

  it('answers others during a check', async () => {
    const shares: number[] = [];
    for (let i = 0; i < 3 && !isSmall(shares); i++)
      shares.push(
        await share(async () => {
          const { body } = await ask('_admin/check', { sources: sourcesOf('1') });
          expect(body).toMatchObject({ diagnostics: [], data: { status: 'same' } });
        }),
      );
    expect(shares).toSatisfy(isSmall);
  });

  it('answers others while an ad hoc query is compiled', async () => {
    const shares: number[] = [];
    for (let i = 0; i < 3 && !isSmall(shares); i++)
      shares.push(
        await share(async () => {
          const lines = Array.from({ length: 150 }, (_, at) => {
            const name = `v${i}_${at}`;
            return `${name} <- N<Bird>::WHERE(AND(_::{kind}::EQ("${name}"), _::{at}::GT(${at})))`;
          });
          const source = `${lines.join('\n')}\nRETURN v${i}_0, v${i}_149`;
          const { body } = await ask('_admin/query', { source });
          expect(body).toEqual({ [`v${i}_0`]: [], [`v${i}_149`]: [] });
          const faulty = await ask('_admin/query', { source: `${source}, nothing` });
          expect(faulty.body).toMatchObject({ code: 'QUERY_INVALID' });
        }),
      );
    expect(shares).toSatisfy(isSmall);
  });

  it('answers others during a reload, which changes all queries together', async () => {
    const shares: number[] = [];
    for (let i = 1; i <= 3 && !isSmall(shares); i++) {
      writeFileSync(join(server.project, 'queries.hx'), queries(`${i}`));
      shares.push(
        await share(async () => {
          const { body } = await ask('_admin/reload', {});
          expect(body).toMatchObject({ reloaded: true, queries: count });
        }),
      );
      expect([await said(0), await said(count - 1)]).toEqual([`${i}`, `${i}`]);
    }
    expect(shares).toSatisfy(isSmall);
  });

  it('keeps its program while sources are invalid, and finds each error', async () => {
    const before = await said(0);
    const text = queries('never').replaceAll('at }, said', 'no }, said');
    writeFileSync(join(server.project, 'queries.hx'), text);
    expect((await ask('_admin/reload', {})).body).toMatchObject({ reloaded: false, errors: count });
    expect([await said(0), await said(count - 1)]).toEqual([before, before]);
  });

  it('refuses a check of more than it takes, and of more callers than may wait', async () => {
    const large = { path: 'a.hx', text: ' '.repeat(9 * 1024 * 1024) };
    const refused = await ask('_admin/check', { sources: [large] });
    expect(refused.body).toMatchObject({ code: 'VALUE_TOO_LARGE' });
    const many = Array.from({ length: 20 }, () =>
      send('_admin/check', JSON.stringify({ sources: sourcesOf('1') })),
    );
    const answers = await Promise.all(many);
    const full = answers.filter(({ status }) => status === 503);
    // On a busy machine some of the eight that wait are given up.
    const others = answers.filter(({ status }) => status === 200 || status === 504);
    expect(others.length).toBeGreaterThanOrEqual(8);
    expect(full.length).toBe(answers.length - others.length);
    expect(full.length).toBeGreaterThan(0);
    for (const { headers } of full) expect(headers.get('Retry-After')).toBe('1');
  });
});
