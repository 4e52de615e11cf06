// The official clients and the conformance suite of the protocol against a running server. They are
// installed by long tests only.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Packages, packages } from '../support/packages.js';
import { makeFolder, root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import baseline from './conformance-baseline.json' with { type: 'json' };

const fixture = join(root, 'test/mcp/fixture');
const main = join(root, 'dist/bin/main.js');
const prompts = ['simple.md', 'arguments.md'].map((name) => `prompts/${name}`);
const sources = Object.fromEntries(
  ['queries.hx', ...prompts].map((name) => [name, readFileSync(join(fixture, name), 'utf8')]),
);

const found = await packages(
  '@modelcontextprotocol/client@2.4.0',
  '@modelcontextprotocol/sdk@1.32.2',
  '@modelcontextprotocol/conformance@0.2.0-alpha.12',
);
if (typeof found === 'string') console.log(`the official clients are not tried: ${found}`);

// biome-ignore lint/suspicious/noExplicitAny: what others export is theirs to type
type Any = any;
const nothing: Packages = { folder: '', load: async () => undefined };

/** Of each revision, what passes whole, but for the checks named: what the fixture is made for (mcp.md 11.1). */
const both =
  'completion-complete tools-list tools-call-simple-text tools-call-error server-sse-multiple-streams ' +
  'resources-list prompts-list prompts-get-simple prompts-get-with-args dns-rebinding-protection';
const newer =
  'server-stateless sep-2164-resource-not-found caching http-header-validation ' +
  'input-required-result-unsupported-methods input-required-result-ignore-extra-params ' +
  'input-required-result-validate-input input-required-result-missing-input-response';
const passing: Record<string, string[]> = {
  '2026-07-28': `${both} ${newer}`.split(' '),
  '2025-11-25': `${both} server-initialize ping`.split(' '),
};
/**
 * What the suite warns of in them: it asks for tools that ask back or that change the list, and for
 * sessions, of which there are none.
 */
const warned: Record<string, string[]> = {
  '2026-07-28': [
    'input-required-result-ignore-extra-params: sep-2322-ignore-unexpected-params',
    'input-required-result-missing-input-response: sep-2322-missing-response-rerequests',
    'server-stateless: sep-2575-server-sends-prompts-list-changed-on-subscription',
    'server-stateless: sep-2575-server-sends-tools-list-changed-on-subscription',
  ],
  '2025-11-25': ['server-sse-multiple-streams: server-sse-multiple-streams-session'],
};
/** Scenarios that speak past the suite's own client, which holds messages against their schema. */
const unchecked = new Set([
  'dns-rebinding-protection',
  'server-session-lifecycle',
  'server-sse-multiple-streams',
  'server-sse-polling',
  'server-stateless',
  'tasks-status-notifications',
]);
/** They need sampling, logging, or tools that ask for capabilities. */
const stateless = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
].map((id) => `server-stateless: ${id}`);

