// Packs the sources of a program, for the log and for the data of every node (key 07 of meta.ts).
// Invariant: the same archive compiles to the same program on all nodes of one version. A node that cannot
// compile it reports SCHEMA_AHEAD, and runs no other program in its place.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { eachChange } from '../../cluster/entry/changes.js';
import type { SourceArchive } from '../../cluster/options.js';
import { type Compilation, compile } from '../../lang/compile.js';
import type { Program } from '../../plan/program.js';
import { mainProgram, shardProgram } from '../../plan/scatter-program.js';
import type { DatabaseOptions } from '../call/options.js';
import { metaKey } from '../../storage/table/meta.js';
import { tableNames } from '../../storage/table/table-name.js';

const archiveMax = 8 * 1024 * 1024;

type VectorOptions = DatabaseOptions['vectors'];

/** Vector options that influence data and results, by type; `*` for all others. */
type VectorForms = Record<string, Record<string, unknown>>;

function formsOf({ default: defaults, types }: VectorOptions): VectorForms {
  const forms = Object.entries(types).map(([type, { metric, dimensions, store }]) => {
    const form = { metric, dimensions, store };
    return [type, form] as const;
  });
  const others = ['*', { metric: defaults.metric }] as const;
  return JSON.parse(JSON.stringify(Object.fromEntries([...forms, others].sort(byName))));
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** Checks that a node has the vector options with which its cluster was created. Fails CONFIG_INVALID. */
export function checkVectors(packed: Uint8Array, vectors: VectorOptions): void {
  const { vectors: theirs = formsOf(vectors), scattered = [] } = unpackSources(packed);
  const local = formsOf(vectors);
  for (const type of new Set([...Object.keys(theirs), ...Object.keys(local)])) {
    for (const key of ['metric', 'dimensions', 'store']) {
      const [localForm, leaderForm] = [local, theirs].map((forms) => forms[type]?.[key]);
      if (localForm === leaderForm) continue;
      // The cluster was created by a build without this option. The data are checked when they are opened.
      if (key === 'dimensions' && leaderForm === undefined && scattered.includes(type)) continue;
      const name = type === '*' ? `vectors.${key}` : `vectors.${type}.${key}`;
      const what = `\`${name}\` is ${localForm ?? 'not set'} here and ${leaderForm ?? 'not set'} in the cluster.`;
      fail('CONFIG_INVALID', { what }, { hint: 'All nodes of a cluster have the same.' });
    }
  }
}

type PackedSources = SourceArchive & { vectors?: VectorForms };

/** Fails TXN_TOO_LARGE. */
export function packSources(
  { compat, scattered, shard, sources }: SourceArchive,
  vectors?: VectorOptions,
): Uint8Array {
  const ordered = [...sources].sort((a, b) => (a.path < b.path ? -1 : 1));
  const plain = ordered.map(({ path, text }) => ({ path, text }));
  const packed = deflateRawSync(
    Buffer.from(
      JSON.stringify({
        compat,
        scattered,
        shard,
        vectors: vectors && formsOf(vectors),
        sources: plain,
      }),
    ),
  );
  if (packed.length > archiveMax) fail('TXN_TOO_LARGE', { max: archiveMax, unit: 'bytes' });
  return packed;
}

/** Compiles packed sources. Fails SCHEMA_AHEAD. */
export function programOf(packed: Uint8Array, limits: Limits): Program {
  const archive = unpackSources(packed);
  return partOf(archive, compile(archive.sources, rulesOf(archive, limits)));
}

/** Compiles packed sources with the caller's compiler. Fails SCHEMA_AHEAD. */
export async function programBy(
  packed: Uint8Array,
  limits: Limits,
  compiled: (...args: Parameters<typeof compile>) => Promise<Compilation>,
): Promise<Program> {
  const archive = unpackSources(packed);
  return partOf(archive, await compiled(archive.sources, rulesOf(archive, limits)));
}

const rulesOf = ({ compat, scattered }: PackedSources, limits: Limits) => ({
  compat,
  limits,
  ...(scattered && { scattered: new Set(scattered) }),
});

/** Fails SCHEMA_AHEAD. */
function partOf(
  { shard, scattered }: PackedSources,
  { program, diagnostics }: Compilation,
): Program {
  if (program !== undefined) {
    if (shard !== undefined) return shardProgram(program, shard);
    return scattered === undefined ? program : mainProgram(program, new Set(scattered));
  }
  const diagnostic = diagnostics.find(({ severity }) => severity === 'error');
  return fail('SCHEMA_AHEAD', {
    what: diagnostic ? `${diagnostic.file}: ${diagnostic.code}` : 'no program',
  });
}

/** Fails SCHEMA_AHEAD. */
function unpackSources(packed: Uint8Array): PackedSources {
  try {
    const text = inflateRawSync(packed, { maxOutputLength: 64 * archiveMax }).toString();
    return JSON.parse(text) as PackedSources;
  } catch {
    return fail('SCHEMA_AHEAD', { what: 'they are packed in another way' });
  }
}

const metaTable = tableNames.indexOf('meta');

/** Returns a copy of the packed sources in an entry, or undefined when it has none. */
export function sourcesIn(body: Uint8Array): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  eachChange(body, (table, key, value) => {
    const isSources = table === metaTable && Buffer.compare(key, metaKey.sources) === 0;
    if (isSources) found = value?.slice();
  });
  return found;
}
