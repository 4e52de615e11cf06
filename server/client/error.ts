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

/** What all classes of TrellisDB's errors have: this one, that of the engine, copies of both. */
const brand: unique symbol = Symbol.for('trellisdb.TrellisError');

/**
 * A refusal, with the code of the catalogue. Without a request it is of the client: `status` is 400. The
 * `instanceof` of this class knows errors of the engine inside the process too.
 */
export class TrellisError extends Error {
  override readonly name: string = 'TrellisError';
  readonly [brand] = true;
  declare readonly code: string;
  declare readonly path?: string;
  declare readonly args: Record<string, unknown>;
  declare readonly hint?: string;
  declare readonly errors?: unknown[];
  declare readonly retryable: boolean;

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
    if (path) this.path = path;
    if (hint) this.hint = hint;
    if (errors) this.errors = errors;
  }

  /** Errors of all copies and of both classes are known; a subclass knows its own instances only. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === TrellisError ? brand in Object(value) : super[Symbol.hasInstance](value);
  }

  /** What the errors of the engine are made of. */
  get data(): { [member in keyof Fault]: Fault[member] | undefined } {
    const { code, args, path, hint } = this;
    return { code, args, path, hint };
  }
}
