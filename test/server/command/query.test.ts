// Queries that come with their call: `trellis query` over a running server and without one, and
// `POST /_admin/query` with its limits, roles and time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { Database } from '../../../engine/database/database.js';
import { compile } from '../../../engine/lang/compile.js';
import { adHocEndpoint } from '../../../server/handlers/ad-hoc.js';
import type { Exchange } from '../../../server/http/exchange.js';
import { Metrics } from '../../../server/telemetry/metrics.js';
import { commandHere } from '../../support/server/command-here.js';
import { startApp } from '../running-app.js';
import { type Server, startServer } from '../../support/server/server.js';

const source = `
N::Person { UNIQUE INDEX name: String, INDEX age: U8, big: I64 }
E::Knows { From: Person, To: Person }
QUERY add(name: String, age: U8, big: I64) => p <- AddN<Person>({ name, age, big }) RETURN p::ID
QUERY older(than: U8) =>
  p <- N<Person>::WHERE(_::{age}::GT(than))::ORDER<Asc>(_::{age}) RETURN p::{name, age, big}
`;
const big = '9007199254740993';

let server: Server;
const adhoc = { TRELLIS_SERVER_AD_HOC_QUERIES: 'true' };
beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source }, env: adhoc });
  for (const [name, age] of [
    ['Ana', 30],
    ['Bo "B"', 40],
  ] as const) {
    const body = `{"name":${JSON.stringify(name)},"age":${age},"big":${big}}`;
    await server.client.request({ path: 'add', body });
  }
});
afterAll(() => server.dispose());

const argv = (words: string[]): string[] => [
  'query',
  ...words,
  ...['--project', server.project, '--data', server.data],
];
/** In this process, which asks the server's. */
const query = (...words: string[]) => commandHere(argv(words));
const ask = (body: object, path = '/_admin/query', headers: Record<string, string> = {}) =>
  server.client.request({ path, body: JSON.stringify(body), headers });

