// The driver of logs in S3-compatible stores: addresses, credentials, and creation of a log. It needs no log
// servers. Every append is a PUT and a LIST, which takes tens of milliseconds; JetStream takes one or two.
// Invariant: only `create` creates a log, and only in a store that refuses a second PUT of the same object.
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fail } from '../../base/errors.js';
import { rootsOf } from './log-address.js';
import type { LogDriver, LogAddress } from './replicated-log.js';
import { Bucket, type S3Address } from './s3-bucket.js';
import { creationOf, S3Log } from './s3-log.js';
import type { S3Key } from './s3-sign.js';

const defaultPollMs = 100;

export interface PolledS3Address extends S3Address {
  pollMs: number;
}

/** Parses `s3://bucket/prefix?region=…&endpoint=http://host:9000&poll=100`. Fails CONFIG_INVALID. */
export function s3Address({ url, name }: LogAddress): PolledS3Address {
  const match = /^s3:\/\/([a-z0-9.-]+)(?:\/([\w./-]*?))?\/?(?:\?(.*))?$/.exec(url);
  const options = new URLSearchParams(match?.[3] ?? '');
  const unknown = [...options.keys()].find((key) => !['region', 'endpoint', 'poll'].includes(key));
  const region = options.get('region') ?? 'us-east-1';
  const endpoint = options.get('endpoint');
  const pollMs = Number(options.get('poll') ?? defaultPollMs);
  const address = endpoint ?? `https://${match?.[1]}.s3.${region}.amazonaws.com`;
  if (match === null || unknown !== undefined || !(pollMs >= 1) || !URL.canParse(address))
    fail('CONFIG_INVALID', {
      what: '`cluster.log` must be `s3://bucket/prefix`, and may end in `?region=…&endpoint=http://…&poll=100`',
    });
  return {
    endpoint: new URL(address),
    bucketPath: endpoint === null ? '' : `/${match[1]}`,
    prefix: `${match[2] ? `${match[2]}/` : ''}${name}/`,
    region,
    pollMs,
  };
}

/** Parses `id:secret`, or `id:secret:session`. */
function keyOf({ tokenFile }: LogAddress): S3Key {
  if (tokenFile === undefined)
    return fail('CONFIG_INVALID', { what: '`cluster.token_file` must name a file `id:secret`' });
  if ((statSync(tokenFile).mode & 0o077) !== 0)
    fail('CONFIG_INVALID', { what: '`cluster.token_file` may be read by others; make it 0600' });
  const [id, secret, ...session] = readFileSync(tokenFile, 'utf8').trim().split(':');
  if (!id || !secret)
    return fail('CONFIG_INVALID', { what: '`cluster.token_file` must hold `id:secret`' });
  return session.length === 0 ? { id, secret } : { id, secret, session: session.join(':') };
}

async function bucketOf(log: LogAddress): Promise<[Bucket, PolledS3Address, string | null]> {
  const address = s3Address(log);
  const ca = address.endpoint.protocol === 'https:' ? rootsOf(log) : undefined;
  const bucket = new Bucket(address, keyOf(log), ca && readFileSync(ca, 'utf8'));
  const making = await creationOf(bucket);
  if (making !== undefined) return [bucket, address, making];
  bucket.close();
  return fail('LOG_UNAVAILABLE', { what: `${address.endpoint.host} does not answer, or refuses` });
}

export const driver: LogDriver = {
  async open(address) {
    const [bucket, { pollMs }, making] = await bucketOf(address);
    if (making !== null) return new S3Log(bucket, making, pollMs);
    bucket.close();
    return fail('LOG_LOST', {
      what: `there is no log at ${address.url}; \`trellis cluster init\` makes it`,
    });
  },

  async create(address) {
    const [bucket, , making] = await bucketOf(address);
    try {
      if (making !== null)
        fail('CONFIG_INVALID', { what: `there is a log at ${address.url} already` });
      const name = randomBytes(8).toString('hex');
      // The whole log relies on this: of two writers that create the same object, one is refused.
      const probe = [new Uint8Array(1), new Uint8Array(2)];
      const made: (boolean | undefined)[] = [];
      for (const bytes of probe) made.push(await bucket.create(`${name}/probe`, bytes, 'probe'));
      await bucket.remove(`${name}/probe`);
      if (made[0] === undefined || made[1] === undefined)
        fail('LOG_UNAVAILABLE', { what: 'the store does not take objects' });
      if (made[0] !== true || made[1] !== false)
        fail('LOG_UNSAFE', { what: 'the store ignores `If-None-Match: *`' });
      const bytes = Buffer.from(JSON.stringify({ version: 1, making: name }));
      const isMade = await bucket.create('log.json', bytes, name);
      if (isMade === undefined) fail('LOG_UNAVAILABLE', { what: 'the store does not answer' });
      if (!isMade) fail('CONFIG_INVALID', { what: `there is a log at ${address.url} already` });
    } finally {
      bucket.close();
    }
  },

  async look(address) {
    const [bucket, , making] = await bucketOf(address);
    bucket.close();
    const note = 'what a store has answered is as durable as the store';
    return { exists: making !== null, durable: true, note };
  },
};
