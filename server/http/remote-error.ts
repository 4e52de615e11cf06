// Reads the answer of another TrellisDB server: a node of the cluster, or the server that a command calls.
// Invariant: an answer of another program, or an unknown error of a newer version, counts as no answer. It
// never becomes an internal error of this process.
import { type ErrorData, TrellisError, errorCodes } from '../../engine/internal.js';

const noAnswer: ErrorData = { code: 'NO_LEADER', args: {} };
const known: ReadonlySet<unknown> = new Set(errorCodes);

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

/**
 * Reads the error in the body of a refusal. `otherwise`: the error for a body that no TrellisDB server sent.
 */
export function parseRemoteError(body: Uint8Array, otherwise: ErrorData = noAnswer): TrellisError {
  const received = parsed(body) as Partial<ErrorData> | null | undefined;
  if (!known.has(received?.code)) return new TrellisError(otherwise);
  const { code, args = {}, hint, path, errors } = received as ErrorData;
  const entries = errors?.filter((entry) => known.has(entry.code));
  const more = {
    ...(hint && { hint }),
    ...(path && { path }),
    ...(entries && { errors: entries }),
  };
  return new TrellisError({ code, args, ...more });
}

/** Returns the parsed JSON of a successful answer. Fails with the error in the body if `isGood` is false. */
export function parseRemoteJson(isGood: boolean, body: Uint8Array, otherwise = noAnswer): unknown {
  if (!isGood) throw parseRemoteError(body, otherwise);
  const value = parsed(body);
  if (value === undefined) throw new TrellisError(otherwise);
  return value;
}
