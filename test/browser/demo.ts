// The demo on a server of its own, as a stranger starts it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/project.js';
import { type Server, type StartOptions, startServer } from '../support/server/server.js';

const files = ['schema.hx', 'queries.hx', 'load.hx', 'seed.ndjson'];

export function startDemo(options: Partial<StartOptions> = {}): Promise<Server> {
  const sources = Object.fromEntries(
    files.map((name) => [name, readFileSync(join(root, 'server/demo', name), 'utf8')]),
  );
  return startServer({ sources, config: { 'embedding.model': 'hash' }, ...options });
}
