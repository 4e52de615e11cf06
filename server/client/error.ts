// Defines the error of a call that the server refused, or that was refused before it was sent.

export interface ErrorBody {
  error?: string;
  code?: string;
  path?: string;
  args?: Record<string, unknown>;
  hint?: string;
  errors?: unknown[];
  retryable?: boolean;
}

/**
 * Members that all error classes of TrellisDB have: this class, that of the engine, and copies of both.
 */
const brand: unique symbol = Symbol.for('trellisdb.TrellisError');

/**
 * A refused call, with its code in the catalog. If the client refused it before a request, `status` is
 * 400. `instanceof` of this class is also true for errors of the engine in the same process.
 */
export class TrellisError extends Error {
  override readonly name: string = 'TrellisError';
  declare readonly code: string;
  declare readonly path?: string;
  declare readonly args: Record<string, unknown>;
  declare readonly hint?: string;
  declare readonly errors?: unknown[];
  declare readonly retryable: boolean;

  constructor(
    body: ErrorBody,
    readonly status: number,
    readonly requestId?: string,
  ) {
    super(body.error ?? `status ${status}`);
    this.code = body.code ?? 'UNKNOWN';
    this.args = body.args ?? {};
    this.retryable = body.retryable === true;
    const { path, hint, errors } = body;
    if (path) this.path = path;
    if (hint) this.hint = hint;
    if (errors) this.errors = errors;
  }

  get [brand](): true {
    return true;
  }

  /**
   * Recognizes errors of all copies and of both classes. A subclass recognizes only its own instances.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.hasOwn(this.prototype, brand)
      ? brand in Object(value)
      : super[Symbol.hasInstance](value);
  }

  /** The members of an error of the engine. */
  get data(): { [member in keyof ErrorBody]: ErrorBody[member] | undefined } {
    const { code, args, path, hint } = this;
    return { code, args, path, hint };
  }
}
