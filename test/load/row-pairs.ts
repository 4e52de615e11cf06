// Rows of a bulk load beside the single calls that say the same, good and bad ones: what one way
// accepts the other must accept, and refuse alike.

export const source = `
N::Person { UNIQUE INDEX name: String, INDEX age: U8, bio: String, big: I64, tags: [String],
  born: Date, points: F32 DEFAULT 0.1, city: String DEFAULT "Bern", active: Boolean }
N::Place { title: String }
V::Passage { text: String }
E::Knows { From: Person, To: Person, Properties: { since: I64, note: String } }
E::Lives UNIQUE { From: Person, To: Place, Properties: {} }
E::Wrote { From: Person, To: Passage, Properties: {} }
QUERY person(name: String, age?: U8, bio?: String, big?: I64, tags?: [String], born?: Date,
    points?: F32, active?: Boolean) =>
  p <- AddN<Person>({ name, age, bio, big, tags, born, points, active })
  RETURN p::ID
QUERY place(title: String) => p <- AddN<Place>({ title }) RETURN p::ID
QUERY passage(vec: [F64], text: String) => v <- AddV<Passage>(vec, { text }) RETURN v::ID
QUERY embedded(text: String) => v <- AddV<Passage>(Embed(text), { text }) RETURN v::ID
QUERY knows(a: ID, b: ID, since?: I64, note?: String) =>
  e <- AddE<Knows>({ since, note })::From(a)::To(b) RETURN e::ID
QUERY lives(a: ID, b: ID) => e <- AddE<Lives>::From(a)::To(b) RETURN e::ID
QUERY wrote(a: ID, b: ID) => e <- AddE<Wrote>::From(a)::To(b) RETURN e::ID
QUERY near(vec: [F64]) => v <- SearchV<Passage>(vec, 3) RETURN v::{text}
QUERY find(words: String) => p <- SearchBM25<Person>(words, 5) RETURN p::{name}
QUERY people() => p <- N<Person> RETURN p::COUNT
QUERY drop(name: String) => DROP N<Person>({ name: name }) RETURN "ok"
`;

/** A row, and the single call that says the same. */
export interface Twin {
  row: Record<string, unknown>;
  query: string;
  body: Record<string, unknown>;
}

const person = (id: string, properties: Record<string, unknown>): Twin => ({
  row: { node: 'Person', id, properties },
  query: 'person',
  body: properties,
});

const edge = (
  label: string,
  from: string,
  to: string,
  properties: Record<string, unknown> = {},
): Twin => ({
  row: { edge: label, from, to, properties },
  query: label.toLowerCase(),
  body: { a: from, b: to, ...properties },
});

export function twins(): Twin[] {
  const list: Twin[] = [];
  for (let i = 0; i < 150; i++) {
    list.push(
      person(`p${i}`, {
        name: `Person ${i}`,
        age: i % 90,
        bio: `likes topic${i % 7} and topic${i % 11} — "ünïcode\\n"`,
        tags: i % 3 === 0 ? ['red', `tag${i}`] : undefined,
        big: i % 2 === 0 ? '9007199254740993' : -i,
        born: i % 5 === 0 ? '2001-02-03' : 1_000_000 + i,
        points: i % 4 === 0 ? 0.3 : undefined,
        active: i % 2 === 0,
      }),
    );
  }
  list.push(person('twice', { name: 'Person 7' }), person('old', { name: 'Old', age: 300 }));
  for (let i = 0; i < 20; i++) {
    list.push({
      row: { node: 'Place', id: `c${i}`, properties: { title: `City ${i}` } },
      query: 'place',
      body: { title: `City ${i}` },
    });
    const text = `a passage about topic${i}`;
    const values = [i, 1, -0.5];
    list.push({
      row: { vector: 'Passage', id: `v${i}`, values, properties: { text } },
      query: 'passage',
      body: { vec: values, text },
    });
  }
  list.push({
    row: { vector: 'Passage', id: 'long', values: [1, 2], properties: { text: 'x' } },
    query: 'passage',
    body: { vec: [1, 2], text: 'x' },
  });
  for (let i = 0; i < 600; i++) {
    list.push(
      edge('Knows', `p${(i * 7) % 150}`, `p${(i * i) % 40}`, { since: i, note: `note ${i % 3}` }),
    );
  }
  list.push(edge('Knows', 'p1', 'twice'), edge('Knows', 'p1', 'c1'));
  list.push(edge('Lives', 'p1', 'c1'), edge('Lives', 'p1', 'c1'), edge('Lives', 'p1', 'c2'));
  for (let i = 0; i < 20; i++) list.push(edge('Wrote', `p${i}`, `v${i}`));
  return list;
}
