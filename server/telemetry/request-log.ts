// Which requests that ended are told of, and telling: slow ones in the list of slow requests, those and
// a share of all others in the log. Invariant: names, sizes and times; values only where `log.parameters` says so.
import { type ErrorCode, excerpt, wallMs } from '../../engine/internal.js';
import type { Log } from './log.js';
import { type SentValues, keptOf } from './logged-parameters.js';
import type { SlowLog } from './slow-log.js';

/** A call that visits more elements is told of, however quick it was. */
const quietVisitsMax = 100_000;

interface Work {
  micros: number;
  rows: number;
  visits: number;
}

/** What a request sent, and the credentials it came with. */
export interface SentBody {
  body: Uint8Array;
  given: readonly string[];
}

/** Undefined for an empty body. */
export function sentBody(
  { apiKey, authorization }: { apiKey: string; authorization: string },
  body: Uint8Array,
): SentBody | undefined {
  if (body.length === 0) return undefined;
  return { body: keptOf(body), given: [apiKey, authorization.replace(/^bearer\s+/i, '').trim()] };
}

/** A request that ended. */
export interface EndedRequest {
  requestId: string;
  route: string;
  query: string | undefined;
  /** A status line text. */
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

/** What is thought of it. */
export interface LogDecision {
  slow: boolean;
  /** It gets a line of the log in any case. */
  isChosen: boolean;
}

export interface LogThresholds {
  /** Requests slower than this are logged. */
  slowMs: number;
  /** Share of requests that get a log line, 0 to 1. */
  accessShare: number;
}

/** Undefined for a request that nobody is told of. `broken`: by a fault of the server. */
export function shouldLog(
  { slowMs, accessShare }: LogThresholds,
  ms: number,
  work: Work | undefined,
  code?: ErrorCode,
  broken = false,
): LogDecision | undefined {
  // Slow, cancelled, or a lot of work though it was quick (operations.md 9.3).
  const slow = ms >= slowMs || code === 'QUERY_TIMEOUT' || (work?.visits ?? 0) > quietVisitsMax;
  const isChosen = broken || (accessShare > 0 && Math.random() < accessShare);
  return slow || isChosen ? { slow, isChosen } : undefined;
}

const inMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

export class RequestLog {
  constructor(
    private readonly log: Log,
    private readonly slowLog: SlowLog,
    /** Where the log is to show what callers send. */
    private readonly values?: SentValues | undefined,
  ) {}

  get hasValues(): boolean {
    return this.values !== undefined;
  }

  tell(request: EndedRequest, { slow, isChosen }: LogDecision): void {
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
      values: request.sent && this.values?.print(request.sent.body, request.sent.given),
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
