// Handles `POST /_explore/<name>`: translates a body into a read of the graph, with its access rights. The
// engine runs the read on a reader thread within the limits of a query.
import {
  embeddingPlan,
  fail,
  type Limits,
  type Look,
  lookPlan,
  type Plan,
} from '../../../engine/internal.js';
import type { Access } from '../../auth/request-guard.js';
import { ExploreBody } from './body.js';

const pageMax = 500;
const foundMax = 100;
const canvasMax = 5_000;

const samplesMax = 5_000;
const nearMax = 15;
const seedMax = 2 ** 31 - 1;

export interface GraphReadRoute {
  access: Access;
  plan: (body: Uint8Array, limits: Limits) => Plan;
}

type ReadParameters = (body: Uint8Array, limits: Limits) => Look;

const forReaders: [string, ReadParameters][] = [
  [
    'search',
    (body, limits) => {
      const request = new ExploreBody(body, limits, 'search', ['text', 'types', 'limit']);
      const text = request.requiredText('text');
      const types = request.texts('types', 1_000) ?? null;
      return { kind: 'search', text, types, count: request.count('limit', 20, foundMax, 1) };
    },
  ],
  [
    'neighbours',
    (body, limits) => {
      const members = ['id', 'direction', 'label', 'limit', 'after'];
      const request = new ExploreBody(body, limits, 'neighbours', members);
      return {
        kind: 'neighbours',
        id: request.requiredId('id'),
        direction: request.choice('direction', 'both', ['in', 'out', 'both']),
        label: request.text('label') ?? null,
        count: request.count('limit', 25, pageMax),
        after: request.edgeCursor('after') ?? null,
      };
    },
  ],
  [
    'elements',
    (body, limits) => {
      const request = new ExploreBody(body, limits, 'elements', ['type', 'limit', 'after']);
      const type = request.requiredText('type');
      const count = request.count('limit', 50, pageMax, 1);
      return { kind: 'elements', type, count, after: request.id('after') ?? null };
    },
  ],
  [
    'graph',
    (body, limits) => {
      const request = new ExploreBody(body, limits, 'graph', ['ids', 'limit', 'from', 'to']);
      const [from, to] = [request.id('from'), request.id('to')];
      if (from !== undefined && to !== undefined) return { kind: 'path', from, to };
      if (from !== undefined || to !== undefined) {
        const param = from === undefined ? 'from' : 'to';
        fail('PARAM_MISSING', { owner: 'graph', param, type: 'ID' }, { path: `/${param}` });
      }
      const count = request.count('limit', 300, canvasMax, 1);
      return { kind: 'subgraph', ids: request.ids('ids', canvasMax) ?? null, count };
    },
  ],
];

function readMap(body: Uint8Array, limits: Limits): Look {
  const members = ['type', 'samples', 'neighbours', 'seed', 'ids'];
  const request = new ExploreBody(body, limits, 'vector-map', members);
  return {
    kind: 'map',
    type: request.requiredText('type'),
    samples: request.count('samples', 2_000, samplesMax, 1),
    neighbours: request.count('neighbours', 8, nearMax),
    seed: request.count('seed', 0, seedMax),
    ids: request.ids('ids', samplesMax) ?? [],
  };
}

/**
 * Returns the plan for a search vector: that of an element, or the embedding of a text with the model of a
 * type.
 */
function vectorPlan(body: Uint8Array, limits: Limits): Plan {
  const request = new ExploreBody(body, limits, 'vector', ['id', 'text', 'type']);
  const text = request.text('text');
  if (text !== undefined) return embeddingPlan(text, request.text('type'));
  return lookPlan({ kind: 'vector', id: request.requiredId('id') });
}

const planOf =
  (read: ReadParameters): GraphReadRoute['plan'] =>
  (body, limits) =>
    lookPlan(read(body, limits));

export const graphReads: ReadonlyMap<string, GraphReadRoute> = new Map<string, GraphReadRoute>([
  ...forReaders.map(([name, read]): [string, GraphReadRoute] => [
    name,
    { access: 'read', plan: planOf(read) },
  ]),
  ['vector-map', { access: 'admin', plan: planOf(readMap) }],
  ['vector', { access: 'read', plan: vectorPlan }],
]);
