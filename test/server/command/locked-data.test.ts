// Commands that need closed data, while a server has the data open. Each names the server in one line, exits
// with the right code, whatever runs it, and leaves nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeFolder } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, startServer } from '../../support/server/server.js';

let server: Server;
const folder = makeFolder();
const file = join(folder, 'saved.ndjson');

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': 'N::A { x: U8 }' } });
});
afterAll(() => server.dispose());

it.each([
  ['verify'],
  ['verify', '--deep'],
  ['verify', '--deep', '--json'],
  ['verify', '--repair-derived'],
  ['verify', '--salvage', file],
  ['compact'],
])('%s %s', async (...command) => {
  const { code, stdout, stderr } = await commandHere([
    ...command,
    '--project',
    server.project,
    '--data',
    server.data,
  ]);
  const line = /^DATA_LOCKED: The data directory is in use: process \d+ holds it\. Stop .*\n$/;
  expect([code, stdout, stderr]).toEqual([75, '', expect.stringMatching(line)]);
  expect(existsSync(file)).toBe(false);
});