// M19: what the official clients and the suite find is the same on each transport.
describe.skipIf(typeof found === 'string').each(['uws', 'node'])('official, %s', (transport) => {
  // Also where nothing was found this is read, to name the tests.
  const { folder, load } = typeof found === 'string' ? nothing : found;
  let server: Server;
  let url: URL;
  beforeAll(async () => {
    server = await startServer({ sources, config: { 'server.transport': transport } });
    url = new URL(`http://127.0.0.1:${server.port}/mcp`);
  });
  afterAll(() => server.dispose());

  const own = { name: 'test', version: '1.0.0' };

  /** Answers over HTTP so far; none of them names a session, nor does a request [M02]. */
  let answers = 0;
  const watched = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(input, init);
    answers++;
    for (const headers of [answer.headers, new Headers(init?.headers)])
      expect(headers.has('mcp-session-id')).toBe(false);
    return answer;
  };

  async function newClient(transport: 'http' | 'stdio', options: object): Promise<Any> {
    const { Client, StreamableHTTPClientTransport } = await load(
      '@modelcontextprotocol/client/dist/index.mjs',
    );
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/dist/stdio.mjs');
    const client = new Client(own, options);
    const args = [main, 'mcp', server.project, '--data', server.data];
    const program = { command: process.execPath, args, stderr: 'ignore' };
    await client.connect(
      transport === 'http'
        ? new StreamableHTTPClientTransport(url, { fetch: watched })
        : new StdioClientTransport(program),
    );
    return client;
  }

  async function oldClient(transport: 'http' | 'stdio'): Promise<Any> {
    const at = '@modelcontextprotocol/sdk/dist/esm/client';
    const { Client } = await load(`${at}/index.js`);
    const { StreamableHTTPClientTransport } = await load(`${at}/streamableHttp.js`);
    const { StdioClientTransport } = await load(`${at}/stdio.js`);
    const client = new Client(own);
    const args = [main, 'mcp', server.project, '--data', server.data];
    const program = { command: process.execPath, args, stderr: 'ignore' };
    const link =
      transport === 'http'
        ? new StreamableHTTPClientTransport(url, { fetch: watched })
        : new StdioClientTransport(program);
    // It tells the link alone what was agreed on; one of a process need not know.
    const negotiated: string[] = [];
    const tell = link.setProtocolVersion?.bind(link);
    link.setProtocolVersion = (version: string) => {
      negotiated.push(version);
      tell?.(version);
    };
    await client.connect(link);
    expect([link.sessionId, negotiated]).toEqual([undefined, ['2025-11-25']]);
    return client;
  }

  /** How, and the version that the client itself says was agreed on, where it does. */
  const clients: [string, () => Promise<Any>, string | undefined][] = [
    [
      'M01 client 2.4.0, auto, over HTTP',
      () => newClient('http', { versionNegotiation: { mode: 'auto' } }),
      '2026-07-28',
    ],
    [
      'M01 client 2.4.0, auto, over stdio',
      () => newClient('stdio', { versionNegotiation: { mode: 'auto' } }),
      '2026-07-28',
    ],
    ['M02 client 2.4.0 as it is, over HTTP', () => newClient('http', {}), '2025-11-25'],
    ['M02 client 2.4.0 as it is, over stdio', () => newClient('stdio', {}), '2025-11-25'],
    ['M02 sdk 1.32.2 over HTTP', () => oldClient('http'), undefined],
    ['M02 sdk 1.32.2 over stdio', () => oldClient('stdio'), undefined],
  ];
  test.each(clients)('%s', async (name, connect, version) => {
    const before = answers;
    const client = await connect();
    if (version !== undefined) expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion().name).toBe('trellisdb');
    const { tools } = await client.listTools();
    expect(tools[2]).toMatchObject({ name: 'greet', title: 'Greets.' });
    const greeted = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    expect(greeted.structuredContent).toEqual({ greeting: 'Hello, Ada' });
    const failed = await client.callTool({ name: 'greet', arguments: {} });
    expect([failed.isError, failed.content[0].text.slice(0, 14)]).toEqual([true, 'PARAM_MISSING:']);
    const walk = await client.callTool({ name: 'n_from_type', arguments: { node_type: 'Person' } });
    expect(walk.structuredContent.count).toBe(0);
    const { contents } = await client.readResource({ uri: 'trellis://schema.md' });
    expect(contents[0].text).toContain('- Person (0) {name: String UNIQUE}');
    const prompt = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'a', arg2: 'b' },
    });
    expect(prompt.messages[0].content.text).toContain("arg1='a', arg2='b'");
    const ref = { type: 'ref/resource', uri: 'trellis://query/{name}' };
    const completed = await client.complete({ ref, argument: { name: 'name', value: 'gr' } });
    expect(completed.completion.values).toEqual(['greet']);
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(
      'Unknown tool',
    );
    await client.close();
    expect(answers > before).toBe(name.endsWith('HTTP'));
  });

  test('M14 client 2.4.0 receives the report of a reload', async () => {
    const client = await newClient('http', { versionNegotiation: { mode: 'auto' } });
    const told = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    const subscription = await client.listen({ toolsListChanged: true });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(server.project, 'more.hx'), 'QUERY more() => RETURN "more"\n');
    await told;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }: { name: string }) => name)).toContain('more');
    await subscription.close();
    await client.close();
  });

  const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const hook = join(root, 'test/mcp/glob-sync.mjs');

  /** What came of each check, as `scenario: check`. */
  async function runSuite(revision: string): Promise<Map<string, Set<string>>> {
    const output = makeFolder();
    const argv = ['server', '--url', url.href, '--requirements', revision, '-o', output];
    const child = spawn(process.execPath, ['--import', hook, suite, ...argv], { stdio: 'ignore' });
    await new Promise((resolve) => child.once('close', resolve));
    const all = new Map<string, Set<string>>();
    for (const scenario of readdirSync(output)) {
      const name = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(scenario)![1]!;
      const text = readFileSync(join(output, scenario, 'checks.json'), 'utf8');
      for (const { id, status } of JSON.parse(text) as { id: string; status: string }[]) {
        const check = `${name}: ${id}`;
        all.set(check, (all.get(check) ?? new Set()).add(status));
      }
    }
    return all;
  }

  test.each(Object.entries(baseline))(
    'M03 conformance with %s: what fails is what is expected to, for a reason',
    async (revision, reasons) => {
      const all = await runSuite(revision);
      const checks = [...all.keys()];
      const failed = checks.filter((check) => all.get(check)!.has('FAILURE'));
      expect(failed.sort()).toEqual(Object.values(reasons).flat().sort());
      const inScenario = (name: string) => checks.filter((check) => check.startsWith(`${name}: `));
      const warnings: string[] = [];
      for (const scenario of passing[revision]!) {
        const of = inScenario(scenario).filter((check) => !stateless.includes(check));
        const wrong = of.filter((check) => all.get(check)!.has('FAILURE'));
        expect([scenario, of.length > 0, wrong]).toEqual([scenario, true, []]);
        warnings.push(...of.filter((check) => all.get(check)!.has('WARNING')));
      }
      expect(warnings.sort()).toEqual(warned[revision]);
      const scenarios = new Set(checks.map((check) => check.split(': ')[0]!));
      for (const scenario of scenarios) {
        const schema = all.get(`${scenario}: wire-schema-valid`);
        const expected = unchecked.has(scenario) ? [] : ['SUCCESS'];
        expect([scenario, ...(schema ?? [])]).toEqual([scenario, ...expected]);
      }
      const passed = checks.filter((check) => all.get(check)!.has('SUCCESS')).length;
      console.log(
        `conformance ${revision}, ${transport}: ${passed} checks of ${scenarios.size} scenarios pass, ${failed.length} are expected not to`,
      );
    },
  );
});

test('every entry of the baseline has a reason', () => {
  for (const reasons of Object.values(baseline)) {
    for (const [reason, checks] of Object.entries(reasons)) {
      expect(reason).toMatch(/^[A-Z].{20,}\.$/);
      expect(checks.length).toBeGreaterThan(0);
    }
  }
});
