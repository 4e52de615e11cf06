// What another server of this program has answered: a node of the cluster, or the one of this machine that a
// command asks. Invariant: an answer of some other program, or an error that only a newer version knows, is
// told as if nobody had answered there, never as a fault of this process.
import { type ErrorData, TrellisError, errorCodes } from '../../engine/internal.js';

const nobody: ErrorData = { code: 'NO_LEADER', args: {} };
const known: ReadonlySet<unknown> = new Set(errorCodes);

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

/** The error that a refusal tells. `otherwise`: what an answer of nobody's stands for. */
export function parseRemoteError(body: Uint8Array, otherwise: ErrorData = nobody): TrellisError {
  const told = parsed(body) as Partial<ErrorData> | null | undefined;
  if (!known.has(told?.code)) return new TrellisError(otherwise);
  const { code, args = {}, hint, path, errors } = told as ErrorData;
  const faults = errors?.filter((fault) => known.has(fault.code));
  const more = { ...(hint && { hint }), ...(path && { path }), ...(faults && { errors: faults }) };
  return new TrellisError({ code, args, ...more });
}

/** The JSON of a good answer. Fails with the error that another one tells. */
export function parseRemoteJson(isGood: boolean, body: Uint8Array, otherwise = nobody): unknown {
  if (!isGood) throw parseRemoteError(body, otherwise);
  const value = parsed(body);
  if (value === undefined) throw new TrellisError(otherwise);
  return value;
}
