// `trellisdb/langchain`: the contract of a vector store over a database in this process and over a server, filters against a
// naive reading of them, and the retriever over edges. Long tests extend the real `@langchain/core`, or
// the one that TRELLIS_LANGCHAIN names; short ones a stand-in with what is used of it.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  Document,
  TrellisGraphRetriever,
  TrellisVectorStore,
} from '../../server/integrations/langchain.js';
import type { Filter } from '../../server/integrations/filter.js';
import { connect } from '../../server/client/client.js';
import { packages } from '../support/packages.js';
import { makeFolder, removeFolder, root } from '../support/project.js';
import { Random } from '../support/random.js';
import { type Server, startServer } from '../support/server/server.js';

const found = await packages('@langchain/core@1.4.0');
if (typeof found === 'string') console.log(`LangChain is a stand-in: ${found}`);
const real =
  typeof found === 'string' ? undefined : join(found.folder, 'node_modules/@langchain/core');

const schema = `
V::Chunk {
    UNIQUE INDEX key: String,
    text: String,
    metadata: String,
    lang: String,
    year: I32,
    draft: Boolean
}
V::Wide {
    UNIQUE INDEX key: String,
    text: String,
    metadata: String,
    lang: String,
    year: I32,
    draft: Boolean
}
N::Topic { name: String }
E::About { From: Chunk, To: Topic }
QUERY about(keys: [String], topic: String) =>
    t <- AddN<Topic>({name: topic})
    FOR key IN keys {
        AddE<About>::From(V<Chunk>({key: key}))::To(t)
    }
    RETURN "done"
QUERY count() => RETURN V<Chunk>::COUNT
QUERY wideCount() => RETURN V<Wide>::COUNT
`;

/** Eight numbers from the letters of a text; equal texts are nearest. */
function vectorOf(text: string): number[] {
  const vector = new Array<number>(8).fill(0.01);
  for (const letter of text.toLowerCase()) vector[letter.charCodeAt(0) % 8]! += 1;
  return vector;
}
const embeddings = {
  embedDocuments: async (texts: string[]) => texts.map(vectorOf),
  embedQuery: async (text: string) => vectorOf(text),
};

const standIn = {
  'package.json': JSON.stringify({
    name: '@langchain/core',
    type: 'module',
    exports: { './vectorstores': './vectorstores.js', './retrievers': './retrievers.js' },
  }),
  'vectorstores.js': `export class VectorStore {
    constructor(embeddings) { this.embeddings = embeddings; }
    async similaritySearch(query, k = 4, filter) {
      const found = await this.similaritySearchWithScore(query, k, filter);
      return found.map(([document]) => document);
    }
    async similaritySearchWithScore(query, k = 4, filter) {
      const vector = await this.embeddings.embedQuery(query);
      return this.similaritySearchVectorWithScore(vector, k, filter);
    }
  }`,
  'retrievers.js': `export class BaseRetriever {
    invoke(question) { return this._getRelevantDocuments(question); }
  }`,
};

