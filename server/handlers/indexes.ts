// Reports the indexes to operators: `GET /_admin/indexes` and `POST /_admin/recall`. Members are in
// snake_case, as in all HTTP responses.
import { type Database, excerpt, fail } from '../../engine/internal.js';

const samplesDefault = 100;
const samplesMax = 10_000;
const kDefault = 10;
const kMax = 1_000;

/** Converts the names of members to snake_case, and undefined to null. */
function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  if (value === null || typeof value !== 'object') return value ?? null;
  const members = Object.entries(value).map(([name, inner]) => {
    return [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), inSnakeCase(inner)];
  });
  return Object.fromEntries(members);
}

export const indexesBody = (database: Database): unknown => ({
  indexes: inSnakeCase(database.indexes()),
});

/** Measures the recall. `type`, `samples` and `k` are in the query string. */
export async function recallBody(
  database: Database,
  parameters: URLSearchParams,
): Promise<unknown> {
  const type = parameters.get('type') ?? undefined;
  const samples = numberOf('samples', parameters.get('samples'), samplesDefault, samplesMax);
  const k = numberOf('k', parameters.get('k'), kDefault, kMax);
  return { recall: inSnakeCase(await database.recall(type, { samples, k })) };
}

function numberOf(
  param: string,
  text: string | null | undefined,
  defaultValue: number,
  max: number,
): number {
  if (text === null || text === undefined) return defaultValue;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) fail('PARAM_RANGE', { param, min: 1, max, got: excerpt(text) });
  return value;
}
