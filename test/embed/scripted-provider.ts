// A provider of OpenAI's form on this machine that a test scripts: what it refuses, how it answers, how long it
// takes. Its vectors have the number in the text, and the length of the text.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedProvider {
  url: string;
  /** The texts of each call. */
  calls: string[][];
  /** Calls that were open at the same time, at most. */
  mostOpen: number;
  delayMs: number;
  refuse: (texts: string[]) => { status: number; message: string } | undefined;
  answer: (texts: string[]) => unknown;
  /** Forgets the calls and the script. */
  reset(): void;
  close(): Promise<void>;
}

const vectorOf = (text: string): number[] => [Number(/\d+/.exec(text)?.[0] ?? 0), text.length];

const usualAnswer = (texts: string[]): unknown => ({
  data: texts.map((text, index) => ({ index, embedding: vectorOf(text) })),
});

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  let open = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string | string[] };
    const texts = [input].flat();
    provider.calls.push(texts);
    provider.mostOpen = Math.max(provider.mostOpen, ++open);
    response.once('close', () => open--);
    if (provider.delayMs > 0) await new Promise((done) => setTimeout(done, provider.delayMs));
    const refusal = provider.refuse(texts);
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: refusal.message } }));
    } else response.end(JSON.stringify(provider.answer(texts)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider: ScriptedProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    mostOpen: 0,
    delayMs: 0,
    refuse: () => undefined,
    answer: usualAnswer,
    reset() {
      provider.calls.length = 0;
      provider.mostOpen = 0;
      provider.delayMs = 0;
      provider.refuse = () => undefined;
      provider.answer = usualAnswer;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}