// As its README says: over a database in the process, and over a connection.
describe.each(['open', 'connect'] as const)('%s', (way) => {
  // biome-ignore lint/suspicious/noExplicitAny: as it is built, without its types.
  let adapter: any;
  let folder: string;
  // biome-ignore lint/suspicious/noExplicitAny: as it is built, without its types.
  let database: any;
  let server: Server | undefined;
  let store: TrellisVectorStore & Pick<Searching, 'similaritySearch'>;
  interface Searching {
    similaritySearch(query: string, k?: number, filter?: Filter): Promise<Document[]>;
  }

  const config = () => ({
    caller: database,
    type: 'Chunk',
    properties: { lang: 'String', year: 'I32', draft: 'Boolean' } as const,
  });

  beforeAll(async () => {
    folder = makeFolder();
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, '@langchain'), { recursive: true });
    const installed = process.env.TRELLIS_LANGCHAIN ?? real;
    const core = join(modules, '@langchain/core');
    if (installed !== undefined) symlinkSync(installed, core);
    else {
      mkdirSync(core);
      for (const [name, text] of Object.entries(standIn)) writeFileSync(join(core, name), text);
    }
    mkdirSync(join(modules, 'adapter'));
    cpSync(join(root, 'dist/bin/langchain.js'), join(modules, 'adapter/langchain.mjs'));
    adapter = await import(pathToFileURL(join(modules, 'adapter/langchain.mjs')).href);
    if (way === 'open') {
      const { open } = await import(join(root, 'dist/bin/index.js'));
      const sources = [{ path: 'main.hx', text: schema }];
      database = await open({ dataDir: join(folder, 'data'), sources, workers: 0 });
    } else {
      server = await startServer({
        sources: { 'main.hx': schema },
        config: { 'server.ad_hoc_queries': true },
      });
      database = connect({ url: `http://127.0.0.1:${server.port}` });
    }
    store = new adapter.TrellisVectorStore(embeddings, config());
  });
  afterAll(async () => {
    await database?.close?.();
    await server?.dispose();
    removeFolder(folder);
  });

  const count = async (): Promise<number> => (await database.call('count')).data;
  /** A store of the same type, whose vectors have so many numbers. */
  const wideStore = async (numbers: number) => {
    const wide = (text: string): number[] => {
      const few = vectorOf(text);
      return Array.from({ length: numbers }, (_, at) => few[at % few.length]! / (1 + at));
    };
    const embedder = {
      embedDocuments: async (texts: string[]) => texts.map(wide),
      embedQuery: async (text: string) => wide(text),
    };
    const wideConfig = { ...config(), type: 'Wide' };
    return new adapter.TrellisVectorStore(embedder, wideConfig) as typeof store;
  };
  const wideCount = async (): Promise<number> => (await database.call('wideCount')).data;
  const keysOf = (documents: Document[]) => documents.map(({ id }) => id);
  const document = (text: string, metadata: Record<string, unknown> = {}): Document => ({
    pageContent: text,
    metadata,
  });

  describe('W15 the vector store', () => {
    test('adds, finds, replaces and deletes', async () => {
      const documents = [
        document('aaaa', { lang: 'en', year: 1, nested: { deep: [1, null] } }),
        document('bbbb', { lang: 'de', year: 2 }),
      ];
      expect(await store.addDocuments(documents, { ids: ['a', 'b'] })).toEqual(['a', 'b']);
      const [nearest] = await store.similaritySearch('aaaa', 1);
      expect(nearest).toEqual({ id: 'a', ...documents[0] });
      const scored = await store.similaritySearchVectorWithScore(vectorOf('aaaa'), 2);
      expect(scored.map(([{ id }]) => id)).toEqual(['a', 'b']);
      expect(scored[0]![1]).toBeCloseTo(1, 5);
      expect(scored[0]![1]).toBeGreaterThan(scored[1]![1]);
      await store.addDocuments([document('cccc')], { ids: ['a'] });
      expect([await count(), keysOf(await store.similaritySearch('cccc', 1))]).toEqual([2, ['a']]);
      const [made] = await store.addDocuments([document('dddd')]);
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
      await store.delete({ ids: [made!, 'never'] });
      expect(await count()).toBe(2);
      await store.delete({ filter: { lang: 'de' } });
      expect(keysOf(await store.similaritySearch('bbbb', 9))).toEqual(['a']);
      await expect(store.delete({})).rejects.toThrow('ids or a filter');
      await store.delete({ ids: ['a'] });
    });

    test('replaces what a filter names in one transaction', async () => {
      const of = (source: string, n: number) =>
        Array.from({ length: n }, (_, at) => document(`${source}${at}`, { lang: source }));
      await store.addDocuments([...of('x', 3), ...of('y', 2)]);
      await store.addDocuments(of('x', 2), { deleteFilter: { lang: 'x' } });
      expect(await count()).toBe(4);
      const twice = store.addDocuments([...of('x', 1), document('z', { year: 'no year' })], {
        deleteFilter: { lang: 'x' },
      });
      await expect(twice).rejects.toThrow(/year/);
      expect(await count()).toBe(4);
      await store.delete({ filter: { $or: [{ lang: 'x' }, { lang: 'y' }] } });
      expect(await count()).toBe(0);
    });

    test('made from texts and documents, and by marginal relevance', async () => {
      const metadatas = [{ lang: 'one' }, { lang: 'two' }, { lang: 'three' }];
      const made = await adapter.TrellisVectorStore.fromTexts(
        ['aaaa', 'aaab', 'zzzz'],
        metadatas,
        embeddings,
        config(),
      );
      const near = keysOfText(await made.similaritySearch('aaaa', 2));
      expect(near).toEqual(['aaaa', 'aaab']);
      const options = { k: 2, fetchK: 3, lambda: 0.1 };
      expect(keysOfText(await made.maxMarginalRelevanceSearch('aaaa', options))).toEqual([
        'aaaa',
        'zzzz',
      ]);
      await made.delete({ filter: { lang: { $in: ['one', 'two', 'three'] } } });
      expect(await count()).toBe(0);
    });

    test('AG05 adds 1,500 documents of 1,536 numbers, which no single request could hold', async () => {
      const many = 1_500;
      const made = await wideStore(1_536);
      const documents = Array.from({ length: many }, (_, at) =>
        document(`wide ${at}`, { lang: 'w' }),
      );
      const ids = await made.addDocuments(documents);
      expect([ids.length, await wideCount()]).toEqual([many, many]);
      expect(keysOf(await made.similaritySearch('wide 7', 1))).toHaveLength(1);
      const twice = made.addDocuments(documents.slice(0, 900), {
        ids,
        deleteFilter: { lang: 'w' },
      });
      expect((await twice).length).toBe(900);
      expect(await wideCount()).toBe(900);
      await made.delete({ filter: { lang: 'w' } });
      expect(await wideCount()).toBe(0);
    });

    test('AG05 an error has the ids of the documents of its request', async () => {
      const documents = [document('fine'), document('not', { year: 'no year' })];
      const failed = store.addDocuments(documents, { ids: ['first', 'second'] });
      await expect(failed).rejects.toMatchObject({
        message: expect.stringContaining('(documents first to second)'),
        documentIds: ['first', 'second'],
      });
      expect(await count()).toBe(0);
    });

    test('says what the project lacks', async () => {
      const other = new adapter.TrellisVectorStore(embeddings, { ...config(), type: 'Missing' });
      await expect(other.addDocuments([document('a')])).rejects.toThrow(
        'V::Missing {\n    UNIQUE INDEX key: String,\n    text: String,\n    metadata: String,\n    lang: String',
      );
      expect(
        () => new adapter.TrellisVectorStore(embeddings, { db: {}, type: 'Chunk' } as never),
      ).toThrow(/`caller` is a connection/);
      expect(
        () => new adapter.TrellisVectorStore(embeddings, { ...config(), type: 'A>' }),
      ).toThrow();
    });
  });

  const keysOfText = (documents: Document[]) => documents.map(({ pageContent }) => pageContent);

  describe('W15 filters', () => {
    type Row = { lang?: string; year?: number; draft?: boolean };
    const random = new Random(3);
    const rows: Row[] = Array.from({ length: 60 }, () => ({
      lang: random.pick(['en', 'de', 'fr']),
      year: random.below(10),
      draft: random.chance(0.5),
    }));
    beforeAll(async () => {
      const documents = rows.map((row, at) => document(`text ${at}`, row));
      await store.addDocuments(documents, { ids: rows.map((_, at) => `k${at}`) });
    });
    afterAll(() => store.delete({ ids: rows.map((_, at) => `k${at}`) }));

    const compare: Record<string, (a: unknown, b: never) => boolean> = {
      $eq: (a, b) => a === b,
      $ne: (a, b) => a !== b,
      $gt: (a, b) => (a as number) > b,
      $gte: (a, b) => (a as number) >= b,
      $lt: (a, b) => (a as number) < b,
      $lte: (a, b) => (a as number) <= b,
      $in: (a, b) => (b as unknown[]).includes(a),
      $nin: (a, b) => !(b as unknown[]).includes(a),
    };
    const matches = (row: Row, filter: Filter): boolean =>
      Object.entries(filter).every(([name, wanted]) => {
        if (name === '$and') return (wanted as Filter[]).every((each) => matches(row, each));
        if (name === '$or') return (wanted as Filter[]).some((each) => matches(row, each));
        if (name === '$not') return !matches(row, wanted as Filter);
        const value = row[name as keyof Row];
        if (typeof wanted !== 'object') return value === wanted;
        return Object.entries(wanted).every(([operator, of]) =>
          compare[operator]!(value, of as never),
        );
      });
    const simple = (): Filter => {
      const operator = random.pick(Object.keys(compare));
      const isList = operator === '$in' || operator === '$nin';
      const name = random.pick(['lang', 'year', 'draft']);
      if (name === 'year') {
        return {
          year: { [operator]: isList ? [random.below(10), random.below(10)] : random.below(10) },
        };
      }
      if (name === 'draft') return { draft: random.chance(0.5) };
      if (/^\$[gl]/.test(operator)) return { lang: random.pick(['en', 'de']) };
      return { lang: { [operator]: isList ? ['en', 'it'] : random.pick(['en', 'de']) } };
    };
    const made = (depth: number): Filter => {
      if (depth === 0 || random.chance(0.3)) return simple();
      const word = random.pick(['$and', '$or', '$not']);
      if (word === '$not') return { $not: made(depth - 1) };
      return { [word]: [made(depth - 1), made(depth - 1)] };
    };

    test('k results when k exist, and no other', async () => {
      for (let round = 0; round < 25; round++) {
        const filter = made(3);
        const wanted = rows.flatMap((row, at) => (matches(row, filter) ? [`k${at}`] : []));
        const all = await store.similaritySearch('text', rows.length, filter);
        expect([filter, keysOf(all).sort()]).toEqual([filter, wanted.sort()]);
        const k = 1 + random.below(5);
        const some = await store.similaritySearch('text', k, filter);
        expect(some).toHaveLength(Math.min(k, wanted.length));
      }
    });

    test('refuses filters that cannot be queries', async () => {
      const refused: Filter[] = [
        { other: 1 },
        { lang: { $regex: 'e' } },
        { lang: { $in: 'en' } },
        { lang: {} },
        {},
        { $or: [] },
        { lang: [] as never },
        { lang: null as never },
        { lang: { $eq: { a: 1 } as never } },
      ];
      for (const filter of refused)
        await expect(store.similaritySearch('a', 1, filter)).rejects.toThrow(/cannot be asked/);
      const hostile = { lang: '"); DROP V<Chunk>' };
      expect(await store.similaritySearch('a', 1, hostile)).toEqual([]);
      expect(await count()).toBe(rows.length);
    });
  });

  test('W15 the graph retriever brings what belongs to the nearest', async () => {
    await store.addDocuments(
      ['aaaa', 'mmmm', 'zzzz'].map((text) => document(text)),
      { ids: ['a', 'm', 'z'] },
    );
    await database.call('about', { keys: ['a', 'z'], topic: 'one' });
    const hops = [{ out: 'About' }, { in: 'About' }];
    const retriever: TrellisGraphRetriever & { invoke(question: string): Promise<Document[]> } =
      new adapter.TrellisGraphRetriever({ store, hops, k: 1 });
    expect(keysOf(await retriever.invoke('aaaa'))).toEqual(['a', 'z']);
    expect(keysOf(await store.similaritySearch('aaaa', 1))).toEqual(['a']);
  });
});
