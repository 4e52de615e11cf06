// Which queries can be asked of the shards of a scattered vector type, and what is said of all others
// (cluster.md 11.2, K46).
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { packSources, programOf } from '../../engine/database/replica/source-archive.js';
import { compile } from '../../engine/lang/compile.js';
import { mainProgram, shardProgram } from '../../engine/plan/scatter-program.js';

const schema = `
  N::Person { UNIQUE INDEX name: String }
  V::Passage { text: String, INDEX lang: String, rank: I64 }
  V::Other { text: String }
`;
const scattered = new Set(['Passage']);
const near = 'SearchV<Passage>(near, 5)';

const compiled = (query: string, more = '') =>
  compile([{ path: 'a.hx', text: `${schema}${more}\n${query}` }], { compat: false, scattered });

/** `hop` and `write` are the refusals; all others say how the query is answered. */
const cases: [verdict: string, parameters: string, body: string][] = [
  ['all', 'near: [F64]', `hits <- ${near} RETURN hits`],
  ['all', 'near: [F64], k: U32', 'RETURN SearchV<Passage>(near, k)::{ text, score, distance }'],
  ['all', 'words: String', 'hits <- SearchBM25<Passage>(words, 5) RETURN hits::{ text, id }'],
  ['all', 'near: [F64]', `hits <- ${near}::PREFILTER(_::{lang}::EQ("de")) RETURN hits::{ text }`],
  [
    'all',
    'near: [F64]',
    `hits <- ${near} german <- hits::WHERE(_::{lang}::EQ("de")) RETURN german::{ text }`,
  ],
  [
    'all',
    'near: [F64], words: String',
    `hits <- RerankRRF(${near}, SearchBM25<Passage>(words, 5), weights: [1, 2]) RETURN hits::{ text, score }`,
  ],
  ['all', 'near: [F64]', `hits <- ${near}::RerankRRF(k: 3) RETURN hits::{ id, score }`],
  ['all', 'words: String', 'RETURN SearchV<Passage>(Embed(words), 5)::{ text }'],
  [
    'all',
    'words: String',
    'near <- Embed(words) n <- 3 hits <- SearchV<Passage>(near, n)::WHERE(_::{rank}::GT(n)) RETURN hits, near, n',
  ],
  ['one', 'id: ID', 'p <- V<Passage>(id) RETURN p::{ text }'],
  ['one', 'id: ID', 'p <- V<Passage>(id)::UPDATE({ lang: "de" }) RETURN p'],
  ['one', 'id: ID', 'DROP V<Passage>(id) RETURN NONE'],
  ['one', 'near: [F64]', 'p <- AddV<Passage>(near, { text: "x", lang: "de", rank: 1 }) RETURN p'],
  ['none', 'name: String', 'p <- N<Person>({ name: name }) RETURN p'],
  ['none', 'near: [F64]', 'RETURN SearchV<Other>(near, 5)'],
  // It does not stay with the hit.
  ['hop', '', 'RETURN V<Passage>'],
  ['hop', '', 'p <- V<Passage>::COUNT RETURN p'],
  ['hop', 'near: [F64]', `hits <- ${near}::FIRST RETURN hits`],
  ['hop', 'near: [F64]', `hits <- ${near}::RANGE(0, 2) RETURN hits`],
  ['hop', 'near: [F64]', `hits <- ${near}::ORDER<Asc>(_::{rank}) RETURN hits`],
  ['hop', 'near: [F64]', `hits <- ${near}::COUNT RETURN hits`],
  // Nor does a name that depends on hits, wherever it stands.
  ['hop', 'near: [F64]', `n <- ${near}::COUNT hits <- SearchV<Passage>(near, n) RETURN hits`],
  [
    'hop',
    'near: [F64]',
    `n <- ${near}::COUNT hits <- ${near}::WHERE(_::{rank}::GT(n)) RETURN hits`,
  ],
  [
    'hop',
    'near: [F64]',
    `n <- ${near}::COUNT more <- ADD(n, 1) hits <- ${near} RETURN hits::{ text, n: more }`,
  ],
  ['hop', 'near: [F64]', `hits <- ${near} n <- COUNT(hits) RETURN n`],
  ['hop', 'near: [F64]', `hits <- ${near}::RerankMMR(lambda: 0.5) RETURN hits`],
  ['hop', 'near: [F64]', `hits <- ${near}::RerankRRF RETURN hits`],
  [
    'hop',
    'near: [F64]',
    `hits <- ${near}::RerankRRF::WHERE(_::{rank}::GT(1)) RETURN hits::{ text }`,
  ],
  ['hop', 'near: [F64]', `hits <- ${near} RETURN hits::SearchV<Passage>(near, 2)`],
  ['hop', 'near: [F64]', `hits <- ${near} people <- N<Person> RETURN hits, people`],
  ['hop', 'near: [F64]', `hits <- ${near} others <- SearchV<Other>(near, 5) RETURN hits, others`],
  [
    'hop',
    'near: [F64]',
    `hits <- ${near} RETURN hits::|h|{ text: h::{text}, all: N<Person>::COUNT }`,
  ],
  // It would change more than one shard.
  ['write', '', 'DROP V<Passage> RETURN NONE'],
  ['write', 'near: [F64]', `DROP ${near} RETURN NONE`],
  ['write', 'near: [F64]', `p <- ${near}::UPDATE({ lang: "de" }) RETURN p`],
  ['write', 'a: ID, b: ID', 'DROP V<Passage>(a) DROP V<Passage>(b) RETURN NONE'],
  [
    'write',
    'near: [F64]',
    'a <- AddV<Passage>(near, { text: "x", lang: "de", rank: 1 }) b <- AddV<Passage>(near, { text: "y", lang: "de", rank: 1 }) RETURN a, b',
  ],
  [
    'write',
    'near: [F64], all: [I64]',
    'FOR i IN all { AddV<Passage>(near, { text: "x", lang: "de", rank: i }) } RETURN NONE',
  ],
  [
    'write',
    'near: [F64], name: String',
    'p <- AddN<Person>({ name: name }) v <- AddV<Passage>(near, { text: "x", lang: "de", rank: 1 }) RETURN v',
  ],
];

