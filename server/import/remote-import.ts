// Imports through a running server. The stream is sent in parts, each as a request to /_admin/import with the
// same name, so that the server continues where it stopped.
import {
  type ErrorData,
  type FedRow,
  type LoadedFile,
  TrellisError,
  excerpt,
  fail,
} from '../../engine/internal.js';
import { parseRemoteJson } from '../http/remote-error.js';
import type { ImportTarget } from './import-target.js';

const partBytes = 8 * 1024 * 1024;

/** Reply of /_admin/import for a part. */
export interface ImportReply {
  nodes: number;
  edges: number;
  vectors: number;
  /** Number of these rows that changed an existing element. */
  updated: number;
  rejected: number;
  /** Bytes of the stream received so far: the start of the next part. */
  at: number;
  /** Rows loaded by an earlier attempt under the same name. */
  resumed: number;
  /** True if the import was finished before. The counts are those of that import. */
  repeated: boolean;
  rejects: FedRow[];
}

/** A proxy can respond with a body of another form. */
const notTrellis = (url: string, status: number): ErrorData => ({
  code: 'CONFIG_INVALID',
  args: { what: `What answers at ${url} with status ${status} is no server of this version.` },
});

/** The key and the rows must not be sent to another address. */
function refuseRedirect(url: string, { status, headers }: Response): void {
  if (status < 300 || status > 399) return;
  const target = excerpt(headers.get('location') ?? 'elsewhere');
  const what = `${url} redirects to ${target}: nothing was sent there.`;
  fail('CONFIG_INVALID', { what }, { hint: 'Say the address of the server itself with --url.' });
}

export interface RemoteTarget {
  url: string;
  key: string;
  tenant: string;
  /** Name of the import. */
  name: string;
  again: boolean;
  strict?: boolean;
  replace?: boolean;
}

/** Node's codes for certificates that it does not accept. */
const certificateError = /CERT|SELF_SIGNED|ISSUER|ALTNAME/;
const untrustedHint = 'Name the file of its certificate authority in NODE_EXTRA_CA_CERTS.';

export class RemoteImport implements ImportTarget {
  nodes = 0;
  edges = 0;
  vectors = 0;
  updated = 0;
  rejected = 0;
  resumed = 0;
  repeated = false;
  readonly doneLine = 0;
  hasListener = false;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes of all earlier parts. */
  #at = 0;

  constructor(
    private readonly to: RemoteTarget,
    private readonly onRejects: (rows: FedRow[]) => void,
  ) {}

  /** Announces the files of the rows. Older servers do not have this route. */
  async begin(files: readonly LoadedFile[]): Promise<void> {
    const query = new URLSearchParams({ name: this.to.name });
    const body = Buffer.from(JSON.stringify(files));
    const { response, answer } = await this.#post('import-files', query, body);
    if (response.status === 404) return;
    parseRemoteJson(response.ok, answer, notTrellis(this.to.url, response.status));
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= partBytes) await this.#send(true);
  }

  end(): Promise<void> {
    return this.#send(false);
  }

  async #send(isMore: boolean): Promise<void> {
    const body = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    const at = String(this.#at);
    this.#at += body.length;
    const { url, name, again, strict, replace } = this.to;
    const query = new URLSearchParams({ name, at });
    if (isMore) query.set('more', '1');
    for (const [flag, isSet] of Object.entries({ again, strict, replace })) {
      if (isSet) query.set(flag, '1');
    }
    const { response, answer } = await this.#post('import', query, body);
    const foreign = notTrellis(url, response.status);
    const reply = parseRemoteJson(response.ok, answer, foreign) as ImportReply;
    if (!Array.isArray(reply?.rejects)) throw new TrellisError(foreign);
    this.hasListener = true;
    this.nodes += reply.nodes;
    this.edges += reply.edges;
    this.vectors += reply.vectors;
    this.updated += reply.updated;
    this.rejected += reply.rejected;
    this.resumed = reply.resumed;
    this.repeated = reply.repeated;
    if (reply.rejects.length > 0) this.onRejects(reply.rejects);
  }

  async #post(
    action: string,
    query: URLSearchParams,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<{ response: Response; answer: Uint8Array }> {
    const { url, key, tenant } = this.to;
    const type = action === 'import' ? 'application/x-ndjson' : 'application/json';
    const headers: Record<string, string> = { 'Content-Type': type };
    if (key !== '') headers['x-api-key'] = key;
    if (tenant !== '') headers['trellis-tenant'] = tenant;
    const target = new URL(`/_admin/${action}?${query.toString()}`, url);
    let response: Response;
    let answer: Uint8Array;
    try {
      response = await fetch(target, { method: 'POST', headers, body, redirect: 'manual' });
      answer = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      const { cause } = error as { cause?: { code?: unknown } };
      const code = typeof cause?.code === 'string' ? cause.code : undefined;
      const what = `No server answers at ${url}${code === undefined ? '' : ` (${code})`}.`;
      const isUntrusted = code !== undefined && certificateError.test(code);
      return fail('CONFIG_INVALID', { what }, isUntrusted ? { hint: untrustedHint } : {});
    }
    refuseRedirect(url, response);
    return { response, answer };
  }
}
