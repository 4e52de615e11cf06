// Defines what the main thread passes to an HTTP thread at its start.
import type { Attachment } from '../../engine/internal.js';
import type { KeyList } from '../auth/keys.js';
import type { SecurityRules } from '../auth/request-guard.js';
import type { TransportOptions } from '../http/transport.js';
import type { LogThresholds } from '../telemetry/request-log.js';
import type { ToolRules } from './mcp-tools.js';

/** Which responses an HTTP thread reports to the main thread. Each one is a separate message. */
export interface ReportingRules extends LogThresholds {
  /** Includes the request body, for the log. */
  values: boolean;
  /** Reports every response. */
  answers: boolean;
}

export interface HttpThreadSetup {
  /** Row of this thread in the shared counts. The main thread has row 0. */
  row: number;
  rows: number;
  counts: SharedArrayBuffer;
  shares: SharedArrayBuffer;
  words: SharedArrayBuffer;
  rates: { rate_per_key: SharedArrayBuffer; rate_per_address: SharedArrayBuffer };
  /** Hashes of recently accepted credentials. */
  accepted: SharedArrayBuffer;
  keys: { version: number; list: KeyList };
  security: SecurityRules;
  reporting: ReportingRules;
  tools: ToolRules;
  transport: Pick<TransportOptions, 'limits' | 'idleMs' | 'tls' | 'onSocket' | 'port'>;
  attachment: Attachment;
  failpoint: string | undefined;
}
