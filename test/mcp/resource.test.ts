// Resources, prompts and completion: what they say of a database, and what a key sees of it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { promptOf } from '../../server/mcp/prompt/prompt-file.js';
import { memoryUuid } from '../support/memory-view.js';
import { type RunningMcp, startMcp } from './running-mcp.js';

const source = `
N::Person { INDEX name: String, born: I64 }
N::Book { UNIQUE INDEX title: String }
E::Wrote { From: Person, To: Book, Properties: { year: I32 } }
V::Passage { text: String }

// Books of a person. The oldest first.
QUERY booksOf(name: String, most?: U32) =>
  b <- N<Person>({name: name})::Out<Wrote>
  RETURN b

QUERY count() => n <- N<Person>::COUNT RETURN n
// Adds one.
QUERY add(name: String) => p <- AddN<Person>({name: name}) RETURN p
`;

// M19: what is said of resources, prompts and completion holds on each transport.
describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  let keys: Record<'read' | 'write' | 'scoped', string>;
  beforeAll(async () => {
    mcp = await startMcp(transport, source);
    const folder = join(mcp.folder, 'prompts');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'tell.md'),
      '---\nname: tell\ndescription: "Tells of a person."\narguments:\n  person: Whom.\n  - type?: Of what\n---\nTell of {{person}} ({{ type }}), {{nothing}}, {{constructor}}.\n',
    );
    writeFileSync(join(folder, 'plain.md'), 'Say hello.');
    writeFileSync(join(folder, 'broken.md'), '---\ncolour: red\n---\nx');
    mcp.app.reloadPrompts();
    const { database } = mcp;
    const ada = database.addNode('Person', { name: 'Ada', born: 9007199254740993n });
    for (let i = 0; i < 20; i++)
      database.addNode('Person', { name: `Person ${i % 15} ${'x'.repeat(i * 5)}` });
    database.addEdge('Wrote', ada, database.addNode('Book', { title: 'Notes' }), { year: 1843 });
    keys = { read: mcp.key('read'), write: mcp.key('write'), scoped: mcp.key('read', ['count']) };
  });
  afterAll(() => mcp.close());

  const ask = async (method: string, params: object, key = keys.write) =>
    (await mcp.ask(method, params, { key })).json;
  const read = async (uri: string, key?: string) => {
    const { result, error } = await ask('resources/read', { uri }, key);
    return result === undefined ? error : result.contents[0];
  };

  describe('resources', () => {
    test('a key sees its queries, and the graph unless it is limited to queries', async () => {
      const seen = async (key: string) => {
        const { resources } = (await ask('resources/list', {}, key)).result;
        const { resourceTemplates } = (await ask('resources/templates/list', {}, key)).result;
        return [
          resources.map(({ uri }: { uri: string }) => uri.replace('trellis://', '')).join(' '),
          resourceTemplates.map(({ name }: { name: string }) => name).join(' '),
        ];
      };
      const [both, fewer] = ['schema schema.md query/booksOf query/count', 'schema schema.md'];
      expect(await seen(keys.write)).toEqual([`${both} query/add`, 'query element']);
      expect(await seen(keys.read)).toEqual([both, 'query element']);
      expect(await seen(keys.scoped)).toEqual([`${fewer} query/count`, 'query']);
    });

    test('the schema as a record, with counts', async () => {
      const { mimeType, text } = await read('trellis://schema');
      expect(mimeType).toBe('application/json');
      const { schema, queries } = JSON.parse(text);
      expect(schema.nodes[0]).toEqual({
        name: 'Person',
        properties: { name: 'String', born: 'I64' },
        count: 21,
      });
      expect(schema.edges).toMatchObject([{ name: 'Wrote', from: 'Person', to: 'Book', count: 1 }]);
      expect(queries.map(({ name }: { name: string }) => name)).toEqual([
        'booksOf',
        'count',
        'add',
      ]);
      const scoped = JSON.parse((await read('trellis://schema', keys.scoped)).text);
      expect(scoped.schema).toEqual({ nodes: [], vectors: [], edges: [] });
      expect(scoped.queries).toHaveLength(1);
    });

    test('the schema as a page', async () => {
      const { text } = await read('trellis://schema.md', keys.read);
      expect(text).toContain('- Person (21) {name: String INDEX, born: I64}\n');
      expect(text).toContain('- Person -Wrote-> Book (1) {year: I32}\n');
      expect(text).toContain('  - title is such as "Notes"\n');
      const [, names] = /name is such as (.*)/.exec(text)!;
      expect(names!.split(', ')).toHaveLength(10);
      expect(names).toMatch(/^"Ada", "Person 0 /);
      expect(text).toContain('- booksOf(name: String, most?: U32): Books of a person. Reads.\n');
      expect(text).not.toContain('add(');
      const scoped = (await read('trellis://schema.md', keys.scoped)).text;
      expect(scoped).toBe('## Queries\n\n- count(): Reads.\n');
    });

    test('a query: its text, its types, its plan', async () => {
      const query = JSON.parse((await read('trellis://query/booksOf')).text);
      expect(query).toMatchObject({ name: 'booksOf', writes: false, mcp: false });
      expect(query.source).toBe(
        'QUERY booksOf(name: String, most?: U32) =>\n  b <- N<Person>({name: name})::Out<Wrote>\n  RETURN b',
      );
      expect(query.doc).toBe('Books of a person. The oldest first.');
      expect(query.parameters.required).toEqual(['name']);
      expect(query.output.required).toEqual(['b']);
      expect(query.plan.pipelines[0].steps.length).toBeGreaterThan(0);
      expect(JSON.parse((await read('trellis://query/add')).text).source).toContain('RETURN p');
      const scoped = JSON.parse((await read('trellis://query/count', keys.scoped)).text);
      // How many rows there are tells of the data.
      expect(JSON.stringify(scoped.plan)).not.toContain('estimated');
    });

    test('an element, exactly, and how many edges it has', async () => {
      const { text } = await read(`trellis://element/${memoryUuid(1)}`);
      expect(text).toBe(
        `{"kind":"node","element":{"id":"${memoryUuid(1)}","label":"Person","name":"Ada","born":9007199254740993},"degrees":{"Wrote":{"out":1,"in":0}}}`,
      );
      const { resources } = (await ask('resources/list', {})).result;
      expect(resources).toHaveLength(5);
      const { result } = await ask('resources/read', {
        uri: `trellis://element/${memoryUuid(23)}`,
      });
      expect(result.ttlMs).toBe(0);
      expect(JSON.parse(result.contents[0].text)).toMatchObject({
        kind: 'edge',
        element: { from_node: memoryUuid(1), year: 1843 },
        degrees: {},
      });
    });

    const hidden: [string, 'write' | 'read' | 'scoped'][] = [
      ['trellis://nothing', 'write'],
      ['trellis://query/nothing', 'write'],
      ['trellis://query/__proto__', 'write'],
      ['trellis://query/add', 'read'],
      ['trellis://query/booksOf', 'scoped'],
      [`trellis://element/${memoryUuid(1)}`, 'scoped'],
      [`trellis://element/${memoryUuid(99)}`, 'write'],
      ['trellis://element/1', 'write'],
      ['file:///etc/passwd', 'write'],
      ['', 'write'],
    ];
    test.each(hidden)('M08 there is no %j for a key that may %s', async (uri, key) => {
      const modern = await mcp.ask('resources/read', { uri }, { key: keys[key] });
      expect(modern.status).toBe(400);
      expect(modern.json.error).toMatchObject({ code: -32602, data: { uri } });
      const legacy = await mcp.ask('resources/read', { uri }, { key: keys[key], legacy: true });
      expect([legacy.status, legacy.json.error.code]).toEqual([200, -32002]);
    });
  });

  describe('prompts', () => {
    test('are those of the project and those of every database', async () => {
      const { prompts } = (await ask('prompts/list', {})).result;
      expect(prompts.map(({ name }: { name: string }) => name)).toEqual([
        'plain',
        'tell',
        'explore',
        'answer_with_sources',
      ]);
      expect(prompts[1]).toEqual({
        name: 'tell',
        description: 'Tells of a person.',
        arguments: [
          { name: 'person', description: 'Whom.', required: true },
          { name: 'type', description: 'Of what', required: false },
        ],
      });
    });

    test('have their placeholders filled, one time', async () => {
      const { result } = await ask('prompts/get', {
        name: 'tell',
        arguments: { person: '{{type}}' },
      });
      expect(result.description).toBe('Tells of a person.');
      expect(result.messages).toEqual([
        {
          role: 'user',
          content: { type: 'text', text: 'Tell of {{type}} (), {{nothing}}, {{constructor}}.' },
        },
      ]);
    });

    test('explore gives the schema that the key sees', async () => {
      const textFor = async (key: string) => {
        const asked = { name: 'explore', arguments: { question: 'Who wrote {{schema}}?' } };
        return (await ask('prompts/get', asked, key)).result.messages[0].content.text;
      };
      expect(await textFor(keys.read)).toContain('- Person -Wrote-> Book (1)');
      expect(await textFor(keys.read)).toMatch(/Who wrote \{\{schema\}\}\?$/);
      expect(await textFor(keys.scoped)).not.toContain('Person');
    });

    const faults: [object, string][] = [
      [{ name: 'nothing' }, 'Unknown prompt'],
      [{ name: 'tell' }, 'person is missing'],
      [{ name: 'tell', arguments: { person: 5 } }, 'person is no string'],
      [{ name: 'tell', arguments: [] }, 'person is missing'],
      [{}, 'name is no string'],
    ];
    test.each(faults)('%j is refused', async (params, what) => {
      const { error } = await ask('prompts/get', params);
      expect([error.code, error.message]).toEqual([-32602, `Invalid params: ${what}`]);
    });
  });

  describe('completion', () => {
    const prompt = (name: string) => ({ type: 'ref/prompt', name });
    const template = { type: 'ref/resource', uri: 'trellis://query/{name}' };
    const cases: [object, string, string, string[]][] = [
      [prompt('answer_with_sources'), 'type', '', ['Person', 'Book', 'Passage']],
      [prompt('answer_with_sources'), 'type', 's', ['Person', 'Passage']],
      [prompt('answer_with_sources'), 'type', 'PA', ['Passage']],
      [prompt('explore'), 'question', 'w', []],
      [template, 'name', 'o', ['booksOf', 'count']],
      [template, 'name', 'c', ['count']],
      [{ ...template, uri: 'trellis://element/{id}' }, 'id', '0', []],
    ];
    test.each(cases)('of %j, %s with %j typed', async (ref, name, value, values) => {
      const { result } = await ask(
        'completion/complete',
        { ref, argument: { name, value } },
        keys.read,
      );
      expect(result.completion).toEqual({ values, total: values.length, hasMore: false });
    });

    test('shows a key its queries only', async () => {
      const asked = { ref: template, argument: { name: 'name', value: '' } };
      const told = await ask('completion/complete', asked, keys.scoped);
      expect(told.result.completion.values).toEqual(['count']);
    });

    const faults: [object, string][] = [
      [{}, 'argument.name is no string'],
      [{ argument: { name: 'x', value: '' } }, 'ref.type is no string'],
      [{ ref: { type: 'ref/x' }, argument: { name: 'x', value: '' } }, 'ref.type is neither'],
      [{ ref: prompt('x'), argument: { name: 'x', value: '' } }, 'Unknown prompt'],
      [{ ref: prompt('explore'), argument: { name: 'x', value: '' } }, 'there is no argument x'],
    ];
    test.each(faults)('%j is refused', async (params, what) => {
      const { error } = await ask('completion/complete', params);
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(what) });
    });
  });
});

describe('files of prompts', () => {
  const files: [string, string][] = [
    ['---\ncolour: red\n---\nx', 'its head has the line "colour: red"'],
    ['---\nname: two words\n---\nx', 'the name has to be like'],
    ['---\narguments: a, b\n---\nx', 'each argument takes a line of its own'],
  ];
  test.each(files)('the file %j says what is wrong', (text, what) => {
    expect(promptOf(text, 'x')).toContain(what);
  });

  test('a file may have no head, one of another system, or nothing but a head', () => {
    expect(promptOf('a\n---\nb', 'x')).toEqual({ name: 'x', arguments: [], text: 'a\n---\nb' });
    expect(promptOf('---\nname: y\n---', 'x')).toMatchObject({ name: 'y', text: '' });
    expect(promptOf('---\n---\nb', 'x')).toMatchObject({ text: 'b' });
  });
});
