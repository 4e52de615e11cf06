// The five requests of an S3-compatible store that a log is made of. Invariant: what they answer is what
// the store has said; no answer, or one that says nothing, is undefined and decides nothing. Of an answer no more is
// taken than what was asked for can have.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { wallMs } from '../../base/clock.js';
import { type S3Key, type S3Request, signed, targetOf } from './s3-sign.js';

const tryMs = 10_000;
const noBody = new Uint8Array(0);

export interface S3Address {
  endpoint: URL;
  /** `/bucket`, where the host does not name it. */
  bucketPath: string;
  /** Before every key. */
  prefix: string;
  region: string;
}

interface Reply {
  status: number;
  header: (name: string) => string | undefined;
  body: Buffer;
  /** There is more of it than was asked for. */
  isCut: boolean;
}

/** What an answer without a content may say, such as why it refuses. */
const wordsMost = 64 * 1024;
/** Of one name in a list, with all that stands beside it. */
const nameMost = 4 * 1024;

export interface Listed {
  keys: { key: string; size: number }[];
  isWhole: boolean;
}

export class Bucket {
  readonly #agent: PlainAgent | TlsAgent;
  readonly #isTls: boolean;

  constructor(
    private readonly address: S3Address,
    private readonly key: S3Key,
    ca: string | undefined,
  ) {
    this.#isTls = address.endpoint.protocol === 'https:';
    const options = { keepAlive: true, maxSockets: 64 };
    this.#agent = this.#isTls ? new TlsAgent({ ...options, ca }) : new PlainAgent(options);
  }

  /** Whether the object is new and this its content: false where there is one, undefined where nobody knows. */
  async create(key: string, bytes: Uint8Array, id: string): Promise<boolean | undefined> {
    const headers = { 'if-none-match': '*', 'x-amz-meta-id': id };
    const status = (await this.#ask('PUT', key, { headers, body: bytes }))?.status;
    return status === 200 ? true : status === 412 ? false : undefined;
  }

  /** The content, of at most that many bytes: what is longer comes without its end. Null where there is none. */
  async get(key: string, most: number): Promise<Buffer | null | undefined> {
    const reply = await this.#ask('GET', key, { most });
    return reply?.status === 200 ? reply.body : reply?.status === 404 ? null : undefined;
  }

  /** The id it was created with; null where there is no such object. */
  async idOf(key: string): Promise<string | null | undefined> {
    const reply = await this.#ask('HEAD', key, {});
    if (reply?.status === 200) return reply.header('x-amz-meta-id') ?? '';
    return reply?.status === 404 ? null : undefined;
  }

  /** Names below `prefix`, in order, those behind `after` only; at most `most`. */
  async list(prefix: string, after: string, most: number): Promise<Listed | undefined> {
    const whole = this.address.prefix + prefix;
    const query: Record<string, string> = {
      'list-type': '2',
      'max-keys': String(most),
      prefix: whole,
    };
    if (after !== '') query['start-after'] = whole + after;
    const reply = await this.#ask('GET', undefined, { query, most: wordsMost + most * nameMost });
    if (reply?.status !== 200 || reply.isCut) return undefined;
    const text = reply.body.toString('utf8');
    const keys = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry]) => ({
      key: (/<Key>(.*?)<\/Key>/.exec(entry!)?.[1] ?? '').slice(whole.length),
      size: Number(/<Size>(\d+)<\/Size>/.exec(entry!)?.[1] ?? 0),
    }));
    return { keys, isWhole: !text.includes('<IsTruncated>true') };
  }

  async remove(key: string): Promise<boolean> {
    const status = (await this.#ask('DELETE', key, {}))?.status;
    return status === 204 || status === 200 || status === 404;
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(
    method: string,
    key: string | undefined,
    more: Partial<Pick<S3Request, 'query' | 'headers' | 'body'>> & { most?: number },
  ): Promise<Reply | undefined> {
    const { most = wordsMost } = more;
    const { endpoint, bucketPath, prefix, region } = this.address;
    const request: S3Request = {
      method,
      host: endpoint.host,
      path: key === undefined ? `${bucketPath}/` : `${bucketPath}/${prefix}${key}`,
      query: more.query ?? {},
      headers: more.headers ?? {},
      body: more.body ?? noBody,
    };
    const { path, query } = targetOf(request);
    const headers = {
      ...signed(request, this.key, region, wallMs()),
      ...(method === 'PUT' ? { 'content-length': String(request.body.length) } : {}),
    };
    const options = {
      method,
      host: endpoint.hostname,
      port: endpoint.port || undefined,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      agent: this.#agent,
      timeout: tryMs,
    };
    return new Promise((resolve) => {
      const call = (this.#isTls ? tlsRequest : plainRequest)(options, (reply) => {
        const pieces: Buffer[] = [];
        let size = 0;
        const end = (): void =>
          resolve({
            status: reply.statusCode ?? 0,
            header: (name) => reply.headers[name]?.toString(),
            body: Buffer.concat(pieces).subarray(0, most),
            isCut: size > most,
          });
        reply.on('data', (piece: Buffer) => {
          pieces.push(piece);
          size += piece.length;
          if (size <= most) return;
          end();
          call.destroy();
        });
        reply.on('error', () => resolve(undefined));
        reply.on('end', end);
      });
      call.on('timeout', () => call.destroy());
      call.on('error', () => resolve(undefined));
      call.end(request.body);
    });
  }
}
