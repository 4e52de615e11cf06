// Rows that the stored data name but lack: whatever leads to one answers DATA_CORRUPT, never null, an
// empty list or a smaller number. Each case takes one thing away behind the back of the writer.
import { afterAll, describe, expect, it } from 'vitest';
import { instantFromMicros } from '../../engine/base/date.js';
import { TrellisError } from '../../engine/base/errors.js';
import type { Argument } from '../../engine/exec/runtime/execute.js';
import { compile } from '../../engine/lang/compile.js';
import { blockKey, directoryKey, termBytes } from '../../engine/text/text-key.js';
import { LoneEngine } from '../support/server/lone-engine.js';

const source = `
N::Person { INDEX name: String, age: I64 }
E::Knows { From: Person, To: Person, Properties: { since: I64 } }
V::Face { tag: String }

QUERY person(name: String, age: I64) =>
    made <- AddN<Person>({name: name, age: age})
    RETURN made
QUERY knows(a: I64, b: I64) =>
    from <- N<Person>::WHERE(_::{age}::EQ(a))
    to <- N<Person>::WHERE(_::{age}::EQ(b))
    made <- AddE<Knows>({since: 1})::From(from::FIRST)::To(to::FIRST)
    RETURN made
QUERY face(numbers: [F64]) =>
    made <- AddV<Face>(numbers, {tag: "x"})
    RETURN made
QUERY all() =>
    found <- N<Person>
    RETURN found
QUERY older() =>
    found <- N<Person>::WHERE(_::{age}::GT(0))
    RETURN found
QUERY named() =>
    found <- N<Person>({name: "ann"})
    RETURN found
QUERY friends() =>
    found <- N<Person>::Out<Knows>
    RETURN found
QUERY edges() =>
    found <- N<Person>::OutE<Knows>
    RETURN found
QUERY faces(numbers: [F64]) =>
    found <- V<Face>::SearchV<Face>(numbers, 5)
    RETURN found
QUERY words() =>
    found <- SearchBM25<Person>("ann", 1000)
    RETURN found
`;

const { program, diagnostics } = compile([{ path: 'a.hx', text: source }], { compat: false });
expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
const engine = new LoneEngine(program!, instantFromMicros(0));
afterAll(() => engine.close());

const call = (name: string, ...args: Argument[]) => {
  const { plan } = program!.queries.find((query) => query.name === name)!;
  return { plan, args };
};
const write = (name: string, ...args: Argument[]): void => {
  const [result] = engine.write([call(name, ...args)]);
  if ('error' in result!) throw result.error;
};
const numbers = [1, 0.5];

for (let age = 1; age <= 400; age++) write('person', age < 300 ? 'ann' : 'bob', age);
for (let far = 2; far <= 200; far++) write('knows', 1, far);
for (let i = 0; i < 3; i++) write('face', numbers);

const { storage } = engine;
const { env, catalog } = storage;
const label = (name: string) => catalog.labels().find((each) => each.name === name)!.id;
const idsOf = (name: string) => [...storage.reader().scan(label(name))].flatMap((ids) => [...ids]);
const [person, edge, face] = ['Person', 'Knows', 'Face'].map(
  (name) => idsOf(name)[50 % idsOf(name).length]!,
);
const hub = idsOf('Person')[0]!;
const term = termBytes('ann');
const firstBlock = (): Uint8Array => {
  const [start, end] = [
    blockKey(label('Person'), term, 0),
    blockKey(label('Person'), term, 2 ** 32 - 1),
  ];
  return env.derived.keys({ start, end, limit: 1 })[0]!;
};

const cases: [what: string, take: () => boolean, queries: ReturnType<typeof call>[]][] = [
  [
    'a node',
    () => env.records.remove(person!),
    ['all', 'older', 'named', 'friends'].map((name) => call(name)),
  ],
  ['an edge', () => env.records.remove(edge!), [call('edges')]],
  ['a vector', () => env.records.remove(face!), [call('faces', numbers)]],
  ['an embedding', () => env.vectors.remove(face!), [call('faces', numbers)]],
  [
    'a chunk of edges',
    () => env.out.remove({ id: hub, label: label('Knows'), chunk: 1 }),
    [call('friends'), call('edges')],
  ],
  [
    'a list of elements',
    () => env.labels.remove({ label: label('Person'), block: 0 }),
    [call('all'), call('older')],
  ],
  ['a block of postings', () => env.derived.remove(firstBlock()), [call('words')]],
  [
    'the directory of a term',
    () => env.derived.remove(directoryKey(label('Person'), term)),
    [call('words')],
  ],
];

describe('stored data that lack', () => {
  it.each(cases)('%s say so', (_, take, queries) => {
    for (const each of queries) expect(() => engine.read(each)).not.toThrow();
    env.transact(() => {
      expect(take()).toBe(true);
      for (const each of queries) {
        let failure: unknown;
        try {
          engine.read(each);
        } catch (error) {
          failure = error;
        }
        expect(failure).toBeInstanceOf(TrellisError);
        expect((failure as TrellisError).code).toBe('DATA_CORRUPT');
      }
      return false;
    });
  });
});
