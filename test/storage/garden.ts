// A small schema, and ways to open a store of it in a fresh folder, shared by the storage tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Limits, defaultLimits } from '../../engine/base/limits.js';
import type {
  EdgeType,
  ElementKind,
  NodeType,
  Property,
  PropertyType,
  ScalarName,
  Schema,
  VectorType,
} from '../../engine/base/schema.js';
import type { Scalar, ScalarList } from '../../engine/base/value.js';
import { type Storage, openStorage } from '../../engine/storage/open.js';
import type { Label, WriteView } from '../../engine/storage/store.js';

/** `String`, `[F64]`, `[[U8]]`. */
export function typeNamed(text: string): PropertyType {
  if (!text.startsWith('[')) return { kind: 'scalar', name: text as ScalarName };
  return { kind: 'list', of: typeNamed(text.slice(1, -1)) };
}

/** Properties from `{ name: 'unique String' }`. */
export function properties(texts: Record<string, string>): Property[] {
  return Object.entries(texts).map(([name, text]) => {
    const [first, second] = text.split(' ');
    const index = second === undefined ? 'none' : (first as Property['index']);
    return { name, type: typeNamed(second ?? first!), index };
  });
}

export const node = (name: string, texts: Record<string, string> = {}): NodeType => ({
  kind: 'node',
  name,
  properties: properties(texts),
});

export const vector = (name: string, texts: Record<string, string> = {}): VectorType => ({
  kind: 'vector',
  name,
  properties: properties(texts),
});

export const edge = (
  name: string,
  ends: [from: string, to: string],
  texts: Record<string, string> = {},
  unique = false,
): EdgeType => {
  const ref = (end: string) => ({ kind: (end === 'Note' ? 'vector' : 'node') as ElementKind, name: end });
  return { kind: 'edge', name, from: ref(ends[0]), to: ref(ends[1]), unique, properties: properties(texts) };
};

export const garden: Schema = {
  version: 1,
  nodes: [
    node('Gardener', { email: 'unique String', city: 'index String', level: 'U8', joined: 'Date' }),
    node('Plant', { species: 'index String', height: 'index F64', tags: '[String]', serial: 'unique U64' }),
  ],
  edges: [
    edge('Grows', ['Gardener', 'Plant'], { since: 'Date', rating: 'index U8' }),
    edge('Follows', ['Gardener', 'Gardener'], {}, true),
    edge('Tells', ['Plant', 'Note']),
  ],
  vectors: [vector('Note', { text: 'String', lang: 'index String' })],
};

const folders: string[] = [];
process.on('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** A folder that goes when the process ends. */
export function freshFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'trellis-storage-'));
  folders.push(path);
  return path;
}

export function openGarden(path: string, limits: Partial<Limits> = {}, schema = garden): Storage {
  const storage = openStorage(path, { limits: { ...defaultLimits, ...limits }, mode: 'create' });
  storage.applySchema({ schema, olderSchemas: [], migrations: [] }, { nowMs: 0 });
  return storage;
}

/** One request in a commit of its own. */
export function write<T>(storage: Storage, work: (view: WriteView) => T, nowMs = 1_700_000_000_000): T {
  let result: T;
  let failure: { error: unknown } | undefined;
  storage.commitGroup((group) => {
    try {
      result = group.request(nowMs, work);
    } catch (error) {
      failure = { error };
    }
  });
  if (failure) throw failure.error;
  return result!;
}

export function labelNamed(storage: Storage, name: string): Label {
  const label = storage.catalog.labels().find((candidate) => candidate.name === name);
  if (!label) throw new RangeError(`no label ${name}`);
  return label;
}

export const values = (
  object: Record<string, Scalar | ScalarList>,
): Map<string, Scalar | ScalarList> => new Map(Object.entries(object));
