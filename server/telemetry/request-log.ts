// Decides which finished requests are logged, and logs them. Slow requests go into the list of slow requests
// and the log; a share of all others goes into the log. Invariant: an entry has names, sizes and times, and
// values only if `log.parameters` is set.
import { type ErrorCode, excerpt, wallMs } from '../../engine/internal.js';
import type { Log } from './log.js';
import { type SentValues, loggedPart } from './logged-parameters.js';
import type { SlowLog } from './slow-log.js';

/** A call that visits more elements than this is logged, even if it was fast. */
const plainVisitsMax = 100_000;

interface Work {
  micros: number;
  rows: number;
  visits: number;
}

/** The body of a request, and the credentials of the request. */
export interface SentBody {
  body: Uint8Array;
  secrets: readonly string[];
}

/** Returns undefined for an empty body. */
export function sentBody(
  { apiKey, authorization }: { apiKey: string; authorization: string },
  body: Uint8Array,
): SentBody | undefined {
  if (body.length === 0) return undefined;
  return {
    body: loggedPart(body),
    secrets: [apiKey, authorization.replace(/^bearer\s+/i, '').trim()],
  };
}

/** A request that has ended. */
export interface EndedRequest {
  requestId: string;
  route: string;
  query: string | undefined;
  /** Text of a status line. */
  status: string;
  code?: ErrorCode | undefined;
  ms: number;
  work: Work | undefined;
  bytesIn: number;
  bytesOut: number;
  keyId: string | undefined;
  peer: string;
  traceparent: string;
  sent: SentBody | undefined;
}

/** Whether and why a request is logged. */
export interface LogDecision {
  slow: boolean;
  /** Whether the request gets a log line in any case. */
  isChosen: boolean;
}

export interface LogThresholds {
  /** Requests slower than this are logged. */
  slowMs: number;
  /** Share of requests that get a log line, 0 to 1. */
  sampleRate: number;
}

/**
 * Returns undefined for a request that is not logged. `broken` is true for an error of the server.
 */
export function shouldLog(
  { slowMs, sampleRate }: LogThresholds,
  ms: number,
  work: Work | undefined,
  code?: ErrorCode,
  broken = false,
): LogDecision | undefined {
  // Slow, cancelled, or fast in spite of much work.
  const slow = ms >= slowMs || code === 'QUERY_TIMEOUT' || (work?.visits ?? 0) > plainVisitsMax;
  const isChosen = broken || (sampleRate > 0 && Math.random() < sampleRate);
  return slow || isChosen ? { slow, isChosen } : undefined;
}

const inMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

export class RequestLog {
  constructor(
    private readonly log: Log,
    private readonly slowLog: SlowLog,
    /** Set if the log may show what callers send. */
    private readonly values?: SentValues | undefined,
  ) {}

  get hasValues(): boolean {
    return this.values !== undefined;
  }

  write(request: EndedRequest, { slow, isChosen }: LogDecision): void {
    const { requestId, route, query, status, code, ms, work, keyId, traceparent } = request;
    const entry = {
      request_id: requestId,
      route,
      query,
      status: status.slice(0, 3),
      code,
      ms: inMicros(ms),
      queue_ms: work && inMicros(Math.max(0, ms - work.micros / 1000)),
      rows: work?.rows,
      visits: work?.visits,
      bytes_in: request.bytesIn,
      bytes_out: request.bytesOut,
      values: request.sent && this.values?.print(request.sent.body, request.sent.secrets),
    };
    if (slow) this.slowLog.add({ ts: new Date(wallMs()).toISOString(), ...entry });
    const suppressed = isChosen ? 0 : this.slowLog.takeLine(performance.now());
    if (suppressed === undefined) return;
    this.log(code === 'INTERNAL' ? 'error' : 'info', slow ? 'slow request' : 'request', {
      ...entry,
      key_id: keyId || undefined,
      peer: request.peer,
      traceparent: traceparent ? excerpt(traceparent) : undefined,
      suppressed: suppressed || undefined,
    });
  }
}
