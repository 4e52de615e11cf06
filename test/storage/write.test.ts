// Requests one by one: what they refuse, what they undo, what they leave.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { armFailpoint } from '../../engine/base/failpoint.js';
import { parseUuid, printUuid } from '../../engine/base/id.js';
import { check } from '../../engine/storage/check/check.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import {
  decodeProperty,
  fromOf,
  labelOf,
  toOf,
  uuidAt,
} from '../../engine/storage/record/record.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { garden } from './support/declare.js';
import { freshFolder, labelNamed, openGarden, values, write } from './support/garden.js';

const storage = openGarden(freshFolder(), {
  txn_writes: 3000,
  txn_bytes: 1_000_000,
  value_bytes: 5000,
});
afterAll(() => storage.close());
const gardener = labelNamed(storage, 'Gardener');
const plant = labelNamed(storage, 'Plant');
const grows = labelNamed(storage, 'Grows');
const follows = labelNamed(storage, 'Follows');
const note = labelNamed(storage, 'Note');

const email = gardener.properties[0]!;
const code = (code: string, args?: object) =>
  expect.objectContaining({ data: expect.objectContaining({ code, ...(args && { args }) }) });

describe('a request', () => {
  it('assigns ascending ids and uuids, and sees its own writes', () => {
    const ids = write(storage, (view) => {
      const a = view.createNode(gardener, values({ email: 'one@x', city: 'Lund' }));
      const b = view.createNode(gardener, values({}));
      const edge = view.createEdge(follows, a, b, values({}));
      expect([...view.adjacency(a, follows.id, 'out')]).toEqual([edge, b]);
      expect([...view.lookup(email, 'one@x')]).toEqual([a]);
      expect(view.count(gardener.id)).toBe(2);
      const record = view.record(edge)!;
      expect([fromOf(record), toOf(record)]).toEqual([a, b]);
      expect(printUuid(record, uuidAt.from)).toBe(printUuid(view.record(a)!, uuidAt.own));
      return [a, b, edge];
    });
    const view = storage.reader();
    const uuids = ids.map((id) => printUuid(view.record(id)!, uuidAt.own));
    expect([...uuids].sort()).toEqual(uuids);
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
    expect(uuids.map((uuid) => view.idOf(parseUuid(uuid)!))).toEqual(ids);
    expect(view.idOf(new Uint8Array(16))).toBe(0);
    expect(view.record(999_999)).toBeUndefined();
  });

  it('that throws changes nothing, and the others of its group are committed', () => {
    const before = storage.reader().count(plant.id);
    const failing = (view: WriteView) => {
      const id = view.createNode(plant, values({ species: 'rose' }));
      view.createVector(note, Float64Array.of(1, 2), values({ text: 'x' }));
      view.putDerived(Uint8Array.of(1), Uint8Array.of(2));
      expect([...view.lookup(labelNamed(storage, 'Plant').properties[0]!, 'rose')]).toEqual([id]);
      throw new RangeError('on purpose');
    };
    const changes = storage.commitGroup((group) => {
      group.request(0, (view) => view.createNode(plant, values({ species: 'lily' })));
      expect(() => group.request(0, failing)).toThrow('on purpose');
      group.request(0, (view) => view.createNode(plant, values({ species: 'lily' })));
    });
    expect(changes).toEqual([]);
    const view = storage.reader();
    expect(view.count(plant.id)).toBe(before + 2);
    expect(view.lookup(labelNamed(storage, 'Plant').properties[0]!, 'rose').length).toBe(0);
    expect(view.getDerived(Uint8Array.of(1))).toBeUndefined();
    expect(view.dimension(note.id)).toBe(0);
    expect(check(storage.env)).toEqual([]);
  });

  it('that fails alone in its group commits nothing', () => {
    const before = storage.committedSeq();
    expect(() =>
      write(storage, () => {
        throw new RangeError('no');
      }),
    ).toThrow('no');
    expect(storage.committedSeq()).toBe(before);
  });

  it.each([
    [
      'writes',
      (view: WriteView) => {
        for (;;) view.createNode(plant, values({}));
      },
    ],
    [
      'bytes',
      (view: WriteView) => {
        for (;;) view.createNode(plant, values({ species: 'x'.repeat(1000) }));
      },
    ],
  ])('is bounded in %s', (unit, work) => {
    const before = storage.reader().count(plant.id);
    expect(() => write(storage, work)).toThrowError(
      expect.objectContaining({
        data: expect.objectContaining({
          code: 'TXN_TOO_LARGE',
          args: expect.objectContaining({ unit }),
        }),
      }),
    );
    expect(storage.reader().count(plant.id)).toBe(before);
    expect(check(storage.env)).toEqual([]);
  });
});

