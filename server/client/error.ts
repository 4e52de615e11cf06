// What a call ends with that was refused: by the server, or before it was sent.

export interface Fault {
  error?: string;
  code?: string;
  path?: string;
  args?: Record<string, unknown>;
  hint?: string;
  errors?: unknown[];
  retryable?: boolean;
}

/** A refusal, with the code of the catalogue. Without a request it is of the client: `status` is 400. */
export class TrellisError extends Error {
  override readonly name: string = 'TrellisError';
  readonly code: string;
  readonly path?: string;
  readonly args: Record<string, unknown>;
  readonly hint?: string;
  readonly errors?: unknown[];
  readonly retryable: boolean;

  constructor(
    fault: Fault,
    readonly status: number,
    readonly requestId?: string,
  ) {
    super(fault.error ?? `status ${status}`);
    this.code = fault.code ?? 'UNKNOWN';
    this.args = fault.args ?? {};
    this.retryable = fault.retryable === true;
    const { path, hint, errors } = fault;
    Object.assign(this, {
      ...(path && { path }),
      ...(hint && { hint }),
      ...(errors && { errors }),
    });
  }
}
