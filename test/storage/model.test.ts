// Random groups of requests, some failing half-way, against a plain model, with reopens; `check` is
// clean after each group.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { check } from '../../engine/storage/check/check.js';
import { labelOf } from '../../engine/storage/record/record.js';
import type { Storage } from '../../engine/storage/open-storage.js';
import type { VectorChange, WriteView } from '../../engine/storage/table/view-types.js';
import { freshFolder, labelNamed, openGarden } from './support/garden.js';
import { Model, expectEqual } from './support/model.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const numRuns = long ? 500 : 8;

/** Small ranges, so that unique values collide and elements are met again. */
const pick = fc.nat(1000);
const city = fc.constantFrom('Lund', 'Oslo', 'Rome');
const email = fc.constantFrom('a@x', 'b@x', 'c@x', 'd@x', 'e@x', 'f@x');
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('gardener' as const), email: fc.option(email), city }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('plant' as const),
      height: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('grows' as const),
      from: pick,
      to: pick,
      rating: fc.option(fc.nat(3)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('follows' as const), from: pick, to: pick }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('note' as const),
      x: fc.float({ noNaN: true, noDefaultInfinity: true }),
      text: fc.string(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), at: pick, x: fc.nat(9) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      at: pick,
      count: fc.nat(2),
      email: fc.option(email),
      city,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('drop' as const), at: pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      at: pick,
      what: fc.constantFrom('record', 'uuid', 'list', 'edges', 'degree'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

class Deliberate extends Error {}

/** Applies one operation to both sides; throws when the store refuses it. */
function apply(op: Operation, view: WriteView, storage: Storage, model: Model): void {
  const label = (name: string) => labelNamed(storage, name);
  const some = (name: string, at: number) => {
    const ids = model.ids(name);
    return ids.length === 0 ? undefined : ids[at % ids.length]!;
  };
  const map = (object: Record<string, string | number | null>) =>
    new Map(
      Object.entries(object).filter(
        (entry): entry is [string, string | number] => entry[1] !== null,
      ),
    );
  switch (op.kind) {
    case 'gardener': {
      const values = map({ email: op.email, city: op.city });
      model.elements.set(view.createNode(label('Gardener'), values), { label: 'Gardener', values });
      break;
    }
    case 'plant': {
      const values = map({ height: op.height });
      model.elements.set(view.createNode(label('Plant'), values), { label: 'Plant', values });
      break;
    }
    case 'grows':
    case 'follows': {
      const name = op.kind === 'grows' ? 'Grows' : 'Follows';
      const from = some('Gardener', op.from);
      const to = some(op.kind === 'grows' ? 'Plant' : 'Gardener', op.to);
      if (from === undefined || to === undefined) return;
      const values = op.kind === 'grows' ? map({ rating: op.rating }) : map({});
      model.elements.set(view.createEdge(label(name), from, to, values), {
        label: name,
        values,
        from,
        to,
      });
      break;
    }
    case 'note': {
      const vector = Float64Array.of(op.x, 1 / 3);
      const values = map({ text: op.text });
      model.elements.set(view.createVector(label('Note'), vector, values), {
        label: 'Note',
        values,
        vector,
      });
      break;
    }
    case 'replace': {
      const id = some('Note', op.at);
      if (id === undefined) return;
      view.replaceVector(id, Float64Array.of(op.x, -op.x));
      model.elements.get(id)!.vector = Float64Array.of(op.x, -op.x);
      break;
    }
    case 'update': {
      const ids = model
        .ids('Gardener')
        .slice(op.at % 5)
        .slice(0, op.count);
      const values = map({ email: op.email, city: op.city });
      view.update(ids.map((id) => ({ id, values })));
      for (const id of ids) model.elements.get(id)!.values = values;
      break;
    }
    case 'drop': {
      const ids = [...model.elements.keys()];
      if (ids.length === 0) return;
      const id = ids[op.at % ids.length]!;
      const edges = [...new Set(model.edgesOf(id))].sort((a, b) => a - b);
      if (model.elements.get(id)!.from === undefined) expect([...view.incident(id)]).toEqual(edges);
      for (const gone of [...edges, id]) {
        view.remove(gone);
        model.elements.delete(gone);
      }
      break;
    }
    case 'look':
      look(op.what, op.at, view, storage, model);
      break;
    case 'fail':
      throw new Deliberate();
  }
}

/** A request sees what it has made itself, whichever part of it is read first. */
function look(what: string, at: number, view: WriteView, storage: Storage, model: Model): void {
  const labels = storage.catalog.labels();
  const label = labels[at % labels.length]!;
  const all = model.ids(label.name);
  if (what === 'list') {
    expect([...view.scan(label.id)].flatMap((ids) => [...ids])).toEqual(all);
    expect(view.count(label.id)).toBe(all.length);
    return;
  }
  if (all.length === 0) return;
  const id = all[at % all.length]!;
  const record = view.record(id)!;
  if (what === 'record') expect(labelOf(view.recordShared(id)!)).toBe(label.id);
  else if (what === 'uuid') expect(view.idOf(record.slice(8, 24))).toBe(id);
  else if (label.kind === 'node') {
    for (const edge of storage.catalog.labels().filter(({ kind }) => kind === 'edge')) {
      const own = model.ids(edge.name).filter((each) => model.elements.get(each)!.from === id);
      const pairs = own.flatMap((each) => [each, model.elements.get(each)!.to!]);
      if (what === 'degree') expect(view.degree(id, edge.id, 'out')).toBe(own.length);
      else expect([...view.adjacency(id, edge.id, 'out')]).toEqual(pairs);
    }
  }
}

/** One commit; the model keeps what the requests that went through did. */
function commit(storage: Storage, group: Operation[][], before: Model): Model {
  let model = before;
  const expected: VectorChange[] = [];
  const firstSeq = storage.committedSeq() + 1;
  const changes = storage.commitGroup((transaction) => {
    for (const [i, operations] of group.entries()) {
      const attempt = model.copy();
      try {
        const pending = transaction.request(1000 * i, (view) => {
          for (const op of operations) apply(op, view, storage, attempt);
          return [...view.pending];
        });
        expected.push(...pending);
        model = attempt;
      } catch (error) {
        if (!(error instanceof TrellisError || error instanceof Deliberate)) throw error;
      }
    }
  });
  expect(changes).toEqual(expected);
  expect(storage.committedSeq()).toBe(firstSeq + changes.length - 1);
  return model;
}

describe('random writes', () => {
  it(
    'equal a plain model, and every invariant holds',
    async () => {
      const group = fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), {
        minLength: 1,
        maxLength: 5,
      });
      const history = fc.array(fc.record({ group, reopen: fc.boolean() }), {
        minLength: 1,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(history, async (steps) => {
          const path = freshFolder();
          let storage = openGarden(path);
          let model = new Model();
          try {
            for (const { group, reopen } of steps) {
              model = commit(storage, group, model);
              if (reopen) {
                storage.close();
                storage = openGarden(path);
              }
              expectEqual(storage.reader(), storage.catalog, model);
              expect(check(storage.env)).toEqual([]);
            }
            expectReplay(storage, model);
          } finally {
            storage.close();
          }
          // The test runner wants to hear from a long run now and then.
          await new Promise((resolve) => setImmediate(resolve));
        }),
        { numRuns },
      );
    },
    long ? 3_600_000 : 60_000,
  );
});

/** Replaying the whole log gives exactly the live embeddings. */
function expectReplay(storage: Storage, model: Model): void {
  const live = new Map<number, Float64Array>();
  for (const { change } of storage.replay(0)) {
    if (change.kind === 'put') live.set(change.id, change.vector);
    else live.delete(change.id);
  }
  const expected = model
    .ids('Note')
    .map((id): [number, Float64Array] => [id, model.elements.get(id)!.vector!]);
  expect(new Map([...live].sort(([a], [b]) => a - b))).toEqual(
    new Map(expected.sort(([a], [b]) => a - b)),
  );
}
