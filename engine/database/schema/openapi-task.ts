// Prints a program as an OpenAPI document, on the compiler thread when it has many queries.
import { createHash } from 'node:crypto';
import { type OpenApiOptions, buildOpenApi } from '../../contract/openapi.js';
import type { HasSignatures } from '../../contract/signature.js';

export interface DocumentTask {
  about: Omit<OpenApiOptions, 'sees'>;
  /** Names of the visible queries. Undefined: all. */
  seen: ReadonlySet<string> | undefined;
  /** Packed signatures of the program. */
  signatures: Uint8Array;
}

export interface DocumentReport {
  text: Uint8Array;
  /** Digest of the text. */
  digest: string;
}

export function documentOf(
  program: HasSignatures,
  about: DocumentTask['about'],
  seen: DocumentTask['seen'],
): DocumentReport {
  const sees = (name: string): boolean => seen === undefined || seen.has(name);
  const text = Buffer.from(JSON.stringify(buildOpenApi(program, { ...about, sees })));
  return { text, digest: createHash('sha256').update(text).digest('base64url') };
}
