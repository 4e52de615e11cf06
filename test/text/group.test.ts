// Documents of requests that share a transaction: whatever is added, changed, removed, searched and
// undone in whatever order, the index is as a recount makes it.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import type { Label, WriteView } from '../../engine/storage/table/view-types.js';
import { checkTextIndex } from '../../engine/text/check.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import { node } from '../storage/support/declare.js';
import { freshFolder } from '../storage/support/garden.js';
import { Random } from '../support/random.js';

const index = createTextIndex(defaultLimits);
const rules = { documentTerms: defaultLimits.document_terms, language: 'english' } as const;
const words = ['wing', 'flow', 'heat', 'shock', 'layer', 'jet', 'drag', 'lift', 'tail', 'nose'];

class Undone extends Error {}

type Documents = Map<number, string[]>;

function textOf(random: Random): string[] {
  const count = random.below(5);
  return [Array.from({ length: count }, () => words[random.below(random.below(10) + 1)]).join(' ')];
}

/** One step of a request; `documents` follow. */
function step(random: Random, view: WriteView, label: Label, documents: Documents): void {
  const kind = random.below(10);
  const ids = [...documents.keys()];
  if (kind < 6 || ids.length === 0) {
    const id = view.createNode(label, new Map());
    const texts = textOf(random);
    index.add(view, label.id, id, texts);
    documents.set(id, texts);
    return;
  }
  const id = random.pick(ids);
  if (kind === 6) {
    const texts = textOf(random);
    index.replace(view, label.id, id, documents.get(id)!, texts);
    documents.set(id, texts);
  } else if (kind === 8) {
    const going = random.some(ids, 0.5).sort((a, b) => a - b);
    const removal = index.removal();
    for (const one of going) {
      removal.add(label.id, one, documents.get(one)!);
      documents.delete(one);
    }
    removal.finish(view, () => undefined);
    for (const one of going) view.remove(one);
  } else if (kind === 7) {
    index.remove(view, label.id, id, documents.get(id)!);
    documents.delete(id);
    view.remove(id);
  } else {
    const holds = (texts: string[]): boolean => texts.join(' ').split(' ').includes('wing');
    const found = index.search(view, label.id, 'wing', 1000).map((hit) => hit.id);
    const expected = [...documents].filter(([, texts]) => holds(texts)).map(([own]) => own);
    expect(found.sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
  }
}

describe('keyword index of a group', () => {
  it('equals a recount, with undone requests in between', () => {
    const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
    const schema = { version: 1, nodes: [node('A'), node('B')], edges: [], vectors: [] };
    storage.applySchema({ schema, olderSchemas: [], migrations: [] }, { nowMs: 0 });
    const labels = ['A', 'B'].map((name) => storage.catalog.find('node', name)!);
    const random = new Random(31);
    let stored: Documents[] = [new Map(), new Map()];
    let undone = 0;
    for (let group = 0; group < 60; group++) {
      storage.commitGroup((transaction) => {
        for (let left = random.below(9) + 1; left > 0; left--) {
          const documents = stored.map((all) => new Map(all));
          try {
            transaction.request(0, (view) => {
              for (let steps = random.below(7); steps > 0; steps--) {
                const at = random.below(2);
                step(random, view, labels[at]!, documents[at]!);
              }
              if (random.chance(0.3)) throw new Undone();
            });
            stored = documents;
          } catch (error) {
            if (!(error instanceof Undone)) throw error;
            undone++;
          }
        }
      });
      for (const [at, label] of labels.entries()) {
        const documents = [...stored[at]!].map(([id, texts]) => ({ id, texts }));
        expect(checkTextIndex(storage.reader(), label.id, documents, rules)).toEqual([]);
      }
    }
    expect(undone).toBeGreaterThan(50);
    storage.close();
  });

  it('equals a recount when many documents of long lists are removed together', () => {
    const random = new Random(32);
    for (const share of [0.001, 0.02, 0.5, 0.95, 1]) {
      const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
      const schema = { version: 1, nodes: [node('A')], edges: [], vectors: [] };
      storage.applySchema({ schema, olderSchemas: [], migrations: [] }, { nowMs: 0 });
      const label = storage.catalog.find('node', 'A')!;
      const documents: Documents = new Map();
      storage.commitGroup((group) =>
        group.request(0, (view) => {
          for (let i = 0; i < 1_500; i++) {
            const id = view.createNode(label, new Map());
            const texts = [`${textOf(random)[0]} own${i}`];
            index.add(view, label.id, id, texts);
            documents.set(id, texts);
          }
        }),
      );
      const isRecount = (): void => {
        const all = [...documents].map(([id, texts]) => ({ id, texts }));
        expect(checkTextIndex(storage.reader(), label.id, all, rules), `${share}`).toEqual([]);
      };
      const drop = (view: WriteView, going: readonly number[]): void => {
        const removal = index.removal();
        for (const id of going) removal.add(label.id, id, documents.get(id)!);
        removal.finish(view, () => undefined);
        view.removeAll(Uint32Array.from(going), () => undefined);
      };
      for (let round = 0; round < 3; round++) {
        const ids = [...documents.keys()];
        const going = share === 1 ? ids : random.some(ids, share).sort((a, b) => a - b);
        storage.commitGroup((group) => {
          const work = (): void =>
            group.request(0, (view) => {
              drop(view, going);
              throw new Undone();
            });
          expect(work).toThrow(Undone);
        });
        isRecount();
        storage.commitGroup((group) => group.request(0, (view) => drop(view, going)));
        for (const id of going) documents.delete(id);
        isRecount();
      }
      storage.close();
    }
  });
});
