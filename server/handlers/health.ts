// Responses of the health routes: whether the process runs, and whether it is ready for work.
import {
  type DatabaseStatus,
  type ErrorData,
  errorMessage,
  isRetryable,
} from '../../engine/internal.js';
import type { ClusterStatus } from '../cluster/cluster-status.js';
import { jsonHeaders, okStatus } from '../http/header-list.js';
import { statusOf } from '../http/http-error.js';
import type { Reply } from '../pipeline/router.js';

export type ServerPhase = 'starting' | 'serving' | 'stopping';

export interface Readiness {
  phase: ServerPhase;
  /** Status of the database, after it was opened. */
  status: DatabaseStatus | undefined;
  /** Named conditions, all of which must hold. */
  checks: Record<string, boolean>;
  /** Current step of opening the database, and its progress from 0 to 100. */
  opening: { step: string; progress: number };
  /** Status in a cluster, if the server belongs to one. */
  cluster?: ClusterStatus;
}

export const liveBody = Buffer.from('{"live":true}');

/** Returns why ordinary requests are refused, or undefined if they are served. */
export function refusalOf({ phase, status, opening }: Readiness): ErrorData | undefined {
  if (phase === 'stopping') return { code: 'SHUTTING_DOWN', args: {} };
  if (status?.phase === 'lost') {
    return { code: 'STORAGE_LOST', args: { what: status.readOnlyReason ?? '' } };
  }
  if (phase === 'serving') return undefined;
  const args = { phase: opening.step, progress: Math.floor(opening.progress) };
  return { code: 'NOT_READY', args };
}

/** Returns the response of /readyz: 200, or 503 with the members of the error in addition. */
export function readyReply(readiness: Readiness): Reply {
  const { checks, cluster, status, phase } = readiness;
  const failed = Object.values(checks).includes(false);
  const notReady: ErrorData = { code: 'NOT_READY', args: { phase: 'checks', progress: 100 } };
  const error = refusalOf(readiness) ?? (failed ? notReady : undefined);
  const body = {
    ready: error === undefined,
    writes: error === undefined && (status?.writes ?? false),
    ...(status?.readOnlyReason !== undefined && { read_only_reason: status.readOnlyReason }),
    phase: error?.code === 'STORAGE_LOST' ? 'lost' : phase,
    checks,
    ...(cluster && { cluster }),
    ...(error && {
      step: readiness.opening.step,
      progress: Math.floor(readiness.opening.progress),
      error: errorMessage(error),
      code: error.code,
      retryable: isRetryable(error.code),
    }),
  };
  return {
    status: error === undefined ? okStatus : statusOf(error.code),
    headers: error === undefined ? jsonHeaders : [...jsonHeaders, ['Retry-After', '1']],
    body: JSON.stringify(body),
  };
}
