// The five requests to an S3-compatible store that implement a log.
// Invariant: a result is what the store reported. A missing or inconclusive response is undefined and decides
// nothing. No request reads more of a response than its answer can need.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { wallMs } from '../../base/clock.js';
import { type S3Key, type S3Request, signed, targetOf } from './s3-sign.js';

const tryMs = 10_000;
const noBody = new Uint8Array(0);

export interface S3Address {
  endpoint: URL;
  /** `/bucket`, when the host name does not contain the bucket. */
  bucketPath: string;
  /** Prefix of every object key. */
  prefix: string;
  region: string;
}

interface Reply {
  status: number;
  header: (name: string) => string | undefined;
  body: Buffer;
  /** True if the list has more names than requested. */
  isTruncated: boolean;
}

/** Maximum bytes of a response without content, such as an error message. */
const textBytesMax = 64 * 1024;
/** Maximum bytes of one name in a list, with its other fields. */
const nameBytesMax = 4 * 1024;

export interface Listed {
  keys: { key: string; size: number }[];
  isComplete: boolean;
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

  /**
   * Returns true if the object is new and has this content, false if the object exists, undefined if the
   * store did not report it.
   */
  async create(key: string, bytes: Uint8Array, id: string): Promise<boolean | undefined> {
    const headers = { 'if-none-match': '*', 'x-amz-meta-id': id };
    const status = (await this.#request('PUT', key, { headers, body: bytes }))?.status;
    return status === 200 ? true : status === 412 ? false : undefined;
  }

  /**
   * Returns at most `max` bytes of the content; longer objects are cut. Returns null when the object does not
   * exist.
   */
  async get(key: string, max: number): Promise<Buffer | null | undefined> {
    const reply = await this.#request('GET', key, { max });
    return reply?.status === 200 ? reply.body : reply?.status === 404 ? null : undefined;
  }

  /** Returns the id with which the object was created, or null when it does not exist. */
  async idOf(key: string): Promise<string | null | undefined> {
    const reply = await this.#request('HEAD', key, {});
    if (reply?.status === 200) return reply.header('x-amz-meta-id') ?? '';
    return reply?.status === 404 ? null : undefined;
  }

  /** Lists at most `max` names below `prefix`, in order, beginning after `after`. */
  async list(prefix: string, after: string, max: number): Promise<Listed | undefined> {
    const fullPrefix = this.address.prefix + prefix;
    const query: Record<string, string> = {
      'list-type': '2',
      'max-keys': String(max),
      prefix: fullPrefix,
    };
    if (after !== '') query['start-after'] = fullPrefix + after;
    const reply = await this.#request('GET', undefined, {
      query,
      max: textBytesMax + max * nameBytesMax,
    });
    if (reply?.status !== 200 || reply.isTruncated) return undefined;
    const text = reply.body.toString('utf8');
    const keys = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry]) => ({
      key: (/<Key>(.*?)<\/Key>/.exec(entry!)?.[1] ?? '').slice(fullPrefix.length),
      size: Number(/<Size>(\d+)<\/Size>/.exec(entry!)?.[1] ?? 0),
    }));
    return { keys, isComplete: !text.includes('<IsTruncated>true') };
  }

  async remove(key: string): Promise<boolean> {
    const status = (await this.#request('DELETE', key, {}))?.status;
    return status === 204 || status === 200 || status === 404;
  }

  close(): void {
    this.#agent.destroy();
  }

  #request(
    method: string,
    key: string | undefined,
    more: Partial<Pick<S3Request, 'query' | 'headers' | 'body'>> & { max?: number },
  ): Promise<Reply | undefined> {
    const { max = textBytesMax } = more;
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
        const chunks: Buffer[] = [];
        let size = 0;
        const end = (): void =>
          resolve({
            status: reply.statusCode ?? 0,
            header: (name) => reply.headers[name]?.toString(),
            body: Buffer.concat(chunks).subarray(0, max),
            isTruncated: size > max,
          });
        reply.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size <= max) return;
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
