// What a front is given when it starts.
import type { Attachment } from '../../engine/index.js';
import type { KeyList } from '../auth/keys.js';
import type { SecurityRules } from '../auth/request-guard.js';
import type { TransportOptions } from '../http/transport.js';
import type { TellingRules } from '../telemetry/request-log.js';
import type { ToolRules } from './mcp-tools.js';

/** What of its answers a front tells the main thread, each by a message of its own. */
export interface FrontTelling extends TellingRules {
  /** With what was sent, for the log. */
  values: boolean;
  /** Every answer. */
  answers: boolean;
}

export interface FrontSetup {
  /** Its row among the counts; the main thread has 0. */
  row: number;
  rows: number;
  counts: SharedArrayBuffer;
  shares: SharedArrayBuffer;
  words: SharedArrayBuffer;
  rates: { rate_per_key: SharedArrayBuffer; rate_per_address: SharedArrayBuffer };
  /** Of credentials that were accepted lately. */
  accepted: SharedArrayBuffer;
  keys: { version: number; list: KeyList };
  security: SecurityRules;
  telling: FrontTelling;
  tools: ToolRules;
  transport: Pick<TransportOptions, 'limits' | 'idleMs' | 'tls' | 'onSocket' | 'port'>;
  /** Package of the transport's add-on. */
  addOn: string;
  attachment: Attachment;
  failpoint: string | undefined;
}
