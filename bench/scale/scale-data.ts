// Generates rows of any number for `scale`, and writes them as a stream: a graph of people with five edges
// each, documents of Zipf-like words, and vectors around centers. Each size has its own seed, so that a small
// set is no part of a larger one.
import { join } from 'node:path';
import { writeRows } from '../support/import-run.js';
import { randomOf } from '../support/seeded-random.js';
import type { VectorShape } from '../support/vector-data.js';

export const edgesPerNode = 5;

export const source = (dimensions: number): string => `
N::Person { UNIQUE INDEX no: I64, INDEX age: I64, name: String }
N::Document { UNIQUE INDEX no: I64, body: String }
N::Event { note: String }
V::Point { no: I64 }
E::Knows { From: Person, To: Person }
QUERY person(no: I64) => p <- N<Person>({no: no}) RETURN p
QUERY friends(no: I64) => p <- N<Person>({no: no})::Out<Knows> RETURN p::{name}
QUERY ofAge(age: I64) => p <- N<Person>({age: age})::RANGE(0, 20) RETURN p::{name}
QUERY older(age: I64) => p <- N<Person>::WHERE(_::{age}::GT(age))::RANGE(0, 10) RETURN p::{name}
QUERY deep(start: U32, end: U32) => p <- N<Person>::RANGE(start, end) RETURN p::{name}
QUERY words(text: String) => d <- SearchBM25<Document>(text, 10) RETURN d::{no, score}
QUERY near(vec: [F64]) => v <- SearchV<Point>(vec, 10) RETURN v::{no, score}
QUERY add(vec: [F64]) => v <- AddV<Point>(vec, {no: -1}) RETURN v::ID
QUERY write(note: String) => e <- AddN<Event>({note: note}) RETURN e::ID
// ${dimensions} numbers a vector
`;

function* rowsOf(count: number, row: (i: number) => object): Generator<object> {
  for (let i = 0; i < count; i++) yield row(i);
}

/** Paths of the files, nodes first. */
export function writeGraph(folder: string, nodes: number): string[] {
  const random = randomOf(nodes);
  const paths = ['people.ndjson', 'edges.ndjson'].map((name) => join(folder, name));
  const person = (no: number) => ({
    node: 'Person',
    id: `p${no}`,
    properties: { no, age: no % 100, name: `Person ${no}` },
  });
  const edge = (i: number) => ({
    edge: 'Knows',
    from: `p${Math.floor(i / edgesPerNode)}`,
    to: `p${Math.floor(random() * nodes)}`,
  });
  writeRows(paths[0]!, rowsOf(nodes, person));
  writeRows(paths[1]!, rowsOf(nodes * edgesPerNode, edge));
  return paths;
}

/** Few words are common, most are rare. */
export const wordOf = (random: () => number): string =>
  `term${Math.floor(20_000 * random() ** 3).toString(36)}x`;

export function writeDocuments(folder: string, documents: number): string[] {
  const random = randomOf(documents);
  const path = join(folder, 'documents.ndjson');
  const document = (no: number) => ({
    node: 'Document',
    properties: { no, body: Array.from({ length: 20 }, () => wordOf(random)).join(' ') },
  });
  writeRows(path, rowsOf(documents, document));
  return [path];
}

const centreCount = 100;
/** How far a number is from that of its centre: up to half of this, all equally likely. */
const width = 0.6;

/**
 * All sizes have the same centers, so more vectors are denser. Vectors with independent numbers are the
 * hardest to tell apart; embeddings differ in few directions, which depend on the center. Four decimals,
 * because they are printed quickly.
 */
export function vectorOf({
  dimensions,
  intrinsic,
}: VectorShape): (random: () => number) => number[] {
  const seed = randomOf(3);
  const drawn = (): number[] => Array.from({ length: dimensions }, () => seed() - 0.5);
  const centres = Array.from({ length: centreCount }, drawn);
  const directions = centres.map(() => Array.from({ length: intrinsic }, drawn));
  // A number has the same variance in both forms: each direction adds 1/12 of its square.
  const step = width * Math.sqrt(12 / intrinsic);
  return (random) => {
    const of = Math.floor(random() * centreCount);
    const centre = centres[of]!;
    const values =
      intrinsic === 0 ? centre.map((x) => x + (random() - 0.5) * width) : centre.slice();
    for (const direction of directions[of]!) {
      const far = (random() - 0.5) * step;
      for (let d = 0; d < dimensions; d++) values[d]! += far * direction[d]!;
    }
    return values.map((x) => Math.round(x * 1e4) / 1e4);
  };
}
