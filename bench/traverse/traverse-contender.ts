// TrellisDB, SurrealDB and Kuzu as contenders of the traversal benchmark. Each answers with a number:
// the rows it returned, or the steps of the path, so that every answer can be checked.
import { join } from 'node:path';
import { type EmbeddedDatabase, TrellisError, open } from '../../engine/internal.js';
import { cacheFolder, timeLoad } from '../support/bench-cache.js';
import { type Column, openKuzu } from '../peer/kuzu-peer.js';
import { insertRows, openSurreal } from '../peer/surreal-peer.js';
import type { TraverseRequest, WordNet, Workload } from './traverse-data.js';

export interface TraverseContender {
  name: string;
  run: Record<Workload, (request: TraverseRequest) => Promise<number>>;
  close(): Promise<unknown>;
}

const source = `
N::Synset { key: String }
N::Word { no: U32 }
E::Hypernym { From: Synset, To: Synset }
E::Sense { From: Word, To: Synset }
QUERY addSynsets(rows: [{key: String}]) => FOR {key} IN rows { AddN<Synset>({ key }) } RETURN "ok"
QUERY addWords(rows: [{no: U32}]) => FOR {no} IN rows { AddN<Word>({ no }) } RETURN "ok"
QUERY addHypernyms(rows: [{a: ID, b: ID}]) =>
  FOR {a, b} IN rows { AddE<Hypernym>::From(a)::To(b) }
  RETURN "ok"
QUERY addSenses(rows: [{a: ID, b: ID}]) =>
  FOR {a, b} IN rows { AddE<Sense>::From(a)::To(b) }
  RETURN "ok"
QUERY synsets() => s <- N<Synset> RETURN s::ID
QUERY words() => w <- N<Word> RETURN w::ID
QUERY parents(id: ID) => s <- N<Synset>(id)::Out<Hypernym> RETURN s::{id, key}
QUERY hop1(id: ID) => s <- N<Synset>(id)::In<Hypernym>::DEDUP RETURN s::{id, key}
QUERY hop2(id: ID) => s <- N<Synset>(id)::In<Hypernym>::In<Hypernym>::DEDUP RETURN s::{id, key}
QUERY hop3(id: ID) =>
  s <- N<Synset>(id)::In<Hypernym>::In<Hypernym>::In<Hypernym>::DEDUP
  RETURN s::{id, key}
QUERY synonyms(id: ID) => w <- N<Word>(id)::Out<Sense>::In<Sense>::DEDUP RETURN w::{id, no}
QUERY path(a: ID, b: ID) =>
  p <- N<Synset>(a)::ShortestPathBFS<Hypernym>::To(b)
  RETURN p::{hop_count}
`;

export interface TrellisNet extends TraverseContender {
  db: EmbeddedDatabase;
  /** Ids by number. */
  synsets: string[];
}

export async function trellisContender(net: WordNet): Promise<TrellisNet> {
  const folder = cacheFolder('wordnet-trellis-1');
  const db = await open({ dataDir: folder.path, sources: [{ path: 'wordnet.hx', text: source }] });
  if (!folder.isComplete) {
    await timeLoad('TrellisDB', sizeOf(net), () => fillTrellis(db, net));
    folder.complete();
  }
  const { s: synsets } = await db.call<{ s: string[] }>('synsets');
  const { w: words } = await db.call<{ w: string[] }>('words');
  const rows =
    (query: string, ids: string[]) =>
    async ({ from }: TraverseRequest): Promise<number> => {
      const [list] = Object.values(
        await db.call<Record<string, unknown[]>>(query, { id: ids[from] }),
      );
      return list!.length;
    };
  const path = async ({ from, to }: TraverseRequest): Promise<number> => {
    try {
      const { p } = await db.call<{ p: { hop_count: number } }>('path', {
        a: synsets[from],
        b: synsets[to],
      });
      return p.hop_count;
    } catch (error) {
      if (error instanceof TrellisError && error.code === 'NO_PATH') return -1;
      throw error;
    }
  };
  return {
    name: 'TrellisDB',
    db,
    synsets,
    run: {
      'hyponyms, 1 hop': rows('hop1', synsets),
      'hyponyms, 2 hops': rows('hop2', synsets),
      'hyponyms, 3 hops': rows('hop3', synsets),
      synonyms: rows('synonyms', words),
      path,
    },
    close: () => db.close(),
  };
}

const sizeOf = (net: WordNet): number =>
  net.synsets.length + net.words + (net.hypernyms.length + net.senses.length) / 2;

async function fillTrellis(db: EmbeddedDatabase, net: WordNet): Promise<void> {
  const batch = 10_000;
  const send = async (query: string, rows: object[]): Promise<void> => {
    for (let at = 0; at < rows.length; at += batch)
      await db.call(query, { rows: rows.slice(at, at + batch) });
  };
  await send(
    'addSynsets',
    net.synsets.map((key) => ({ key })),
  );
  await send(
    'addWords',
    Array.from({ length: net.words }, (_, no) => ({ no })),
  );
  const { s: synsets } = await db.call<{ s: string[] }>('synsets');
  const { w: words } = await db.call<{ w: string[] }>('words');
  await send(
    'addHypernyms',
    pairsOf(net.hypernyms, (a, b) => ({ a: synsets[a], b: synsets[b] })),
  );
  await send(
    'addSenses',
    pairsOf(net.senses, (a, b) => ({ a: words[a], b: synsets[b] })),
  );
}

