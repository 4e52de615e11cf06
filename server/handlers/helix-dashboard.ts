// The four read-only routes of HelixDB's dashboard: translates the query string into a read. The engine runs
// the read on a reader thread within the limits of a query.
import { type Look, excerpt, fail, parseUuid } from '../../engine/internal.js';

const itemsMax = 10_000;

/** Translates the query string of one route into a read. */
export type Explore = (parameters: URLSearchParams) => Look;

function required(parameters: URLSearchParams, owner: string, name: string, type: string): string {
  const value = parameters.get(name);
  if (value === null) {
    return fail('PARAM_MISSING', { owner, param: name, type }, { path: `/${name}` });
  }
  return value;
}

function limitOf(parameters: URLSearchParams, defaultLimit: number): number {
  const text = parameters.get('limit');
  if (text === null) return defaultLimit;
  if (!/^[0-9]{1,9}$/.test(text)) {
    const args = { param: 'limit', type: 'an integer', got: excerpt(JSON.stringify(text)) };
    fail('PARAM_TYPE', args, { path: '/limit' });
  }
  return Math.min(Number(text), itemsMax);
}

/**
 * Returns the 16 bytes of an id, from a UUID text or from the same number in decimal, as HelixDB prints it.
 */
function idOf(parameters: URLSearchParams, owner: string, name: string): Uint8Array {
  const text = required(parameters, owner, name, 'ID');
  const bytes = parseUuid(text) ?? parseDecimalId(text);
  if (bytes !== undefined) return bytes;
  const args = { param: name, type: 'ID', got: excerpt(JSON.stringify(text)) };
  return fail('PARAM_TYPE', args, { path: `/${name}` });
}

function parseDecimalId(text: string): Uint8Array | undefined {
  if (!/^[0-9]{1,39}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value >= 1n << 128n) return undefined;
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(32, '0'), 'hex'));
}

export const explorerRoutes: ReadonlyMap<string, Explore> = new Map<string, Explore>([
  ['/node-details', (request) => ({ kind: 'node', id: idOf(request, '/node-details', 'id') })],
  [
    '/nodes-by-label',
    (request) => ({
      kind: 'nodes',
      type: required(request, '/nodes-by-label', 'label', 'String'),
      count: limitOf(request, 1_000),
    }),
  ],
  [
    '/node-connections',
    (request) => ({ kind: 'connections', id: idOf(request, '/node-connections', 'node_id') }),
  ],
  [
    '/nodes-edges',
    (request) => ({
      kind: 'graph',
      count: limitOf(request, 300),
      title: request.get('node_label'),
    }),
  ],
]);