describe('unique values', () => {
  it('are refused before anything is put', () => {
    expect(() =>
      write(storage, (view) => view.createNode(gardener, values({ email: 'one@x' }))),
    ).toThrowError(
      code('UNIQUE_VIOLATION', { type: 'Gardener', property: 'email', value: '"one@x"' }),
    );
  });

  it('may be exchanged in one update, but not left twice', () => {
    const [a, b] = write(storage, (view) =>
      ['p@x', 'q@x'].map((text) =>
        view.createNode(gardener, values({ email: text, city: 'Rome' })),
      ),
    );
    const exchange = [
      { id: a!, values: values({ email: 'q@x' }) },
      { id: b!, values: values({ email: 'p@x' }) },
    ];
    write(storage, (view) => view.update(exchange));
    expect([...storage.reader().lookup(email, 'q@x')]).toEqual([a]);
    expect(() =>
      write(storage, (view) =>
        view.update(exchange.map(({ id }) => ({ id, values: values({ email: 'r@x' }) }))),
      ),
    ).toThrowError(code('UNIQUE_VIOLATION'));
    const view = storage.reader();
    expect(decodeProperty(view.record(b!)!, email)).toBe('p@x');
    expect(view.lookup(email, 'r@x').length).toBe(0);
    expect(check(storage.env)).toEqual([]);
  });

  it('are free again when the element is removed', () => {
    const [a] = storage.reader().lookup(email, 'q@x');
    write(storage, (view) => {
      view.remove(a!);
      view.createNode(gardener, values({ email: 'q@x' }));
    });
    expect([...storage.reader().lookup(email, 'q@x')]).not.toEqual([a]);
  });

  it('hold for pairs of a UNIQUE edge type', () => {
    const [a, b] = write(storage, (view) => [
      view.createNode(gardener, values({})),
      view.createNode(gardener, values({})),
    ]);
    write(storage, (view) => view.createEdge(follows, a!, b!, values({})));
    write(storage, (view) => view.createEdge(follows, b!, a!, values({})));
    expect(() =>
      write(storage, (view) => view.createEdge(follows, a!, b!, values({}))),
    ).toThrowError(code('UNIQUE_VIOLATION', { type: 'Follows', property: 'From, To' }));
  });
});

describe('ends of edges', () => {
  it('equal the records, by id or uuid, while the elements exist', () => {
    const made = write(storage, (view) =>
      Array.from({ length: 200 }, (_, i) =>
        view.createNode(i % 3 === 0 ? gardener : plant, values({})),
      ),
    );
    const step = fc.tuple(fc.constantFrom('name', 'ask', 'ask', 'ask', 'make', 'remove'), fc.nat());
    const undo = new Error('undone');
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 300 }), (steps) => {
        const run = (view: WriteView) => {
          const ids = [...made];
          const gone = new Set<number>();
          const uuids = new Map(
            ids.map((id) => [id, view.record(id)!.slice(uuidAt.own, uuidAt.own + 16)]),
          );
          for (const [what, n] of steps) {
            const id = ids[n % ids.length]!;
            if (what === 'make') {
              const own = view.createNode(plant, values({}));
              uuids.set(own, view.record(own)!.slice(uuidAt.own, uuidAt.own + 16));
              ids.push(own);
            } else if (what === 'remove' && !gone.has(id) && n % 4 === 0) {
              view.remove(id);
              gone.add(id);
            } else {
              const named = { uuid: uuids.get(id)!, label: n % 2 === 0 ? gardener.id : plant.id };
              const end = what === 'name' ? view.endOf(id) : view.endOf(id, named);
              const record = view.record(id);
              const expected = record && { label: labelOf(record), uuid: uuids.get(id) };
              expect(end).toEqual(expected);
            }
          }
          throw undo;
        };
        expect(() => write(storage, run)).toThrow(undo);
      }),
      { numRuns: 30 },
    );
  });
});

describe('sizes', () => {
  it('of indexed values are bounded by bytes of text', () => {
    const make = (text: string) => () =>
      write(storage, (view) => view.createNode(gardener, values({ email: text })));
    expect(make('x'.repeat(1900))).not.toThrow();
    expect(make('é'.repeat(951))).toThrowError(
      code('INDEX_KEY_TOO_LONG', { property: 'email', max: 1900, size: 1902 }),
    );
  });

  it('of values are bounded', () => {
    const make = () =>
      write(storage, (view) =>
        view.createVector(note, Float64Array.of(1), values({ text: 'x'.repeat(5001) })),
      );
    expect(make).toThrowError(code('VALUE_TOO_LARGE', { param: 'text', size: 5001, max: 5000 }));
  });
});