function pairsOf<T>(pairs: Uint32Array, make: (a: number, b: number) => T): T[] {
  return Array.from({ length: pairs.length / 2 }, (_, i) => make(pairs[2 * i]!, pairs[2 * i + 1]!));
}

export async function surrealContender(net: WordNet): Promise<TraverseContender | undefined> {
  const folder = cacheFolder('wordnet-surreal-3.0.3');
  const db = await openSurreal(folder.path);
  if (db === undefined) return undefined;
  if (!folder.isComplete) {
    await db.query(`DEFINE TABLE synset SCHEMAFULL; DEFINE FIELD key ON synset TYPE string;
      DEFINE TABLE word SCHEMAFULL; DEFINE TABLE hypernym TYPE RELATION FROM synset TO synset;
      DEFINE TABLE sense TYPE RELATION FROM word TO synset;`);
    const edges = async (table: string, pairs: Uint32Array, from: string): Promise<void> => {
      const rows = pairsOf(pairs, (a, b) => ({
        in: db.record(from, a),
        out: db.record('synset', b),
      }));
      await insertRows(db, `RELATION INTO ${table}`, rows.length, 5_000, (i) => rows[i]!);
    };
    await timeLoad('SurrealDB', sizeOf(net), async () => {
      const { synsets, words } = net;
      await insertRows(db, 'INTO synset', synsets.length, 5_000, (id) => ({
        id,
        key: synsets[id],
      }));
      await insertRows(db, 'INTO word', words, 5_000, (id) => ({ id }));
      await edges('hypernym', net.hypernyms, 'synset');
      await edges('sense', net.senses, 'word');
    });
    folder.complete();
  }
  const up = '<-hypernym<-synset';
  const rows = (table: string, steps: string, fields: string) => {
    const text = `SELECT ${fields} FROM array::distinct($a${steps})`;
    return async ({ from }: TraverseRequest): Promise<number> =>
      ((await db.query(text, { a: db.record(table, from) })) as unknown[]).length;
  };
  const path = async ({ from, to }: TraverseRequest): Promise<number> => {
    const variables = { a: db.record('synset', from), b: db.record('synset', to) };
    const found = await db.query('RETURN $a.{..30+shortest=$b}->hypernym->synset', variables);
    return Array.isArray(found) && found.length > 0 ? found.length : -1;
  };
  return {
    name: 'SurrealDB',
    run: {
      'hyponyms, 1 hop': rows('synset', up, 'id, key'),
      'hyponyms, 2 hops': rows('synset', up + up, 'id, key'),
      'hyponyms, 3 hops': rows('synset', up + up + up, 'id, key'),
      synonyms: rows('word', '->sense->synset<-sense<-word', 'id'),
      path,
    },
    close: () => db.close(),
  };
}

export async function kuzuContender(net: WordNet): Promise<TraverseContender | undefined> {
  const folder = cacheFolder('wordnet-kuzu-0.11.3');
  const db = await openKuzu(join(folder.path, 'graph'));
  if (db === undefined) return undefined;
  if (!folder.isComplete) {
    await db.query('CREATE NODE TABLE Synset(no INT64 PRIMARY KEY, key STRING)');
    await db.query('CREATE NODE TABLE Word(no INT64 PRIMARY KEY)');
    await db.query('CREATE REL TABLE Hypernym(FROM Synset TO Synset)');
    await db.query('CREATE REL TABLE Sense(FROM Word TO Synset)');
    await timeLoad('Kuzu', sizeOf(net), async () => {
      await db.copy(
        'Synset',
        net.synsets.map((key, no) => `${no},${key}`),
      );
      const words: Column = {
        values: BigInt64Array.from({ length: net.words }, (_, i) => BigInt(i)),
        width: 1,
      };
      await db.copyColumns('Word', [words]);
      await db.copy(
        'Hypernym',
        pairsOf(net.hypernyms, (a, b) => `${a},${b}`),
      );
      await db.copy(
        'Sense',
        pairsOf(net.senses, (a, b) => `${a},${b}`),
      );
    });
    folder.complete();
  }
  const rows = async (text: string) => {
    const statement = await db.prepare(text);
    return async ({ from }: TraverseRequest) => (await statement({ a: from })).length;
  };
  // A pattern of fixed length as one recursive step is planned 40 times faster than as joins.
  const synsets = (hops: number) =>
    rows(
      `MATCH (a:Synset {no: $a})<-[:Hypernym*${hops}..${hops}]-(s:Synset) RETURN DISTINCT s.no, s.key`,
    );
  const shortest = await db.prepare(
    `MATCH p = (a:Synset {no: $a})-[:Hypernym* SHORTEST 1..30]->(b:Synset {no: $b})
     RETURN length(p) AS steps`,
  );
  return {
    name: 'Kuzu',
    run: {
      'hyponyms, 1 hop': await synsets(1),
      'hyponyms, 2 hops': await synsets(2),
      'hyponyms, 3 hops': await synsets(3),
      synonyms: await rows(
        'MATCH (a:Word {no: $a})-[:Sense]->(:Synset)<-[:Sense]-(w:Word) RETURN DISTINCT w.no',
      ),
      path: async ({ from, to }) => {
        const [found] = await shortest({ a: from, b: to });
        return found === undefined ? -1 : Number(found.steps);
      },
    },
    close: () => db.close(),
  };
}
