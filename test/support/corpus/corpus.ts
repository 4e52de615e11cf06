// Turns case files into tests. Cases of one file with the same schema and configuration share one server.
// Between two cases, every element is deleted and the seed is loaded again, so that each case sees the same
// data.
import { afterAll, describe, test } from 'vitest';
import { type Case, caseFiles, readCases } from './case.js';
import {
  type CaseGroup,
  fileOf,
  groupsOf,
  resetName,
  resetQuery,
  sourcesOf,
} from './case-group.js';
import type { Names } from './match.js';
import { type Server, StartFailed, startServer } from '../server/server.js';
import { isCommand, runCommandStep } from '../server/command.js';
import { runStep } from './step.js';

/** Cases that share a server process. */
export interface Group extends CaseGroup {
  server?: Server;
  used: boolean;
  starting?: Promise<void>;
}

/** Diagnostics per case file, when the compiler refused the set. */
function refusals(group: Group, output: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const one of group.cases) {
    const lines = output.split('\n').filter((line) => line.includes(`${fileOf(one)}:`));
    const errors = lines.filter((line) => /\bE\d{3}\b/.test(line));
    if (errors.length > 0) found.set(one.id, errors.join('\n'));
  }
  return found;
}

async function launch(group: Group): Promise<Server> {
  const { config, env } = group.cases[0]!;
  return startServer({ sources: sourcesOf(group), config, env });
}

/**
 * Starts the group's server; queries that the compiler refuses are left out and fail their own
 * case.
 */
async function start(group: Group): Promise<void> {
  try {
    group.server = await launch(group);
  } catch (error) {
    if (!(error instanceof StartFailed) || error.exit.code !== 65) throw error;
    group.refused = refusals(group, error.output);
    if (group.refused.size === 0) throw error;
    group.server = await launch(group);
  }
}

async function prepare(group: Group, one: Case, names: Names): Promise<Server> {
  group.starting ??= start(group);
  await group.starting;
  const refused = group.refused.get(one.id);
  if (refused !== undefined) throw new Error(`the compiler refuses its queries:\n${refused}`);
  const server = group.server!;
  if (group.used && !one.fresh && resetQuery(group.cases) !== '')
    await server.client.post(resetName);
  group.used = true;
  for (const step of one.seed) await runStep(server, step, names);
  return server;
}

export async function runCase(group: Group, one: Case): Promise<void> {
  if (one.steps.length > 0 && one.steps.every(isCommand)) {
    for (const step of one.steps) await runCommandStep(step, one.expect);
    return;
  }
  const names: Names = { saved: new Map(), elements: one.elements };
  const server = await prepare(group, one, names);
  try {
    for (const step of one.steps) await runStep(server, step, names, one.expect);
  } catch (error) {
    if (server.child.exitCode === null && server.child.signalCode === null) throw error;
    const log = server.stderr.slice(-2000);
    await server.dispose();
    group.starting = undefined;
    group.used = false;
    throw new Error(`THE SERVER DIED\n${(error as Error).message}\n${log}`);
  }
}

interface CorpusOptions {
  /** A fixture that all files of the folder build on. */
  base?: string;
  /** Cases that add types of their own share a server whose schema is the union. */
  merge?: boolean;
  /** The files of the folder share servers too. */
  together?: boolean;
  /** Only files whose name matches. */
  files?: RegExp;
  /** Added to the configuration of every case. */
  config?: Case['config'];
}

/** Declares one test per case of every file in `folder`. */
export function declareCorpus(folder: string, options: CorpusOptions = {}): void {
  const { base, merge = false, together = false, files = /./, config = {} } = options;
  const lists = caseFiles(folder)
    .filter((path) => files.test(path))
    .map((path) => readCases(path, base).filter((one) => one.steps.length > 0));
  for (const cases of together ? [lists.flat()] : lists) {
    for (const one of cases) one.config = { ...one.config, ...config };
    if (cases.length === 0) continue;
    declareCases(together ? folder : `${folder}/${cases[0]!.file}`, cases, merge);
  }
}

function declareCases(name: string, cases: Case[], merge: boolean): void {
  describe(name, () => {
    for (const shared of groupsOf(cases, merge)) {
      const group: Group = { ...shared, used: false };
      describe(group.cases.length === 1 ? 'own server' : 'shared server', () => {
        for (const one of group.cases)
          test(`${one.id} [${one.rows.join(' ')}]`, () => runCase(group, one), 60_000);
        afterAll(() => group.server?.dispose());
      });
    }
  });
}