describe('W04 trellis query', () => {
  const people = 'N<Person>::ORDER<Asc>(_::{age})::{name, age}';

  it('takes a chain, a body, a QUERY and a stored name, arguments by their types', async () => {
    const given: [string, ...string[]][] = [
      [`${people} // all`],
      [`p <- ${people}\nRETURN p`],
      [
        `QUERY q(than: U8) => p <- N<Person>::WHERE(_::{age}::GT(than))::ORDER<Asc>(_::{age}) RETURN p::{name, age}`,
        'than=0',
      ],
      ['older', 'than=0'],
    ];
    const lines = [];
    for (const words of given) lines.push(await query(...words, '--ndjson'));
    for (const { code, stdout, stderr } of lines.slice(0, 3)) {
      expect([code, stdout, stderr]).toEqual([
        0,
        '{"name":"Ana","age":30}\n{"name":"Bo \\"B\\"","age":40}\n',
        '',
      ]);
    }
    expect(lines[3]!.stdout).toBe(
      `{"name":"Ana","age":30,"big":${big}}\n{"name":"Bo \\"B\\"","age":40,"big":${big}}\n`,
    );
  });

  it('takes arguments as one object, and says of a word that is neither what is taken', async () => {
    const [object, word, none] = [
      await query('older', '{"than":35}', '--ndjson'),
      await query('older', '35'),
      await query('older', '{"then":35}'),
    ];
    expect([object.code, object.stdout]).toEqual([
      0,
      `{"name":"Bo \\"B\\"","age":40,"big":${big}}\n`,
    ]);
    expect([word.code, word.stderr]).toEqual([
      78,
      'CONFIG_INVALID: 35 is no argument: write NAME=VALUE, or all as one JSON object. It takes than.\n',
    ]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('PARAM_MISSING: ')]);
  });

  it('takes a call that is quoted as one word', async () => {
    const [call, object, unknown] = [
      await query('older than=35', '--ndjson'),
      await query('older {"than": 35}', '--ndjson'),
      await query('oldr than=35'),
    ];
    expect([call.code, call.stdout]).toEqual([0, `{"name":"Bo \\"B\\"","age":40,"big":${big}}\n`]);
    expect(object).toEqual(call);
    expect([unknown.code, unknown.stderr]).toEqual([
      65,
      'QUERY_INVALID: There is no query oldr. Did you mean `older`?\n',
    ]);
  });

  it('says of a name that no query has which one is like it', async () => {
    const said = [await query('oldr', 'than=0'), await query('nothing_like_it')];
    expect(said.map(({ code, stderr }) => [code, stderr])).toEqual([
      [65, 'QUERY_INVALID: There is no query oldr. Did you mean `older`?\n'],
      [65, 'QUERY_INVALID: There is no query nothing_like_it.\n'],
    ]);
  });

  it('prints a table, JSON and CSV, exact integers in each', async () => {
    const older = (...form: string[]) => query('older', '--params', '{"than":35}', ...form);
    const [table, json, csv] = [await older(), await older('--json'), await older('--csv')];
    expect(table.stdout.split('\n').slice(0, 2)).toEqual([
      ' name    age               big',
      ` Bo "B"   40  ${big}`,
    ]);
    expect(table.stdout).toMatch(/^1 row · [\d.]+ ms · plan: find N<Person>$/m);
    expect(json.stdout).toBe(`{"p":[{"name":"Bo \\"B\\"","age":40,"big":${big}}]}\n`);
    expect(csv.stdout).toBe(`name,age,big\n"Bo ""B""",40,${big}\n`);
  });

  it('shows an error at its position, and names what is not known', async () => {
    const text = await query('N<Persn>::{name}');
    const [word, type] = [await query('older', 'then=1'), await query('older', 'than=old')];
    expect([text.code, text.stderr]).toEqual([
      65,
      [
        'query:1:3 E101 `Persn` is not a node type.',
        '  1 | N<Persn>::{name}',
        '    |   ^^^^^',
        '  hint: Did you mean `Person`?',
        'QUERY_INVALID: The query has 1 error.',
        '',
      ].join('\n'),
    ]);
    expect([word.code, word.stderr]).toEqual([
      1,
      'UNKNOWN_MEMBER: older has no parameter `then`. Did you mean than?\n',
    ]);
    expect([type.code, type.stderr]).toEqual([1, expect.stringContaining('PARAM_TYPE: `than`')]);
  });

  it('writes with --write only, and shows plans and profiles', async () => {
    const write = 'AddN<Person>({ name: "Cy", age: 50 })::{name}';
    const refused = await query(write);
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('Add --write')]);
    const done = await query(write, '--write', '--json');
    expect([done.code, done.stdout]).toEqual([0, '{"data":{"name":"Cy"}}\n']);
    const gone = await query('DROP N<Person>({ name: "Cy" })', '--write', '--json');
    expect([gone.code, gone.stdout]).toEqual([0, '{}\n']);
    const plan = await query(write, '--explain');
    expect(plan.stdout).toContain('query  cost W, writes');
    const profile = await query('N<Person>::COUNT', '--profile');
    expect(profile.stdout).toMatch(/^2\n\nquery {2}cost [\s\S]*read[\s\S]*us$/m);
  });
});

