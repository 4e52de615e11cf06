// A program as the text of an OpenAPI document, which the thread that compiles makes of many queries.
import { createHash } from 'node:crypto';
import { type OpenApiOptions, openApiOf } from '../../contract/openapi.js';
import type { HasSignatures } from '../../contract/signature.js';

export interface DocumentTask {
  about: Omit<OpenApiOptions, 'sees'>;
  /** Names of the queries that are told of; undefined: all. */
  seen: ReadonlySet<string> | undefined;
  /** The program as its callers are told of it, packed. */
  told: Uint8Array;
}

export interface DocumentReport {
  text: Uint8Array;
  /** Of the text. */
  digest: string;
}

export function documentOf(
  program: HasSignatures,
  about: DocumentTask['about'],
  seen: DocumentTask['seen'],
): DocumentReport {
  const sees = (name: string): boolean => seen === undefined || seen.has(name);
  const text = Buffer.from(JSON.stringify(openApiOf(program, { ...about, sees })));
  return { text, digest: createHash('sha256').update(text).digest('base64url') };
}
