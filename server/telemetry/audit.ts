// Writes the audit log: one line for every use of administrator rights, and for every wrong key. Without an
// audit file, the lines go to the log if there are keys. Invariant: a line has no credential, no parameter,
// no value and no text of a query.
import type { AuditFile } from './audit-file.js';
import type { ServerSample } from './metric-definitions.js';
import type { Log } from './log.js';

export type AuditEvent = 'admin' | 'refused';

/** Facts about a request that has ended or was refused. */
export interface Audited {
  event: AuditEvent;
  /** Id of the key; undefined without a key, or with a wrong one. */
  keyId: string | undefined;
  isNode?: boolean | undefined;
  tenant: string;
  peer: string;
  path: string;
  /** Route of the request, as metrics name it. */
  route: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  rows?: number | undefined;
  ms?: number | undefined;
  requestId: string;
  /** Number of requests that the line stands for. */
  count?: number;
}

export interface AuditOptions {
  file: AuditFile | undefined;
  log: Log;
  hasKeys: () => boolean;
  /** Name of the cluster node; empty outside a cluster. */
  node: string;
}

export class Audit {
  readonly #lines: Record<AuditEvent, number> = { admin: 0, refused: 0 };
  /** Requests of this second whose credential was not checked, and the address of the first one. */
  #throttled = 0;
  #throttledPeer = '';

  constructor(private readonly options: AuditOptions) {}

  note(of: Audited): void {
    const { file, log, hasKeys, node } = this.options;
    if (file === undefined && !hasKeys()) return;
    this.#lines[of.event]++;
    const { keyId } = of;
    const kind = of.isNode ? 'node' : keyId ? 'key' : 'none';
    const line = {
      event: of.event,
      who: { kind, ...(kind === 'key' && { id: keyId }) },
      as: null,
      tenant: of.tenant,
      peer: of.peer,
      door: listenerOf(of.path),
      query: of.route,
      outcome: of.outcome,
      ...(of.rows !== undefined && { rows: of.rows }),
      ...(of.ms !== undefined && { ms: Math.round(of.ms * 10) / 10 }),
      ...(of.count !== undefined && { count: of.count }),
      request_id: of.requestId,
      ...(node !== '' && { node }),
    };
    if (file !== undefined) file.add(line);
    else log('info', 'audit', line);
  }

  /** Counts a request whose credential was not checked. One line a second reports the number. */
  noteThrottled(peer: string): void {
    if (this.#throttled++ === 0) this.#throttledPeer = peer;
  }

  /** Must be called once a second. */
  tick(): void {
    if (this.#throttled === 0) return;
    const count = this.#throttled;
    this.#throttled = 0;
    this.note({
      event: 'refused',
      keyId: undefined,
      tenant: '',
      peer: this.#throttledPeer,
      path: '',
      route: 'other',
      outcome: 'RATE_LIMITED',
      requestId: '',
      count,
    });
  }

  samples(): ServerSample[] {
    const { file } = this.options;
    const events = Object.entries(this.#lines);
    return [
      ...events.map(([event, value]): ServerSample => {
        return { name: 'audit_lines_total', labels: { event }, value };
      }),
      { name: 'audit_errors_total', value: file?.errors ?? 0 },
    ];
  }

  close(): void {
    this.tick();
    this.options.file?.close();
  }
}

function listenerOf(path: string): string {
  if (path === '/mcp' || path.startsWith('/mcp/')) return 'mcp';
  return path.startsWith('/_explore') ? 'explorer' : 'http';
}