describe('W04 POST /_admin/query', () => {
  it('answers as a stored query does', async () => {
    const reply = await ask({ source: 'N<Person>({name: "Ana"})::{age}' });
    expect([reply.status, reply.text]).toEqual([200, '{"data":{"age":30}}']);
    const named = await ask({ source: 'N<Person>({name: "Ana"})::{age}' }, '/_query');
    expect([named.status, named.text]).toEqual([200, reply.text]);
    const typed = { source: 'QUERY q(n: String) => RETURN N<Person>({name: n})::{age}' };
    expect((await ask({ ...typed, parameters: { n: 'Ana' } })).text).toBe('{"data":{"age":30}}');
    const missing = JSON.parse((await ask({ ...typed, parameters: {} })).text);
    expect(missing).toMatchObject({ code: 'PARAM_MISSING', path: '/parameters/n' });
  });

  it('shows the position of each error, and what else is wrong with a call', async () => {
    const bad = JSON.parse(
      (await ask({ source: 'RETURN {a: N<Persn>::{name},\n b: N<Person>::Ot<Knows>}' })).text,
    );
    expect(bad).toMatchObject({
      code: 'QUERY_INVALID',
      path: '/source',
      args: { line: 1, column: 14, fault: 'E101' },
      hint: 'Did you mean `Person`?',
      errors: [{ args: { column: 14 } }, { args: { line: 2, column: 16 } }],
    });
    const cases: [object, string][] = [
      [{}, 'PARAM_MISSING'],
      [{ source: 5 }, 'PARAM_TYPE'],
      [{ source: '' }, 'QUERY_INVALID'],
      [{ source: '// nothing' }, 'QUERY_INVALID'],
      [{ source: 'N::Other { a: String }' }, 'QUERY_INVALID'],
      [{ source: 'QUERY a() => RETURN 1 QUERY b() => RETURN 2' }, 'QUERY_INVALID'],
      [{ source: 'N<Person>', parameters: [] }, 'PARAM_TYPE'],
      [{ source: 'N<Person>', explain: 'yes' }, 'PARAM_TYPE'],
      [{ source: 'DROP N<Person>' }, 'PARAM_VALUE'],
      [{ source: ' '.repeat(65_537) }, 'VALUE_TOO_LARGE'],
      [{ source: 'AddN<Person>({ name: "Ana", age: 1 })', write: true }, 'UNIQUE_VIOLATION'],
    ];
    for (const [body, code] of cases) {
      const reply = JSON.parse((await ask(body)).text);
      expect([body, reply.code]).toEqual([body, code]);
    }
  });

  it('has the time of a read or a write, or what its header leaves of it', async () => {
    const { program } = compile([{ path: 'a.hx', text: source }], { compat: false });
    const seen: (number | undefined)[] = [];
    const run: Database['run'] = (_plan, _args, _items, options) => {
      seen.push(options?.budgetMs);
      return { body: new Uint8Array(0) };
    };
    const limits = { ...defaultLimits, query_time: 70, write_time: 90 };
    const endpoint = adHocEndpoint({
      enabled: true,
      database: () => ({ program, run }) as unknown as Database,
      limits,
      strict: false,
      metrics: new Metrics().route('x'),
    });
    for (const timeoutHeader of ['', '40', '400']) {
      const exchange = { timeoutHeader } as Exchange;
      const bodies = [{ source: 'N<Person>' }, { source: 'DROP N<Person>', write: true }];
      for (const body of bodies)
        await endpoint.handle(exchange, Buffer.from(JSON.stringify(body)), undefined);
      expect(exchange.called).toEqual({ query: 'query', writes: true });
    }
    expect(seen).toEqual([70, 90, 40, 40, 70, 90]);
  });
});

describe('W04 who may', () => {
  it('`serve` without server.ad_hoc_queries answers 403', async () => {
    const app = await startApp('node');
    const body = JSON.stringify({ source: 'N<Person>::COUNT' });
    const replies = await Promise.all(
      ['/_admin/query', '/_query'].map((path) => app.request({ path, body })),
    );
    app.close();
    for (const { status, text } of replies)
      expect([status, JSON.parse(text).code]).toEqual([403, 'FEATURE_DISABLED']);
  });

  it('is the administrator alone, where there are keys', async () => {
    const app = await startApp('node', {
      'server.ad_hoc_queries': 'true',
      'auth.api_key': 'secret-of-16-chars',
    });
    const body = JSON.stringify({ source: 'N<Person>::COUNT' });
    const as = async (key: string) =>
      JSON.parse(
        (await app.request({ path: '/_query', body, headers: { 'x-api-key': key } })).text,
      );
    const codes = [(await as('')).code, (await as('secret-of-16-chars')).code];
    app.close();
    expect(codes).toEqual(['API_KEY_REQUIRED', 'QUERY_INVALID']);
  });

  it('opens the data itself where no server has them', async () => {
    await server.stop();
    const here = (...words: string[]) => commandHere(argv(words));
    const read = await here('older', 'than=0', '--json');
    expect([read.code, read.stdout]).toEqual([0, expect.stringContaining(`"big":${big}`)]);
    const added = await here('AddN<Person>({ name: "Di", age: 9 })', '--write');
    expect([added.code, added.stderr]).toEqual([0, '']);
    expect((await here('N<Person>::COUNT', '--json')).stdout).toBe('{"data":3}\n');
  });
});
