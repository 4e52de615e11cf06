// `POST /_explore/<name>`: what a body asks to see of the graph. Looking is the engine's, in a reading
// thread and within the limits of a query.
import { type Limits, type Look, fail } from '../../../engine/index.js';
import { ExploreBody } from './body.js';

const pageMax = 500;
const foundMax = 100;
const canvasMax = 5_000;

type ReadLook = (body: Uint8Array, limits: Limits) => Look;

export const looks: ReadonlyMap<string, ReadLook> = new Map<string, ReadLook>([
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
      return { kind: 'among', ids: asked.ids('ids', canvasMax) ?? null, count };
    },
  ],
]);
