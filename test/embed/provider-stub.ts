// An embedding provider on this machine that supports the form of every provider, checks credentials, and can fail on
// request. Its vectors are small and depend on the text: [characters, vowels, 1].
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const stubCredential = 'stub-credential-0123456789';

/** What the stub does with one call instead of answering as it should. */
export interface Misbehaviour {
  status?: number;
  /** JSON, or text when it is a string. */
  body?: unknown;
  headers?: Record<string, string>;
  delayMs?: number;
  /** Cuts the connection instead of answering. */
  cut?: boolean;
}

export interface EmbeddingStub {
  url: string;
  /** Environment variables that lead every provider here, with good credentials. */
  environment: Record<string, string>;
  /** Calls so far: path, headers and parsed body. */
  calls: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[];
  /** Used up by the next calls, one each, in order. */
  misbehave(...next: Misbehaviour[]): void;
  close(): Promise<void>;
}

export function stubVector(text: string): number[] {
  return [text.length, text.match(/[aeiou]/gi)?.length ?? 0, 1];
}

export async function startEmbeddingStub(): Promise<EmbeddingStub> {
  const calls: EmbeddingStub['calls'] = [];
  const queue: Misbehaviour[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const path = request.url!;
    calls.push({ path, headers: request.headers, body });
    const usual = answerOf(path, request.headers, body);
    const next = queue.shift();
    if (next?.cut) request.socket.destroy();
    else if (next?.delayMs) setTimeout(() => send(response, usual, next), next.delayMs);
    else send(response, usual, next);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    environment: {
      OPENAI_BASE_URL: `${url}/v1/`,
      OPENAI_API_KEY: stubCredential,
      AZURE_OPENAI_ENDPOINT: url,
      AZURE_OPENAI_API_KEY: stubCredential,
      GEMINI_BASE_URL: url,
      GEMINI_API_KEY: stubCredential,
      VOYAGE_BASE_URL: `${url}/v1`,
      VOYAGE_API_KEY: stubCredential,
      COHERE_BASE_URL: url,
      COHERE_API_KEY: stubCredential,
      MISTRAL_BASE_URL: `${url}/v1`,
      MISTRAL_API_KEY: stubCredential,
      JINA_BASE_URL: `${url}/v1`,
      JINA_API_KEY: stubCredential,
      OLLAMA_BASE_URL: url,
      TEI_BASE_URL: `${url}/tei`,
      EMBEDDING_URL: `${url}/embed`,
    },
    calls,
    misbehave: (...next) => queue.push(...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  status: number;
  body: unknown;
}

function send(response: ServerResponse, usual: Answer, instead: Misbehaviour = {}): void {
  const body = instead.body ?? usual.body;
  response.writeHead(instead.status ?? usual.status, {
    'content-type': 'application/json',
    ...instead.headers,
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function answerOf(
  path: string,
  headers: IncomingMessage['headers'],
  body: Record<string, unknown>,
): Answer {
  const refused = { status: 401, body: { error: { message: 'Incorrect API key provided.' } } };
  const url = new URL(path, 'http://stub');
  if (url.pathname === '/v1/embeddings') {
    if (headers.authorization !== `Bearer ${stubCredential}`) return refused;
    return { status: 200, body: openaiAnswer(body.input) };
  }
  if (/^\/openai\/deployments\/[^/]+\/embeddings$/.test(url.pathname)) {
    if (headers['api-key'] !== stubCredential) return refused;
    if (url.searchParams.get('api-version') !== '2024-10-21') return { status: 404, body: {} };
    return { status: 200, body: openaiAnswer(body.input) };
  }
  if (/^\/v1beta\/models\/[^/]+:batchEmbedContents$/.test(url.pathname)) {
    if (headers['x-goog-api-key'] !== stubCredential) return refused;
    const requests = body.requests as { content: { parts: { text: string }[] } }[];
    const embeddings = requests.map(({ content }) => ({
      values: stubVector(content.parts[0]!.text),
    }));
    return { status: 200, body: { embeddings } };
  }
  if (url.pathname === '/v2/embed') {
    if (headers.authorization !== `Bearer ${stubCredential}`) return refused;
    return {
      status: 200,
      body: { embeddings: { float: (body.texts as string[]).map(stubVector) } },
    };
  }
  if (url.pathname === '/api/embed')
    return { status: 200, body: { embeddings: (body.input as string[]).map(stubVector) } };
  if (url.pathname === '/tei/embed')
    return { status: 200, body: (body.inputs as string[]).map(stubVector) };
  if (url.pathname === '/embed')
    return { status: 200, body: { embedding: stubVector(body.text as string) } };
  return { status: 404, body: { error: `no such path ${path}` } };
}

/** The list is answered backwards: only `index` says what belongs where. */
function openaiAnswer(input: unknown): unknown {
  const texts = (Array.isArray(input) ? input : [input]) as string[];
  const data = texts.map((text, index) => ({ index, embedding: stubVector(text) }));
  return { data: data.reverse() };
}
