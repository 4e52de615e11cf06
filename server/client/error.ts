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

  get [brand](): true {
    return true;
  }
  /** What the errors of the engine are made of. */
  get data(): Fault {
    const { code, args, path, hint } = this;
    return { code, args, ...(path && { path }), ...(hint && { hint }) };
  }
}

/** Errors of all copies and of both classes are known; a subclass knows its own instances only. */
function isBranded(this: { prototype: object }, value: unknown): boolean {
  if (!Object.hasOwn(this.prototype, brand))
    return Function.prototype[Symbol.hasInstance].call(this as () => void, value);
  return typeof value === 'object' && value !== null && brand in value;
}
Object.defineProperty(TrellisError, Symbol.hasInstance, { value: isBranded });
