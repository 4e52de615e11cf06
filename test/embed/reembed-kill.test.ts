// `trellis reembed` beside a server, and kill -9 in the middle of the job and of the swap: the next start continues, and
// nothing that was embedded is embedded again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandHere } from '../support/server/command-here.js';
import { runCli, type Server, startServer } from '../support/server/server.js';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.js';

const total = 2_000;
const source = `
V::Note { text: String, no: I64 }
QUERY search(t: String) => v <- SearchV<Note>(Embed(t), 1) RETURN v::{no}
QUERY near(v: [F64]) => n <- SearchV<Note>(v, 1) RETURN n::{no}
QUERY addAll(notes: [{ v: [F64], text: String, no: I64 }]) =>
  FOR { v, text, no } IN notes { AddV<Note>(v, { text: text, no: no }) }
  RETURN "ok"
`;
const config = { 'embedding.batch_texts': 50, 'embedding.concurrency': 2 };

/** Eight numbers that tell the texts apart. */
const vectorOf = (text: string): number[] => {
  const no = Number(/\d+/.exec(text)![0]);
  return Array.from({ length: 8 }, (_, i) => Math.sin((no + 1) * (i + 1) * 0.7));
};

let provider: ScriptedProvider;
let server: Server;
const env = (model: string) => ({
  OPENAI_BASE_URL: `${provider.url}/v1`,
  TRELLIS_EMBEDDING_MODEL: model,
});
beforeAll(async () => {
  provider = await startScriptedProvider();
  provider.answer = (texts) => ({ data: texts.map((text) => ({ embedding: vectorOf(text) })) });
  server = await startServer({ sources: { 'a.hx': source }, config, env: env('m1') });
  const notes = Array.from({ length: total }, (_, no) => ({
    v: [Math.cos(no), Math.sin(no), 1],
    text: `note ${no}`,
    no,
  }));
  await server.client.post('addAll', { notes });
  // Recorded as those of the first model by the next start.
  await server.restart({ env: env('m1') });
});
afterAll(async () => {
  await server?.dispose();
  await provider?.close();
});

const statusNow = () =>
  server.client.post('_admin/reembed?type=Note&status=true') as Promise<{
    state: string;
    done: number;
  }>;
const near = () => server.client.post('near', { v: [Math.cos(7), Math.sin(7), 1] });

test('EM08 kill -9 in the middle of the job, and in the swap: every start continues', async () => {
  await expect.poll(() => server.stderr, { timeout: 30_000 }).toContain('is recorded');
  provider.delayMs = 20;
  await server.restart({
    env: { ...env('m2'), TRELLIS_FAILPOINT: 'reembedRows@3:kill' },
  });
  const refused = await server.client.request({ path: 'search', body: '{"t":"note 7"}' });
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([409, 'EMBEDDING_MODEL_CHANGED']);
  expect(await near()).toEqual({ n: [{ no: 7 }] });
  await server.client.post('_admin/reembed?type=Note&from=text');
  expect((await server.exit()).signal).toBe('SIGKILL');
  const before = provider.calls.flat().length;
  expect(before).toBeGreaterThan(3 * 256 - 1);
  expect(before).toBeLessThan(total);
  // The start continues by itself, and dies behind the commit of the swap.
  await server.start({
    env: { ...env('m2'), TRELLIS_FAILPOINT: 'reembedSwap@1:kill' },
  });
  expect((await server.exit()).signal).toBe('SIGKILL');
  const embedded = provider.calls.flat();
  expect(new Set(embedded).size).toBe(total);
  // What was on its way at the first crash is embedded again: at most eight batches.
  expect(embedded.length).toBeLessThanOrEqual(total + 8 * 256);
  await server.start({ env: env('m2') });
  for (const no of [1, 777, 1999])
    expect(await server.client.post('search', { t: `note ${no}` })).toEqual({ v: [{ no }] });
  const missing = await server.client.request({
    path: '_admin/reembed?type=Note&status=true',
    body: '',
  });
  expect(missing.status).toBe(404);
});

test('the command shows the end of the job, reads beside it are answered, and the data are whole', async () => {
  await server.restart({ env: env('m3') });
  const at = ['--project', server.project, '--data', server.data];
  const command = runCli(['reembed', 'Note', '--from', 'text', ...at], { env: env('m3') });
  await expect.poll(async () => (await statusNow().catch(() => undefined))?.state).toBe('running');
  for (let i = 0; i < 20; i++)
    expect(await server.client.post('near', { v: vectorOf('5') })).toEqual({ n: [{ no: 5 }] });
  const { code, stdout } = await command;
  expect([code, stdout.trim()]).toEqual([0, 'Note: 2000 vectors made from `text`.']);
  expect(await server.client.post('search', { t: 'note 5' })).toEqual({ v: [{ no: 5 }] });
  await server.stop();
  const verify = await commandHere(['verify', server.data, '--deep']);
  expect(verify.code, verify.stdout).toBe(0);
  const kept = await runCli(['reembed', 'Note', '--keep', ...at], { env: env('m3') });
  expect(kept.stdout).toContain('Note: the vectors are those of openai:m3.');
  const wrong = await commandHere(['reembed', 'Note', '--project', server.project]);
  expect(wrong.stderr).toContain('needs a type, and --from or --keep');
});
