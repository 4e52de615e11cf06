// Signs requests to S3-compatible stores with AWS Signature Version 4, over the sent headers and the hash of
// the body.
import { createHash, createHmac } from 'node:crypto';

export interface S3Key {
  id: string;
  secret: string;
  /** Session token of temporary credentials. */
  session?: string;
}

export interface S3Request {
  method: string;
  host: string;
  /** Not encoded, with a leading slash. */
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Uint8Array;
}

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

/** Encodes as RFC 3986 requires: encodeURIComponent leaves five more characters unencoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Returns path and query as they are sent and signed. */
export function targetOf({ path, query }: S3Request): { path: string; query: string } {
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return { path: path.split('/').map(encoded).join('/'), query: pairs.sort().join('&') };
}

/** Returns all headers of the request, signed at `now` (Unix milliseconds). */
export function signed(
  request: S3Request,
  key: S3Key,
  region: string,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': sha256(request.body),
    'x-amz-date': time,
    ...(key.session === undefined ? {} : { 'x-amz-security-token': key.session }),
  };
  const names = Object.keys(headers).sort();
  const { path, query } = targetOf(request);
  const canonical = [
    request.method,
    path,
    query,
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  let signing = hmac(`AWS4${key.secret}`, time.slice(0, 8));
  for (const part of [region, 's3', 'aws4_request']) signing = hmac(signing, part);
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const signature = hmac(signing, text).toString('hex');
  const list = `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.id}/${scope}, ${list}`,
  };
}
