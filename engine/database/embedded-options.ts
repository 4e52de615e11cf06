// Checks every option of `open` and completes it with the defaults, at every depth.
import { TrellisError } from '../base/errors.js';
import { languageNames } from '../base/text/language-name.js';
import { defaultLimits, limitTable } from '../base/limits.js';
import type { ClusterOptions } from '../cluster/options.js';
import type { Embedder } from '../embed/embedder.js';
import { withValidation } from '../embed/own-embedder.js';
import { createEmbedder } from '../embed/create-embedder.js';
import type { DatabaseOptions } from './call/options.js';
import { choice, integer, list, one, record, shape } from './option-schema.js';

const { callback, flag, source, text } = one;

/** Options without a default. */
type ClusterAddress = Pick<ClusterOptions, 'log' | 'node' | 'advertise'>;

type Nested = 'program' | 'limits' | 'vectors' | 'snapshot' | 'cluster' | 'embedder';

/**
 * Options of `open`. `dataDir` and `sources` are required; all others have a default.
 *
 * @example
 * const options: OpenOptions = {
 *   dataDir: './data',
 *   sources: [{ path: 'app.hx', text: 'QUERY hello(name: String) => RETURN name' }],
 *   limits: { query_time: 2_000 },
 * };
 */
export interface OpenOptions extends Partial<Omit<DatabaseOptions, Nested>> {
  dataDir: string;
  /** HelixQL source texts. `path` names them in diagnostics. */
  sources: { path: string; text: string }[];
  /** `helix-2` prints replies in the form of HelixDB 2. */
  compat?: 'trellis' | 'helix-2';
  /** Type of I64, U64 and U128 in the results of `call`, unless the call sets its own. */
  int64?: 'bigint' | 'string';
  /** Your own embedding model. It gets every text, whatever model is named. */
  embedder?: Embedder;
  /** Credentials and base URLs of embedding providers, by variable name. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Members that are left out keep their defaults, as in `vectors` and `snapshot`. */
  limits?: Partial<DatabaseOptions['limits']>;
  vectors?: Partial<Omit<DatabaseOptions['vectors'], 'default'>> & {
    default?: Partial<DatabaseOptions['vectors']['default']>;
  };
  snapshot?: Partial<DatabaseOptions['snapshot']>;
  /** Cluster to which the data belong. */
  cluster?: ClusterAddress & Partial<ClusterOptions>;
}

const bytes = integer(0, Number.MAX_SAFE_INTEGER);

const sourceList = list(shape({ path: text, text: source }, ['path', 'text']));

/** Fails PARAM_MISSING, PARAM_TYPE, UNKNOWN_MEMBER. */
export const checkSources = (sources: unknown): void => sourceList(sources, 'sources');

const indexMembers = {
  metric: choice('cosine', 'dot', 'l2'),
  m: integer(2, 128),
  efConstruction: integer(4, 4_096),
  efSearch: integer(1, 10_000),
  layout: choice('auto', 'fast', 'compact', 'flat'),
  resident: flag,
  exact: flag,
  memoryBytes: bytes,
};

const limits = Object.entries(limitTable).map(([name, { hardMax }]) => [name, integer(0, hardMax)]);

