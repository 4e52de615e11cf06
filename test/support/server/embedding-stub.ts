// A local embedding provider that supports all four forms of requests and responses, checks the credential,
// and can fail on request. Owns its listener; records the requests.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface StubAnswer {
  status?: number;
  /** Exact body instead of an embedding. */
  body?: string;
  headers?: Record<string, string>;
  delayMs?: number;
}

export interface StubRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** Two numbers that depend on the text: enough to tell embeddings apart. */
const stubVector = (text: string): number[] => [text.length, 1];

function embeddingOf(path: string, body: never): string {
  const { input, text, requests } = body as {
    input?: string | string[];
    text?: string;
    requests?: { content: { parts: { text: string }[] } }[];
  };
  if (requests !== undefined) {
    const texts = requests.map(({ content }) => content.parts[0]!.text);
    return JSON.stringify({ embeddings: texts.map((one) => ({ values: stubVector(one) })) });
  }
  if (text !== undefined) return JSON.stringify({ embedding: stubVector(text) });
  const texts = Array.isArray(input) ? input : [input ?? path];
  const data = texts.map((each, index) => ({ index, embedding: stubVector(each) }));
  return JSON.stringify({ data });
}

export class EmbeddingStub {
  readonly requests: StubRequest[] = [];
  /** Answers of the next requests; when empty, embeddings. */
  readonly answers: StubAnswer[] = [];
  private constructor(private readonly listener: Server) {}

  static async open(): Promise<EmbeddingStub> {
    const listener = createServer();
    const stub = new EmbeddingStub(listener);
    listener.on('request', (request, response) => void stub.answer(request, response));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get url(): string {
    const { port } = this.listener.address() as { port: number };
    return `http://127.0.0.1:${port}`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    this.requests.push({ path: request.url ?? '', headers: request.headers, body });
    const { status = 200, body: text, headers = {}, delayMs = 0 } = this.answers.shift() ?? {};
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(text ?? embeddingOf(request.url ?? '', body as never));
  }

  async close(): Promise<void> {
    this.listener.closeAllConnections();
    await new Promise((resolve) => this.listener.close(resolve));
  }
}
