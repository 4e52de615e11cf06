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

type ReadLook = (body: Uint8Array, limits: Limits) => Look;

const forReaders: [string, ReadLook][] = [
  [
    'search',
    (body, limits) => {
      const asked = new ExploreBody(body, limits, 'search', ['text', 'types', 'limit']);
      const text = asked.requiredText('text');
      const types = asked.texts('types', 1_000) ?? null;
      return { kind: 'search', text, types, count: asked.count('limit', 20, foundMax, 1) };
    },
  ],
  [
    'neighbours',
    (body, limits) => {
      const members = ['id', 'direction', 'label', 'limit', 'after'];
      const asked = new ExploreBody(body, limits, 'neighbours', members);
      return {
        kind: 'neighbours',
        id: asked.requiredId('id'),
        direction: asked.choice('direction', 'both', ['in', 'out', 'both']),
        label: asked.text('label') ?? null,
        count: asked.count('limit', 25, pageMax),
        after: asked.place('after') ?? null,
      };
    },
  ],
  [
    'elements',
    (body, limits) => {
      const asked = new ExploreBody(body, limits, 'elements', ['type', 'limit', 'after']);
      const type = asked.requiredText('type');
      const count = asked.count('limit', 50, pageMax, 1);
      return { kind: 'elements', type, count, after: asked.id('after') ?? null };
    },
  ],
  [
    'graph',
    (body, limits) => {
      const asked = new ExploreBody(body, limits, 'graph', ['ids', 'limit', 'from', 'to']);
      const [from, to] = [asked.id('from'), asked.id('to')];
      if (from !== undefined && to !== undefined) return { kind: 'path', from, to };
      if (from !== undefined || to !== undefined) {
        const param = from === undefined ? 'from' : 'to';
        fail('PARAM_MISSING', { owner: 'graph', param, type: 'ID' }, { path: `/${param}` });
      }
      const count = asked.count('limit', 300, canvasMax, 1);
      return { kind: 'subgraph', ids: asked.ids('ids', canvasMax) ?? null, count };
    },
  ],
];

function readMap(body: Uint8Array, limits: Limits): Look {
  const members = ['type', 'samples', 'neighbours', 'seed', 'ids'];
  const asked = new ExploreBody(body, limits, 'vector-map', members);
  return {
    kind: 'map',
    type: asked.requiredText('type'),
    samples: asked.count('samples', 2_000, samplesMax, 1),
    neighbours: asked.count('neighbours', 8, nearMax),
    seed: asked.count('seed', 0, seedMax),
    ids: asked.ids('ids', samplesMax) ?? [],
  };
}

/**
 * Returns the plan for a search vector: that of an element, or the embedding of a text with the model of a
 * type.
 */
function vectorPlan(body: Uint8Array, limits: Limits): Plan {
  const asked = new ExploreBody(body, limits, 'vector', ['id', 'text', 'type']);
  const text = asked.text('text');
  if (text !== undefined) return embeddingPlan(text, asked.text('type'));
  return lookPlan({ kind: 'vector', id: asked.requiredId('id') });
}

const planOf =
  (read: ReadLook): GraphReadRoute['plan'] =>
  (body, limits) =>
    lookPlan(read(body, limits));

export const looks: ReadonlyMap<string, GraphReadRoute> = new Map<string, GraphReadRoute>([
  ...forReaders.map(([name, read]): [string, GraphReadRoute] => [
    name,
    { access: 'read', plan: planOf(read) },
  ]),
  ['vector-map', { access: 'admin', plan: planOf(readMap) }],
  ['vector', { access: 'read', plan: vectorPlan }],
]);