const codes: Record<string, string> = { hop: 'X_SCATTER_HOP', write: 'X_SCATTER_WRITE' };

describe('K46: a query about a scattered type', () => {
  it.each(cases)('%s: (%s) %s', (verdict, parameters, body) => {
    const { program, diagnostics } = compiled(`QUERY q(${parameters}) => ${body}`);
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ code }) => code)).toEqual(codes[verdict] ? [codes[verdict]] : []);
    if (codes[verdict] !== undefined) {
      // Said of the query, with a way out.
      expect(errors[0]).toMatchObject({ query: 'q', line: 6, hint: expect.any(String) });
      return;
    }
    const [query] = program!.queries;
    expect(query!.scatter?.merge.kind ?? 'none').toBe(verdict);
    expect(shardProgram(program!, 'Passage').queries.length).toBe(verdict === 'none' ? 0 : 1);
  });

  it('no edge leads to one', () => {
    const { diagnostics } = compiled('', 'E::Has { From: Person, To: Passage }');
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'X_SCATTER_HOP', line: 5 },
    ]);
  });

  it('its sources make the same parts on every node of a cluster', () => {
    const text = `${schema}\nQUERY q(near: [F64]) => RETURN ${near}`;
    const archive = { compat: false, sources: [{ path: 'a.hx', text }] };
    const partOf = (more: object) => {
      const { schema, queries } = programOf(packSources({ ...archive, ...more }), defaultLimits);
      const types = [...schema.nodes, ...schema.vectors].map(({ name }) => name);
      return [types, queries.map(({ scatter }) => scatter?.merge.kind)];
    };
    const scattered = ['Passage'];
    expect(partOf({})).toEqual([['Person', 'Passage', 'Other'], [undefined]]);
    expect(partOf({ scattered })).toEqual([['Person', 'Other'], ['all']]);
    expect(partOf({ scattered, shard: 'Passage' })).toEqual([['Passage'], [undefined]]);
  });

  it('the main database has all types but those, a shard has its own alone', () => {
    const { program } = compiled(`QUERY q(near: [F64]) => RETURN ${near}`);
    const main = mainProgram(program!, scattered);
    expect(main.schema.vectors.map(({ name }) => name)).toEqual(['Other']);
    expect(main.schema.nodes.length).toBe(1);
    const shard = shardProgram(program!, 'Passage');
    expect(shard.schema.vectors.map(({ name }) => name)).toEqual(['Passage']);
    expect(shard.schema.nodes).toEqual([]);
  });
});
