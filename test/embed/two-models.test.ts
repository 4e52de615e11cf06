// One text that one query embeds for vector types with different models: each type gets the vector of its own
// model, in any order, in loops, in writes, and together with a type of the server's model.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedServer, openEmbedded } from '../support/server/embedded-server.js';

const types = { A: 'hash:48', B: 'hash:32', C: 'hash:64' };
const names = Object.keys(types);
const search = (type: string, i: number) => `  r${i} <- SearchV<${type}>(Embed(t), 1)\n`;
const orders = [
  ['A', 'B'],
  ['B', 'A'],
  ['A', 'C'],
  ['C', 'B', 'A'],
  ['B', 'A', 'C', 'B'],
];
const asked = orders.map((order) => {
  const lines = order.map(search).join('');
  const shown = order.map((_, i) => `r${i}::{note, score}`).join(', ');
  return `QUERY search${order.join('')}(t: String) =>\n${lines}  RETURN ${shown}\n`;
});
const source = `
${names.map((type) => `V::${type} { note: String }`).join('\n')}
QUERY addAll(texts: [String]) =>
  FOR t IN texts {
    AddV<A>(Embed(t), { note: t })
    AddV<B>(Embed(t), { note: t })
    AddV<C>(Embed(t), { note: t })
  }
  RETURN "ok"
${asked.join('')}`;

describe('types with models of their own', () => {
  let server: EmbeddedServer;
  beforeAll(async () => {
    // C has the model of the server.
    const config = {
      'embedding.model': types.C,
      'vectors.A.embedding_model': types.A,
      'vectors.B.embedding_model': types.B,
    };
    server = await openEmbedded({ sources: { 'main.hx': source }, config });
    await server.db.call('addAll', { texts: ['red fish', 'blue bird', 'green tree'] });
  });
  afterAll(() => server.dispose());

  it.each(orders.map((order) => order.join('')))(
    'are each sent to their own model: %s',
    async (order) => {
      for (const t of ['red fish', 'blue bird', 'green tree']) {
        const reply = (await server.db.call(`search${order}`, { t })) as Record<string, unknown>;
        const found = [...order].map((_, i) => reply[`r${i}`]);
        expect(found).toEqual([...order].map(() => [{ note: t, score: expect.closeTo(1, 6) }]));
      }
    },
  );
});
