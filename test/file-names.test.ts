// The names of files, and the comments that mention them: no name occurs twice in `engine` or in `server`, a mentioned
// file exists, and a comment line has at most 110 columns. Also the time limits of tests.
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { readSources, trackedFiles } from './support/source-tree.js';

const compiled = readSources('engine', 'server', 'wasm');
const all = [...compiled, ...readSources('test')];

const list = (violations: string[]): void => {
  if (violations.length > 0) expect.fail(`${violations.length}\n${violations.join('\n')}`);
};

/**
 * Files of users' projects, and pages of the specification, which is not published. Comments should state the rule
 * instead of such a page, so the list of pages may only become shorter.
 */
const isElsewhere = new Set(
  (
    'trellis.gen.ts load.mjs access.md client.md explorer.md extensions.md helixql.md mcp.md operations.md ' +
    'sessions.md tooling.md'
  ).split(' '),
);

const isComment = /^\s*(\/\/|\*|\/\*)/;

/** Folders with comment lines of more than 110 columns. The list may only become shorter. */
const hasWideComments = new Set(
  (
    'engine/database/lane engine/storage/graph engine/storage/index engine/storage/schema engine/storage/table ' +
    'engine/storage/view engine/vector server/auth server/client server/cluster ' +
    'server/cluster/forward server/cluster/membership server/cluster/read server/cluster/shard server/command ' +
    'server/command/data server/command/run server/command/support server/config server/database/pool ' +
    'server/database/tenant server/explorer/canvas server/explorer/components server/explorer/model server/explorer/pages ' +
    'server/explorer/state server/folder server/handlers server/http-threads server/http ' +
    'server/integrations server/lifecycle server/mcp/message server/openapi server/pipeline ' +
    'server/project server/repl server/telemetry server/terminal wasm'
  ).split(' '),
);

const ruleAndExecutor = 'a rule of the planner and the part of the executor that carries it out';
const expressionFamily = 'the type or the syntax, and the file of the executor for it';
const command = 'a command, and what it starts';
const page = 'the explorer is a program of its own, for browsers';

/** File names that stand in two folders, and why. */
const namedTwice: Record<string, Record<string, string>> = {
  engine: {
    'accumulate.ts': ruleAndExecutor,
    'page-seek.ts': ruleAndExecutor,
    'reverse-traversal.ts': ruleAndExecutor,
    'semi-join.ts': ruleAndExecutor,
    'date.ts': expressionFamily,
    'value.ts': expressionFamily,
    'expression.ts': expressionFamily,
    'message.ts': 'messages of the log thread, and those of the reader and writer threads',
    'options.ts': 'options of a cluster, of a call and of a vector index',
    'access.ts': 'the builder of a part of a plan, and the part',
    'flow.ts': 'the builder of a part of a plan, and the part',
    'page.ts': 'a page of results, and a page of the data file',
    'check.ts': 'the check of the stored data, and that of the text index',
  },
  server: {
    'config.ts': command,
    'explain.ts': command,
    'keys.ts': command,
    'openapi.ts': command,
    'repl.ts': command,
    'colour.ts': page,
    'lossless-json.ts': 'the client, the shell and the explorer are bundled apart',
    'forward.ts': 'to another node, and from standard input to a server',
    'metrics.ts': 'metrics of the MCP endpoint, and those of the server',
    'project.ts': 'a project as an editor has it open, and as files',
    'server.ts': 'the process, the language server, the MCP server, and the state of a page',
    'program.ts': page,
    'router.ts': page,
    'session.ts': page,
    'status.ts': page,
  },
};

test('comment lines have at most 110 columns', () => {
  list(
    compiled
      .filter(({ path }) => !hasWideComments.has(dirname(path)))
      .flatMap((file) =>
        file.lines.flatMap((line, i) =>
          isComment.test(line) && line.length > 110
            ? [`${file.path}:${i + 1} has ${line.length} columns`]
            : [],
        ),
      ),
  );
});

test('files that comments mention exist', () => {
  const names = new Set(trackedFiles().map((path) => basename(path)));
  const mentioned = /(?<![\w*/<{.$-])([A-Za-z0-9][\w./-]*\.(?:ts|tsx|cts|mjs|md))\b/g;
  list(
    all.flatMap((file) =>
      file.lines.flatMap((line, i) =>
        isComment.test(line)
          ? [...line.matchAll(mentioned)]
              .map(([, name]) => name!)
              .filter((name) => !names.has(basename(name)) && !isElsewhere.has(basename(name)))
              .map((name) => `${file.path}:${i + 1} mentions ${name}`)
          : [],
      ),
    ),
  );
});

test.each(['engine', 'server'])('no file name occurs twice in %s', (folder) => {
  const files = new Map<string, string[]>();
  for (const path of trackedFiles()) {
    if (!path.startsWith(`${folder}/`) || !/\.tsx?$/.test(path)) continue;
    files.set(basename(path), [...(files.get(basename(path)) ?? []), path]);
  }
  const twins = [...files].filter(
    ([name, paths]) => paths.length > 1 && !/^(index|types)\.ts$/.test(name),
  );
  list(
    twins
      .filter(([name]) => !(name in namedTwice[folder]!))
      .map(([name, paths]) => `${name}: ${paths.join(', ')}`),
  );
  const names = new Set(twins.map(([name]) => name));
  list(Object.keys(namedTwice[folder]!).filter((name) => !names.has(name)));
});

test('no test sets a shorter time limit than the runner: a slow machine would fail it', () => {
  const limits = [
    /^\s*\}, (\d[\d_]{3,})\);/,
    /(?:\b(?:it|test|describe)\b.*|^ *)\{?\s*timeout: (\d[\d_]{3,})[ ,]*\}?, (?:async )?\(/,
  ];
  const short = readSources('test')
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, i) => {
        const found = limits.map((limit) => limit.exec(line)?.[1]).find((one) => one !== undefined);
        const ms = Number(found?.replaceAll('_', ''));
        return ms < 180_000 ? [`${path}:${i + 1} ${ms} ms`] : [];
      }),
    );
  list(short);
});
