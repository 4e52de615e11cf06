// Tools: what they say of themselves, what a key sees of them, what they answer, and how long.
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningMcp, startMcp } from './running-mcp.js';

const source = `
N::Person { INDEX name: String, big: I64, ratio: F64 }
N::Book { title: String }
E::Wrote { From: Person, To: Book }

// All people, a page at a time.
//   start: position of the first one
QUERY people(start: U32, end: U32) => p <- N<Person>::RANGE(start, end) RETURN p
QUERY everyone() => people <- N<Person> RETURN people::{name}
QUERY number(n: I64) => m <- n RETURN m
QUERY named(name: String, more?: Boolean) => p <- N<Person>({name: name}) RETURN p
QUERY add(name: String, big: I64) => p <- AddN<Person>({name: name, big: big}) RETURN p
#[mcp]
QUERY rename(name: String, to: String) =>
  p <- N<Person>({name: name})::UPDATE({name: to})
  RETURN p
QUERY collect() => n <- N<Book>::COUNT RETURN n
`;

// M19: what is said of tools holds on each transport.
describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  beforeAll(async () => {
    mcp = await startMcp(transport, source);
    mcp.database.addNode('Person', { name: 'big', big: 9007199254740993n, ratio: 1e20 });
    mcp.database.addNode('Person', { name: 'small', big: 42n, ratio: 0.5 });
    const ada = mcp.database.addNode('Person', { name: 'Ada' });
    mcp.database.addEdge('Wrote', ada, mcp.database.addNode('Book', { title: 'Notes' }));
  });
  afterAll(() => mcp.close());

  const toolsOf = async (key?: string) =>
    (await mcp.ask('tools/list', {}, key === undefined ? {} : { key })).json.result.tools;
  const namesOf = async (key?: string): Promise<string[]> =>
    (await toolsOf(key)).map(({ name }: { name: string }) => name);
  const call = async (name: string, args: object = {}, key?: string) =>
    (await mcp.ask('tools/call', { name, arguments: args }, key === undefined ? {} : { key })).json;

  describe('the list', () => {
    test('contains queries that read, and marked ones; then the session tools, whose names yield to queries', async () => {
      const names = await namesOf();
      expect(names.slice(0, 6)).toEqual([
        'people',
        'everyone',
        'number',
        'named',
        'rename',
        'collect',
      ]);
      expect(names).not.toContain('add');
      expect(names.slice(6)).toEqual(
        'n_from_type e_from_type out_step in_step out_e_step in_e_step filter_items order_by group_by aggregate_by search_keyword walk_collect next reset'.split(
          ' ',
        ),
      );
    });

    test('says what a query takes, gives and does', async () => {
      const [people, , , named, rename] = await toolsOf();
      expect(people).toEqual({
        name: 'people',
        title: 'All people, a page at a time.',
        description: 'All people, a page at a time.',
        inputSchema: {
          type: 'object',
          properties: {
            start: {
              type: 'integer',
              minimum: 0,
              maximum: 4294967295,
              description: 'position of the first one',
            },
            end: { type: 'integer', minimum: 0, maximum: 4294967295 },
            _limit_chars: expect.objectContaining({ type: 'integer' }),
          },
          required: ['start', 'end'],
          additionalProperties: false,
        },
        outputSchema: expect.objectContaining({ type: 'object', required: ['p'] }),
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
      expect(named.inputSchema.required).toEqual(['name']);
      expect(rename.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    });
  });

  describe('a call', () => {
    test('answers the body of POST /<Query>', async () => {
      const { result } = await call('named', { name: 'small' });
      const body = (await mcp.post('named', '{"name":"small"}')).text;
      expect(result.content).toEqual([{ type: 'text', text: body }]);
      expect(JSON.stringify(result.structuredContent)).toBe(body);
    });

    test('M07 an integer that JavaScript would round is returned as a string, others unchanged', async () => {
      const told = await mcp.post(
        'mcp',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"number","arguments":{"n":9007199254740993}}}',
      );
      expect(told.json.result.structuredContent).toEqual({ m: '9007199254740993' });
      expect((await call('number', { n: '-9007199254740993' })).result.structuredContent.m).toBe(
        '-9007199254740993',
      );
      for (const n of [42, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
        expect((await call('number', { n })).result.structuredContent).toEqual({ m: n });
      }
      const { p } = (await call('people', { start: 0, end: 2 })).result.structuredContent;
      // A float is no integer, however it is printed.
      expect(p.map((one: object) => ({ ...one }))).toMatchObject([
        { big: '9007199254740993', ratio: 1e20 },
        { big: 42, ratio: 0.5 },
      ]);
    });

    test('that fails is an answer which says what to do better', async () => {
      const { result } = await call('named', { name: 5 });
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(/^PARAM_TYPE: `name` must be String/);
      expect(result.structuredContent).toMatchObject({ code: 'PARAM_TYPE', path: '/name' });
      const limit = await call('everyone', { _limit_chars: 'much' });
      expect(limit.result.structuredContent.code).toBe('PARAM_VALUE');
    });
  });

  /** A list of so many people, and a page of it, which is of the schema that the tool shows. */
  async function tenThousand(settings: Record<string, string>) {
    const big = await startMcp(transport, source, settings);
    for (let i = 0; i < 10_000; i++) big.database.addNode('Person', { name: `p${i}` });
    const { tools } = (await big.ask('tools/list')).json.result;
    const validator = Schema.Compile(tools[0].outputSchema);
    const page = async (start: number, end: number) => {
      const args = { start, end };
      const { json } = await big.ask('tools/call', { name: 'people', arguments: args });
      const { structuredContent, _meta, content } = json.result;
      expect(validator.Check(structuredContent)).toBe(true);
      const cut = _meta['dev.trellisdb/cut'] as { shown: number; total: number } | undefined;
      return { names: structuredContent.p.map((one: { name: string }) => one.name), cut, content };
    };
    return { page, close: () => big.close() };
  }
  const everyName = Array.from({ length: 10_000 }, (_, i) => `p${i}`);
  const toldOf = (shown: number, total: string): string =>
    `Shown ${shown} of ${total} p. Ask for fewer, or page with the parameters start and end.`;

  test('M13 a list of 10,000 is cut at an item; as it says, pages of what fits bring all', async () => {
    const big = await tenThousand({});
    const whole = await big.page(0, 10_000);
    const { shown, total } = whole.cut!;
    expect([total, whole.names]).toEqual([10_000, everyName.slice(0, shown)]);
    expect(whole.content[1].text).toBe(toldOf(shown, '10,000'));
    const names: string[] = [];
    // Names grow longer, so that a later page may be cut again; what it shows is where to go on.
    while (names.length < 10_000) {
      const next = await big.page(names.length, Math.min(names.length + shown, 10_000));
      expect(next.names.length).toBeGreaterThan(shown / 2);
      names.push(...next.names);
    }
    expect(names).toEqual(everyName);
    big.close();
  });

  test('M13 where more characters may be, two calls page through a list of 10,000', async () => {
    const big = await tenThousand({ 'mcp.max_output_chars': '800000' });
    const first = await big.page(0, 10_000);
    const { shown, total } = first.cut!;
    expect([total, first.names]).toEqual([10_000, everyName.slice(0, shown)]);
    expect(first.content[1].text).toBe(
      toldOf(shown, '10,000').replace(/\d{4}/, `${shown.toLocaleString('en')}`),
    );
    const second = await big.page(shown, 10_000);
    expect([second.cut, second.names]).toEqual([undefined, everyName.slice(shown)]);
    big.close();
  });

  describe('keys', () => {
    test('M08 a key sees and calls what it may; the rest does not exist for it', async () => {
      const write = mcp.key('write');
      const read = mcp.key('read');
      const scoped = mcp.key('write', ['named', 'ren*']);
      expect((await mcp.ask('tools/list')).status).toBe(401);
      expect(await namesOf(write)).toContain('rename');
      expect(await namesOf(read)).not.toContain('rename');
      const args = { name: 'small', to: 'tiny' };
      const refused = await call('rename', args, read);
      expect(refused.error).toEqual({ code: -32602, message: 'Unknown tool: rename' });
      expect((await call('nothing', {}, read)).error.message).toBe('Unknown tool: nothing');
      expect(await namesOf(scoped)).toEqual(['named', 'rename']);
      expect((await call('n_from_type', { node_type: 'Book' }, scoped)).error.code).toBe(-32602);
      expect((await call('everyone', {}, scoped)).error.code).toBe(-32602);
      expect((await call('rename', args, scoped)).result.isError).toBeUndefined();
      const { result } = await call('n_from_type', { node_type: 'Book' }, read);
      const { connection_id } = result.structuredContent;
      const stolen = await call('walk_collect', { connection_id }, write);
      expect(stolen.result.structuredContent.code).toBe('CONNECTION_NOT_FOUND');
      const list = (await mcp.ask('tools/list', {}, { key: read })).json.result;
      expect(list.cacheScope).toBe('private');
    });
  });

  describe('the session tools', () => {
    test('says of what kind its items are, and whether more follow', async () => {
      const key = mcp.key('read');
      const told = async (name: string, args: object) =>
        (await call(name, args, key)).result.structuredContent;
      const { connection_id } = await told('n_from_type', { node_type: 'Person' });
      const page = { connection_id, drop: false };
      expect(await told('walk_collect', { ...page, range: { start: 0, end: 2 } })).toMatchObject({
        kind: 'node',
        count: 3,
        more: true,
        items: [{}, {}],
      });
      const ranges = [
        { start: 2, end: 4 },
        { start: 0, end: 3 },
        { start: 1 },
        { end: -1 },
        undefined,
      ];
      for (const range of ranges) {
        expect((await told('walk_collect', { ...page, range })).more).toBe(false);
      }
      const edges = await told('out_e_step', { connection_id, edge_label: 'Wrote' });
      expect(edges).toMatchObject({ kind: 'edge', count: 1 });
      const none = await told('out_step', { connection_id, edge_label: 'Wrote' });
      expect(none.kind).toBe(none.count === 0 ? undefined : 'node');
      expect((await told('walk_collect', { connection_id })).kind).toBe(none.kind);
      expect(await told('reset', { connection_id })).toEqual({ connection_id, count: 0 });
    });

    test('opens no session for a call that fails', async () => {
      const open = async (): Promise<string> =>
        /^trellis_sessions (\d+)$/m.exec(
          (
            await mcp.client.request({
              path: 'metrics',
              method: 'GET',
              headers: { 'x-api-key': admin },
            })
          ).text,
        )![1]!;
      const admin = mcp.key('admin');
      const before = await open();
      for (const args of [{ node_type: 5 }, { node_type: 'Nobody' }, {}]) {
        expect((await call('n_from_type', args, admin)).result.isError).toBe(true);
      }
      expect(await open()).toBe(before);
    });

    test('M12 a handle of a tool works on POST /mcp/<tool>, and the other way round', async () => {
      const key = mcp.key('admin');
      const headers = { 'x-api-key': key };
      const started = (await call('n_from_type', { node_type: 'Person' }, key)).result;
      const { connection_id, count, kind, first } = started.structuredContent;
      expect([kind, count, first.label]).toEqual(['node', 3, 'Person']);
      const stepped = await call('out_step', { connection_id, edge_label: 'Wrote' }, key);
      expect(stepped.result.structuredContent).toMatchObject({
        connection_id,
        count: 1,
        first: { title: 'Notes' },
      });
      const body = JSON.stringify({ connection_id, drop: false });
      const outside = await mcp.post('mcp/collect', body, headers);
      expect(outside.json).toMatchObject([{ title: 'Notes' }]);
      const inside = await call('walk_collect', { connection_id }, key);
      expect(inside.result.structuredContent).toMatchObject({ count: 1, items: outside.json });
      const opened = JSON.parse((await mcp.post('mcp/init', '{}', headers)).text);
      const again = await call('n_from_type', { connection_id: opened, node_type: 'Book' }, key);
      expect(again.result.structuredContent).toMatchObject({ connection_id: opened, count: 1 });
      const lost = await call('next', { connection_id: 'nobody' }, key);
      expect(lost.result.structuredContent.code).toBe('CONNECTION_NOT_FOUND');
      expect(lost.result.content[0].text).toContain('Leave connection_id out');
    });
  });
});
