// Damage that may happen to files, and a store with something of everything to do it to.
import type { Storage } from '../../../engine/storage/open-storage.js';
import { labelNamed, values, write } from './garden.js';

export const pageSize = 4096;

/** Fills a store in many commits, so that its pages are of many transactions. */
export function fill(storage: Storage, from: number, to: number): void {
  const [gardener, plant, grows, note] = ['Gardener', 'Plant', 'Grows', 'Note'].map((name) =>
    labelNamed(storage, name),
  );
  const owners: number[] = [];
  for (let i = from; i < to; i++) {
    write(storage, (view) => {
      const text = 'x'.repeat(i % 15 === 0 ? 5000 : 20);
      owners.push(view.createNode(gardener!, values({ email: `${i}@${text}`.slice(0, 60) })));
      for (let k = 0; k < 6; k++) {
        const fields = values({ species: `s${(i * k) % 40}`, ...(k === 0 && { tags: [text] }) });
        const id = view.createNode(plant!, fields);
        view.createEdge(
          grows!,
          owners[k % 2 === 0 ? 0 : owners.length - 1]!,
          id,
          values({ rating: k }),
        );
      }
      view.createVector(note!, Float64Array.of(i, Math.sin(i)), values({ lang: 'en' }));
    });
  }
}

/** Changes bytes; `pick` gives a number below the one it is given. */
export type Spoil = (bytes: Buffer, pick: (below: number) => number) => void;
export const pageOf = (bytes: Buffer, pick: (below: number) => number): number =>
  pick(Math.floor(bytes.length / pageSize)) * pageSize;

/** What may happen to any file. */
export const anywhere: Record<string, Spoil> = {
  'a flipped bit': (bytes, pick) => {
    bytes[pick(bytes.length)]! ^= 1 << pick(8);
  },
  'a zeroed sector': (bytes, pick) => {
    const at = pick(Math.ceil(bytes.length / 512)) * 512;
    bytes.fill(0, at, Math.min(at + 512, bytes.length));
  },
};

/** What happens to pages. */
export const ofPages: Record<string, Spoil> = {
  ...anywhere,
  'a zeroed page': (bytes, pick) => {
    const at = pageOf(bytes, pick);
    bytes.fill(0, at, at + pageSize);
  },
  'a page of noise': (bytes, pick) => {
    const at = pageOf(bytes, pick);
    for (let i = at; i < at + pageSize; i++) bytes[i] = pick(256);
  },
  'two swapped pages': (bytes, pick) => {
    const [a, b] = [pageOf(bytes, pick), pageOf(bytes, pick)];
    const kept = Buffer.from(bytes.subarray(a, a + pageSize));
    bytes.copyWithin(a, b, b + pageSize);
    kept.copy(bytes, b);
  },
  'a page in two places': (bytes, pick) => {
    const [a, b] = [pageOf(bytes, pick), pageOf(bytes, pick)];
    bytes.copyWithin(a, b, b + pageSize);
  },
};
