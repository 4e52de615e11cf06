// Which queries can be asked of the shards of a scattered vector type, and what is said of all others
// (cluster.md 11.2, K46).
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import {
  checkVectors,
  packSources,
  programOf,
} from '../../engine/database/replication/source-archive.js';
import { compile } from '../../engine/lang/compile.js';
import { mainProgram, shardProgram } from '../../engine/plan/scatter-program.js';

const schema = `
  N::Person { UNIQUE INDEX name: String }
  V::Passage { text: String, INDEX lang: String, rank: I64 }
  V::Other { text: String }
`;
const dated = 'V::Passage { text: String, made: Date }';
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

  it('its type has no unique values: no shard knows those of the others', () => {
    const passage = 'V::Passage { text: String, INDEX lang: String, rank: I64 }';
    const slug = 'V::Passage { UNIQUE INDEX slug: String }';
    const codes = (text: string, more = {}) => {
      const options = { compat: false, scattered, ...more };
      const { diagnostics } = compile([{ path: 'a.hx', text }], options);
      return diagnostics.flatMap((d) => (d.severity === 'error' ? [`${d.code} ${d.line}`] : []));
    };
    expect(codes(schema.replace(passage, slug))).toEqual(['X_SCATTER_WRITE 3']);
    // Of other types, and of older versions, which the data leave.
    expect(codes(schema.replace(passage, slug), { scattered: new Set(['Other']) })).toEqual([]);
    const migration = 'MIGRATION schema::1 => schema::2 { V::Passage => _:: {} }';
    const versions = (one: string, two: string) =>
      codes(`schema::1 { ${one} }\nschema::2 { ${two} }\n${migration}`);
    expect(versions(slug, slug.replace('UNIQUE ', ''))).toEqual([]);
    expect(versions(slug.replace('UNIQUE ', ''), slug)).toEqual(['X_SCATTER_WRITE 2']);
  });

  it('has one NOW on all shards, as it has in one database', () => {
    const forms: [parameters: string, body: string][] = [
      ['near: [F64]', `RETURN ${near}::{ text, at: NOW }`],
      ['near: [F64]', `at <- NOW hits <- ${near} RETURN hits::{ text, at: at }, at`],
      ['near: [F64]', `RETURN ${near}::WHERE(_::{made}::LT(NOW))::{ text }`],
      ['near: [F64]', `RETURN ${near}::PREFILTER(_::{made}::LT(NOW))::{ text }`],
      ['near: [F64], at: Date = NOW', `RETURN ${near}::WHERE(_::{made}::LT(at))::{ text }, at`],
      ['words: String', `RETURN SearchV<Passage>(Embed(words), 5)::{ text, at: NOW }`],
      [
        'words: String',
        `v <- Embed(words) at <- NOW RETURN SearchV<Passage>(v, 5)::{ text }, at, v`,
      ],
    ];
    for (const [parameters, body] of forms) {
      const text = `${dated}\nQUERY q(${parameters}) => ${body}`;
      const { program, diagnostics } = compile([{ path: 'a.hx', text }], {
        compat: false,
        scattered,
      });
      expect([body, diagnostics.filter(({ severity }) => severity === 'error')]).toEqual([
        body,
        [],
      ]);
      const { plan, merge } = program!.queries[0]!.scatter!;
      const { statements, output, parameters: all } = plan;
      expect([body, JSON.stringify([statements, output]).includes('"now"')]).toEqual([body, false]);
      expect(merge).toMatchObject({ kind: 'all', moment: 'moment of the call' });
      expect(all.filter(({ name }) => name === 'moment of the call').length).toBe(1);
    }
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

  it('its dimension may be set where a cluster was founded before it had to be', () => {
    const vectors = (types: object) => ({ default: { metric: 'cosine' }, types }) as never;
    const archive = { compat: false, scattered: ['Passage'], sources: [] };
    const check = (there: object, here: object) => () =>
      checkVectors(packSources(archive, vectors(there)), vectors(here));
    expect(check({}, { Passage: { dimensions: 4 } })).not.toThrow();
    expect(check({}, { Other: { dimensions: 4 } })).toThrow(/not set in the cluster/);
    expect(check({}, { Passage: { store: 'f32' } })).toThrow(/not set in the cluster/);
    expect(check({ Passage: { dimensions: 4 } }, {})).toThrow(/not set here/);
    const [four, eight] = [{ Passage: { dimensions: 4 } }, { Passage: { dimensions: 8 } }];
    expect(check(four, eight)).toThrow(/is 8 here and 4/);
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
