// Stores whose schema changes, shared by the tests of schema changes and of migrations.
import { expect } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { Schema } from '../../../engine/base/schema.js';
import type { Scalar, ScalarList } from '../../../engine/base/value.js';
import type { DocumentIndex } from '../../../engine/storage/record/text-document.js';
import type { Migration } from '../../../engine/base/migration-rule.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import { decodeProperty, labelOf } from '../../../engine/storage/record/record.js';
import { freshFolder, labelNamed, values, write } from './garden.js';

export const schema = (version: number, parts: Partial<Schema>): Schema => ({
  version,
  nodes: [],
  edges: [],
  vectors: [],
  ...parts,
});

/**
 * Keyword documents as `label/id:texts`, so that tests see what the storage asks of the text room.
 */
export class Documents implements DocumentIndex {
  readonly all = new Map<string, string>();
  add(_: unknown, label: number, id: number, texts: readonly string[]): void {
    this.all.set(`${label}/${id}`, texts.join(' '));
  }
  remove(_: unknown, label: number, id: number, texts: readonly string[]): void {
    expect(this.all.get(`${label}/${id}`)).toBe(texts.join(' '));
    this.all.delete(`${label}/${id}`);
  }
}

export function open(path = freshFolder()): Storage {
  return openStorage(path, { limits: defaultLimits, mode: 'create' });
}

export function apply(
  storage: Storage,
  target: Schema,
  rest: { olderSchemas?: Schema[]; migrations?: Migration[]; text?: DocumentIndex } = {},
): void {
  const declarations = {
    schema: target,
    olderSchemas: rest.olderSchemas ?? [],
    migrations: rest.migrations ?? [],
  };
  storage.applySchema(declarations, { nowMs: 1_772_352_000_000, text: rest.text });
}

/** Values of an element by property name. */
export function read(storage: Storage, id: number): Record<string, unknown> {
  const record = storage.reader().record(id)!;
  const label = storage.catalog.label(labelOf(record));
  return Object.fromEntries(label.properties.map((p) => [p.name, decodeProperty(record, p)]));
}

export const lookup = (
  storage: Storage,
  label: string,
  name: string,
  value: Scalar | ScalarList,
) => {
  const property = labelNamed(storage, label).properties.find((p) => p.name === name)!;
  return [...storage.reader().lookup(property, value)];
};

export const refused = (what: RegExp) =>
  expect.objectContaining({ code: 'SCHEMA_INCOMPATIBLE', message: expect.stringMatching(what) });

export const add = (
  storage: Storage,
  label: string,
  object: Record<string, Scalar | ScalarList>,
): number => write(storage, (view) => view.createNode(labelNamed(storage, label), values(object)));
