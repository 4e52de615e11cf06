// `GET /version` tells the format of the data that this server writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startServer } from '../support/server/server.js';

it('returns the format in the manifest of its data', async () => {
  const server = await startServer({ sources: { 'main.hx': 'QUERY one() => RETURN 1' } });
  const response = await fetch(`http://127.0.0.1:${server.port}/version`);
  const { format } = (await response.json()) as { format: object };
  const manifest = readFileSync(join(server.data, 'MANIFEST.json'), 'utf8');
  expect(format).toEqual((JSON.parse(manifest) as { format: object }).format);
  await server.dispose();
});
