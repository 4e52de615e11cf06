// The provider of `npm run bench -- embed`, in a thread of its own: it answers `note N` with vector N, as base64.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { numbers, dimension } = workerData as { numbers: Float32Array; dimension: number };
const bytes = new Uint8Array(numbers.buffer);
const size = dimension * Float32Array.BYTES_PER_ELEMENT;

function embeddingOf(text: string): string {
  const at = Number(text.slice('note '.length)) * size;
  return Buffer.from(bytes.slice(at, at + size)).toString('base64');
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string | string[] };
  const data = [input].flat().map((text) => ({ embedding: embeddingOf(text) }));
  response.end(JSON.stringify({ data }));
});
server.listen(0, '127.0.0.1', () =>
  parentPort!.postMessage((server.address() as AddressInfo).port),
);
