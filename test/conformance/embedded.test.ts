// The engine without a server: the cases of test/corpus/language through open(), and, on one data
// directory, the same bytes from both for every reading call of the garden.
import { afterAll, describe, expect, test } from 'vitest';
import { type Case, caseFiles, readCases } from '../support/corpus/case.js';
import {
  type CaseGroup,
  groupsOf,
  resetName,
  resetQuery,
  sourcesOf,
} from '../support/corpus/case-group.js';
import {
  type EmbeddedServer,
  callEmbedded,
  openEmbedded,
} from '../support/server/embedded-server.js';
import type { ExactObject } from '../support/corpus/exact-json.js';
import type { Names } from '../support/corpus/match.js';
import { makeFolder } from '../support/project.js';
import { startServer } from '../support/server/server.js';
import { bodyOf, runStep } from '../support/corpus/step.js';

/** What is asked of queries alone: no files, restarts, or endpoints of the server. */
function isEmbeddable({ steps, env }: Case): boolean {
  const asks = (step: ExactObject): boolean =>
    /^\/?[A-Za-z]\w*$/.test(String(step.get('post') ?? '')) && !step.has('headers');
  return steps.length > 0 && steps.every(asks) && Object.keys(env).length === 0;
}

const cases = caseFiles('language')
  .flatMap((path) => readCases(path))
  .filter(isEmbeddable);

const namesOf = (one: Case): Names => ({ saved: new Map(), elements: one.elements });

async function sow(embedded: EmbeddedServer, one: Case): Promise<Names> {
  const names = namesOf(one);
  for (const step of one.seed) await runStep(embedded.server, step, names);
  return names;
}

function declareGroup(group: CaseGroup): void {
  let embedded: EmbeddedServer | undefined;
  let used = false;
  const { config } = group.cases[0]!;
  test.each(group.cases.map((one) => [`${one.file} ${one.id}`, one] as const))(
    '%s',
    async (_, one) => {
      embedded ??= await openEmbedded({ sources: sourcesOf(group), config });
      if (used && !one.fresh && resetQuery(group.cases) !== '') await embedded.db.call(resetName);
      used = true;
      const names = await sow(embedded, one);
      for (const step of one.steps) await runStep(embedded.server, step, names, one.expect);
    },
  );
  afterAll(() => embedded?.dispose());
}

describe('language', () => {
  for (const group of groupsOf(cases, true)) declareGroup(group);
});

/** Calls that change nothing, each once, with the ids of a sown garden filled in. */
function readingCalls(embedded: EmbeddedServer, group: CaseGroup, names: Names) {
  const { queries } = embedded.db.database.program;
  const reading = new Set(queries.filter(({ plan }) => !plan.writes).map(({ name }) => name));
  const seed = JSON.stringify(group.cases[0]!.seed);
  const steps = group.cases.filter((one) => JSON.stringify(one.seed) === seed);
  const calls = steps
    .flatMap((one) => one.steps)
    .map((step) => ({ name: String(step.get('post')), body: bodyOf(step, names) ?? noBody }))
    .filter(({ name }) => reading.has(name));
  return [...new Map(calls.map((call) => [`${call.name} ${call.body}`, call])).values()];
}

const noBody = Buffer.alloc(0);

/** Members that differ by nature: ids of requests, the instant of a call. */
const settled = (text: string): string =>
  text
    .replace(/"request_id":"[^"]*"/, '"request_id":""')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, (date) =>
      Date.now() - Date.parse(date) < 60_000 ? 'NOW' : date,
    );

test('server and embedded engine answer with the same bytes on the same data', async () => {
  const groups = groupsOf(cases, true).filter((one) => one.cases[0]!.elements.size > 0);
  const group = groups.sort((a, b) => b.cases.length - a.cases.length)[0]!;
  const sources = sourcesOf(group);
  const { config } = group.cases[0]!;
  const folder = makeFolder();
  const embedded = await openEmbedded({ sources, config }, folder);
  const calls = readingCalls(embedded, group, await sow(embedded, group.cases[0]!));
  expect(calls.length).toBeGreaterThan(200);
  const here: { status: number; text: string }[] = [];
  for (const { name, body } of calls) here.push(await callEmbedded(embedded.db, name, body));
  await embedded.db.close();
  const server = await startServer({ sources, config, args: ['--data', `${folder}/data`] });
  try {
    for (const [i, { name, body }] of calls.entries()) {
      const there = await server.client.request({ path: name, body });
      const call = `${name} ${body}`;
      expect({ call, status: there.status, text: settled(there.text) }).toEqual({
        call,
        status: here[i]!.status,
        text: settled(here[i]!.text),
      });
    }
  } finally {
    await server.dispose();
  }
});
