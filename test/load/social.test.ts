// A social network in the shape of LDBC SNB, from files in a folder to the answers of its interactive
// queries (X030): each is one query in its natural form, and answers what the network itself says.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { LdbcContender } from '../../bench/ldbc/ldbc-contender.js';
import { writeNetwork } from '../../bench/ldbc/ldbc-files.js';
import { type LdbcFolder, readFolder, writeProject } from '../../bench/ldbc/ldbc-folder.js';
import { makeNetwork } from '../../bench/ldbc/ldbc-network.js';
import { canonical, cypher } from '../../bench/ldbc/ldbc-query.js';
import { makeFolder } from '../support/project.js';
import { built } from '../support/server/embedded-server.js';

// Built: lanes are threads and need JavaScript.
const { trellisContender } = await built<typeof import('../../bench/ldbc/ldbc-contender.js')>(
  'bench/ldbc/ldbc-contender.js',
);
const { importFiles } = await built<typeof import('../../server/command/data/import.js')>(
  'server/command/data/import.js',
);
const { parseCommandLine } = await built<typeof import('../../server/terminal/parse-flags.js')>(
  'server/terminal/parse-flags.js',
);

const long = process.env.TRELLIS_TEST_LONG === '1';
const folder = makeFolder();
let ldbc: LdbcFolder;
let database: LdbcContender;
let rows = 0;
let said = '';

beforeAll(async () => {
  rows = writeNetwork(makeNetwork(long ? 0.1 : 0.002), folder, long ? 40 : 8);
  ldbc = readFolder(folder);
  const project = join(folder, 'project');
  const [map, data] = [writeProject(project, ldbc), join(folder, 'data')];
  const spy = vi.spyOn(console, 'log').mockImplementation((text) => {
    said += String(text);
  });
  const words = [project, folder, '--mapping', map, '--data', data];
  const code = await importFiles.run(parseCommandLine(words, importFiles));
  spy.mockRestore();
  expect(code, said).toBe(0);
  database = await trellisContender(ldbc, data);
});
afterAll(() => database.close());

it('[X030] loads every row of the folder', () => {
  const [, nodes, edges] = /imported (\d+) nodes, (\d+) edges/.exec(said) ?? [];
  expect(Number(nodes) + Number(edges)).toBe(rows);
});

it.each(Object.keys(cypher))('[X030] %s answers what the network says', async (query) => {
  const calls = ldbc.expected[query]!;
  expect(calls.some((call) => call.rows.length > 0)).toBe(true);
  for (const call of calls) {
    const answer = await database.run(query, call.args);
    expect(canonical(database.rows(query, call.args, answer))).toBe(canonical(call.rows));
  }
});
