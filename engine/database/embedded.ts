// The engine inside a Node program, without HTTP: cheap reads run on the caller's thread, writes go
// through the writer lane and are durable when their promise resolves. Same compiler, same plans,
// same answers as over HTTP.
import { fail } from '../base/errors.js';
import { defaultLimits } from '../base/limits.js';
import { createEmbedder } from '../embed/create-embedder.js';
import { compile } from '../lang/compile.js';
import { type Diagnostic, printDiagnostic } from '../lang/diagnostic.js';
import type { Database, DatabaseOptions } from './database.js';
import { openDatabase } from './open.js';

export interface OpenOptions extends Partial<Omit<DatabaseOptions, 'program'>> {
  dataDir: string;
  /** HelixQL texts; `path` names them in diagnostics. */
  sources: { path: string; text: string }[];
  /** `helix-2` gives HelixDB 2's reply shapes. */
  compat?: 'trellis' | 'helix-2';
  /** Credentials and base URLs of embedding providers, by variable name. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** What a query takes: JSON values, and bigint for integers beyond 2^53. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface EmbeddedDatabase {
  /** The reply as an object. Numbers beyond 2^53 lose digits here: use `callBytes` for those. */
  call<T = Record<string, unknown>>(name: string, args?: Arguments): Promise<T>;
  /** The reply as JSON bytes, exact. Returns at once when the read ran on this thread. */
  callBytes(name: string, args?: Arguments): Uint8Array | Promise<Uint8Array>;
  /** The full interface: session plans, reload, status, metrics. */
  readonly database: Database;
  close(): Promise<void>;
}

const standardVectors: DatabaseOptions['vectors'] = {
  default: {
    metric: 'cosine',
    m: 16,
    efConstruction: 128,
    efSearch: 128,
    layout: 'auto',
    exact: false,
    memoryBytes: 2 ** 32,
  },
  types: {},
};

/** Opens a database inside this process. Fails SOURCE_INVALID with the pictures of all errors. */
export async function open(options: OpenOptions): Promise<EmbeddedDatabase> {
  const { sources, compat, environment, ...rest } = options;
  const compiled = compile(sources, { compat: compat === 'helix-2' });
  if (compiled.program === undefined) refuse(compiled.diagnostics, sources);
  const database = await openDatabase({
    limits: defaultLimits,
    workers: 0,
    embedder: createEmbedder({
      environment: environment ?? {},
      timeoutMs: 30_000,
      retries: 3,
      cacheEntries: 1024,
      allowPrivate: false,
    }),
    vectors: standardVectors,
    textEnabled: true,
    strictMembers: false,
    readOnly: false,
    minFreeBytes: 2 ** 30,
    snapshot: { intervalMs: 300_000, afterWrites: 50_000, keep: 2 },
    workerHeapMb: 1024,
    log: () => {},
    ...rest,
    program: compiled.program,
  });
  const callBytes: EmbeddedDatabase['callBytes'] = (name, args) =>
    database.call(name, args === undefined ? new Uint8Array(0) : encode(args));
  return {
    database,
    callBytes,
    async call(name, args) {
      return JSON.parse(decoder.decode(await callBytes(name, args)));
    },
    close: () => database.close(),
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bigintMark = '\u0000n';
const marked = /"\\u0000n(-?\d+)"/g;

/** JSON text of arguments; a bigint becomes its bare digits. */
function encode(args: Arguments): Uint8Array {
  let isExact = true;
  const text = JSON.stringify(args, (_, value) => {
    if (typeof value !== 'bigint') return value;
    isExact = false;
    return `${bigintMark}${value}`;
  });
  return encoder.encode(isExact ? text : text.replace(marked, '$1'));
}

function refuse(diagnostics: readonly Diagnostic[], sources: OpenOptions['sources']): never {
  const pictures = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((diagnostic) => {
      const source = sources.find(({ path }) => path === diagnostic.file);
      return printDiagnostic(diagnostic, source?.text ?? '');
    });
  return fail('SOURCE_INVALID', { what: `The sources are refused.\n${pictures.join('\n')}` });
}