describe('vectors', () => {
  it('fix the dimension with the first one, and are kept exactly', () => {
    const given = Float64Array.of(0.1, 1 / 3, -0, 5e-324);
    const id = write(storage, (view) => view.createVector(note, given, values({ text: 'a' })));
    expect(() =>
      write(storage, (view) => view.createVector(note, Float64Array.of(1), values({}))),
    ).toThrowError(code('VECTOR_DIMENSION', { type: 'Note', expected: 4, got: 1 }));
    const view = storage.reader();
    expect(view.vector(id)).toEqual(given);
    expect(view.dimension(note.id)).toBe(4);
    write(storage, (writing) => writing.replaceVector(id, Float64Array.of(1, 2, 3, 4)));
    expect([...storage.replay(storage.committedSeq() - 1)]).toEqual([
      {
        seq: storage.committedSeq(),
        change: { kind: 'put', label: note.id, id, vector: Float64Array.of(1, 2, 3, 4) },
      },
    ]);
  });

  it('are rounded to 32 bits before any read, if the type stores f32', () => {
    const path = freshFolder();
    openGarden(path).close();
    const vectorTypes = { Note: { store: 'f32', dimensions: 2 } } as const;
    const rounding = openStorage(path, { limits: defaultLimits, mode: 'attach', vectorTypes });
    const label = labelNamed(rounding, 'Note');
    const rounded = Float64Array.of(Math.fround(0.1), 2);
    const changes = rounding.commitGroup((group) => {
      group.request(0, (view) => view.createVector(label, Float64Array.of(0.1, 2), values({})));
      expect(() =>
        group.request(0, (view) => view.createVector(label, Float64Array.of(1), values({}))),
      ).toThrow();
    });
    expect(changes).toMatchObject([{ kind: 'put', vector: rounded }]);
    expect(rounding.reader().vector(1)).toEqual(rounded);
    expect(rounding.reader().vectorShared(1)).toEqual(rounded);
    expect(check(rounding.env)).toEqual([]);
    rounding.close();
  });

  it('can be trimmed from the log', () => {
    const last = storage.committedSeq();
    storage.trimLog(last - 1);
    expect(storage.oldestLoggedSeq()).toBe(last);
    expect([...storage.replay(0)].map(({ seq }) => seq)).toEqual([last]);
    storage.trimLog(last + 100);
    expect(storage.oldestLoggedSeq()).toBe(last + 1);
    expect(storage.committedSeq()).toBe(last);
    expect(check(storage.env)).toEqual([]);
  });
});

describe('derived data', () => {
  it('is scanned in order, in many batches, and may be changed meanwhile', () => {
    const key = (n: number) => Uint8Array.of(9, n >>> 8, n & 255);
    write(storage, (view) => {
      for (let n = 0; n < 300; n++) view.putDerived(key(n), Uint8Array.of(n & 255));
      view.deleteDerived(key(7));
      for (const { key: found } of view.scanDerived(key(250), key(400))) view.deleteDerived(found);
    });
    const entries = [...storage.reader().scanDerived(key(0), Uint8Array.of(10))];
    expect(entries.map(({ key }) => key[1]! * 256 + key[2]!)).toEqual(
      Array.from({ length: 250 }, (_, n) => n).filter((n) => n !== 7),
    );
    expect(entries.every(({ key, value }) => value.length === 1 && value[0] === key[2])).toBe(true);
  });
});

describe('a group', () => {
  it.each(['W5', 'W6', 'beforeSyncDataPages'])(
    'that fails at %s commits nothing (of that request)',
    (point) => {
      const before = storage.reader().count(plant.id);
      armFailpoint(`${point}@1:throw`);
      const group = () => write(storage, (view) => view.createNode(plant, values({})));
      expect(group).toThrow(point);
      armFailpoint(undefined);
      expect(storage.reader().count(plant.id)).toBe(before);
      group();
      expect(storage.reader().count(plant.id)).toBe(before + 1);
      expect(check(storage.env)).toEqual([]);
    },
  );

  it('that fails at W9 is committed', () => {
    const before = storage.reader().count(plant.id);
    armFailpoint('W9@1:throw');
    expect(() => write(storage, (view) => view.createNode(plant, values({})))).toThrow('W9');
    expect(storage.reader().count(plant.id)).toBe(before + 1);
    expect(check(storage.env)).toEqual([]);
  });

  it('removes a hub with all its edges', () => {
    const hub = write(storage, (view) => view.createNode(gardener, values({})));
    for (let i = 0; i < 3; i++) {
      write(storage, (view) => {
        for (let j = 0; j < 100; j++)
          view.createEdge(grows, hub, view.createNode(plant, values({})), values({ rating: 1 }));
      });
    }
    write(storage, (view) => view.createEdge(follows, hub, hub, values({})));
    expect(storage.reader().degree(hub, grows.id, 'out')).toBe(300);
    for (let i = 0; i < 2; i++) {
      write(storage, (view) => {
        for (const edge of view.incident(hub).slice(0, 151)) view.remove(edge);
      });
    }
    write(storage, (view) => view.remove(hub));
    expect(storage.reader().record(hub)).toBeUndefined();
    expect(check(storage.env)).toEqual([]);
  });
});

describe('reopening', () => {
  it('continues with ascending ids and uuids', () => {
    const path = freshFolder();
    const first = openGarden(path);
    const a = write(first, (view) => view.createNode(labelNamed(first, 'Plant'), values({})), 2e12);
    const uuid = printUuid(first.reader().record(a)!, uuidAt.own);
    first.close();
    const second = openGarden(path, {}, garden);
    // The clock went back meanwhile.
    const b = write(
      second,
      (view) => view.createNode(labelNamed(second, 'Plant'), values({})),
      1e12,
    );
    expect(b).toBe(a + 1);
    expect(printUuid(second.reader().record(b)!, uuidAt.own) > uuid).toBe(true);
    second.close();
  });
});
