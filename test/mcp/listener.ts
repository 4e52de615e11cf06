// A client of `subscriptions/listen`: opens a stream and keeps what it receives.
import { request } from 'node:http';
import { modern } from './running-mcp.js';

const prefix = 'io.modelcontextprotocol/';

export interface Listener {
  status: number;
  headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
  told: any[];
  comments: number;
  /** The next message that has not been waited for. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
  next(): Promise<any>;
  /** The server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

export function listen(
  port: number,
  notifications: object,
  { key, id = 'l' }: { key?: string; id?: string | number } = {},
): Promise<Listener> {
  const meta = { [`${prefix}protocolVersion`]: modern, [`${prefix}clientCapabilities`]: {} };
  const method = 'subscriptions/listen';
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    method,
    params: { _meta: meta, notifications },
  });
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'MCP-Protocol-Version': modern,
    'Mcp-Method': method,
    ...(key !== undefined && { 'x-api-key': key }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers },
      (got) => {
        let text = '';
        let read = 0;
        let wake = (): void => undefined;
        const ended = new Promise<void>((done) => got.on('close', done));
        const listener: Listener = {
          status: got.statusCode!,
          headers: got.headers,
          told: [],
          comments: 0,
          ended,
          next: async () => {
            while (listener.told.length === read) await new Promise<void>((done) => (wake = done));
            return listener.told[read++];
          },
          close: () => sent.destroy(),
        };
        got.setEncoding('utf8');
        got.on('error', () => undefined);
        got.on('data', (piece: string) => {
          text += piece;
          for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
            const event = text.slice(0, end);
            text = text.slice(end + 2);
            if (event.startsWith('data: ')) listener.told.push(JSON.parse(event.slice(6)));
            else listener.comments++;
          }
          wake();
        });
        resolve(listener);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