const check = shape(
  {
    dataDir: text,
    sources: sourceList,
    compat: choice('trellis', 'helix-2'),
    int64: choice('bigint', 'string'),
    environment: record(() => undefined),
    limits: shape(Object.fromEntries(limits)),
    workers: integer(0, 64),
    embedder: shape({ embed: callback, embedEach: callback, identify: callback }, ['embed']),
    embeddingModel: text,
    vectors: shape({
      default: shape(indexMembers),
      types: record(
        shape({
          ...indexMembers,
          dimensions: integer(1, 65_535),
          embeddingModel: text,
          store: choice('f64', 'f32'),
        }),
      ),
      segmentBytes: bytes,
    }),
    textEnabled: flag,
    textLanguage: choice(...languageNames),
    strictMembers: flag,
    readOnly: flag,
    maxBytes: bytes,
    ballastBytes: bytes,
    minFreeBytes: bytes,
    snapshot: shape({
      intervalMs: integer(1, Number.MAX_SAFE_INTEGER),
      afterWrites: integer(1, Number.MAX_SAFE_INTEGER),
      keep: integer(1, 16),
    }),
    workerHeapMb: integer(16, 2 ** 20),
    processBytes: bytes,
    cluster: shape(
      {
        log: text,
        name: text,
        node: text,
        advertise: text,
        role: choice('member', 'reader'),
        leaseMs: integer(100, 60_000),
        appendTimeoutMs: integer(100, 600_000),
        waitMs: integer(0, 60_000),
        maxLagMs: integer(1, Number.MAX_SAFE_INTEGER),
        keepMs: integer(1000, Number.MAX_SAFE_INTEGER),
        keepBytes: bytes,
        schemaBytes: bytes,
        skipVectors: list(text),
        secrets: list(text),
        tokenFile: text,
        tls: shape({ ca: text, cert: text, key: text }),
      },
      ['log', 'node', 'advertise'],
    ),
    failpoint: text,
    onProgress: callback,
    log: callback,
  },
  ['dataDir', 'sources'],
);

const defaultIndex: DatabaseOptions['vectors']['default'] = {
  metric: 'cosine',
  m: 16,
  efConstruction: 128,
  efSearch: 128,
  layout: 'auto',
  exact: false,
  memoryBytes: 2 ** 32,
};

const defaults = {
  workers: 0,
  textEnabled: true,
  textLanguage: 'english' as const,
  strictMembers: false,
  readOnly: false,
  minFreeBytes: 2 ** 30,
  workerHeapMb: 1024,
  log: () => {},
};

const defaultCluster = {
  role: 'member' as const,
  leaseMs: 3000,
  appendTimeoutMs: 20_000,
  waitMs: 1000,
  maxLagMs: 10_000,
  keepMs: 86_400_000,
  keepBytes: 2 ** 36,
  schemaBytes: 2 ** 28,
};

const clusterAddress = ({ log, node, advertise }: ClusterAddress): ClusterAddress => ({
  log,
  node,
  advertise,
});

/** Returns the base with the members of `input` replaced, at every depth. */
function over<T extends object>(base: T, overrides: object | undefined): T {
  const present = Object.entries(overrides ?? {}).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(present) };
}

const needed = ['options', 'dataDir', 'sources'];

/** Runs `check`. Adds an example to the error if a required option is missing or wrong. */
function withExample(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    const { code, args } = error.data;
    const isMissing = /^PARAM_(MISSING|TYPE)$/.test(code) && needed.includes(String(args.param));
    if (!isMissing) throw error;
    const hint = "Example: open({ dataDir: './data', sources: [{ path: 'app.hx', text }] }).";
    throw new TrellisError({ code, args, hint });
  }
}

/** Fails PARAM_MISSING, PARAM_TYPE, PARAM_RANGE, PARAM_VALUE, UNKNOWN_MEMBER. */
export function completeOptions(options: OpenOptions): Omit<DatabaseOptions, 'program'> {
  withExample(() => check(options, 'options'));
  const { sources: _, compat: __, int64: ___, environment, vectors, cluster, ...rest } = options;
  const { dataDir } = options;
  const embedder =
    options.embedder === undefined
      ? createEmbedder({
          environment: environment ?? {},
          timeoutMs: 30_000,
          retries: 3,
          cacheEntries: 1024,
          allowPrivate: false,
        })
      : withValidation(options.embedder);
  const { segmentBytes, types = {} } = vectors ?? {};
  const nested = {
    dataDir,
    embedder,
    limits: over(defaultLimits, options.limits),
    vectors: {
      default: over(defaultIndex, vectors?.default),
      types: over({}, Object.fromEntries(Object.entries(types).map(([k, v]) => [k, over({}, v)]))),
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
    },
    ...(cluster && {
      cluster: over<ClusterOptions>({ ...defaultCluster, ...clusterAddress(cluster) }, cluster),
    }),
    snapshot: over({ intervalMs: 300_000, afterWrites: 50_000, keep: 2 }, options.snapshot),
  };
  return { ...over(defaults, rest), ...nested };
}
