// What a program with scattered types is to the databases that hold its data: the main one has all other
// types, each shard has its one type and the queries about it. Invariant: no element of a scattered type
// can be stored beside the shards, and nothing but it on them.
import type { Migration } from '../base/migration.js';
import type { Schema } from '../base/schema.js';
import type { Program } from './program.js';

function part(program: Program, keeps: (vector: string) => boolean, whole: boolean): Program {
  const schemaOf = (schema: Schema): Schema => ({
    ...schema,
    nodes: whole ? schema.nodes : [],
    edges: whole ? schema.edges : [],
    vectors: schema.vectors.filter(({ name }) => keeps(name)),
  });
  const migrationOf = (migration: Migration): Migration => ({
    ...migration,
    types: migration.types.filter(({ kind, to }) => (kind === 'vector' ? keeps(to) : whole)),
  });
  return {
    ...program,
    schema: schemaOf(program.schema),
    olderSchemas: program.olderSchemas.map(schemaOf),
    migrations: program.migrations.map(migrationOf),
  };
}

/** Of the main database: queries about scattered types are known, and answered by shards. */
export function mainProgram(program: Program, scattered: ReadonlySet<string>): Program {
  return part(program, (name) => !scattered.has(name), true);
}

/** Of a shard of `type`. */
export function shardProgram(program: Program, type: string): Program {
  const queries = program.queries.flatMap(({ scatter, ...query }) =>
    scatter?.type === type ? [{ ...query, plan: scatter.plan }] : [],
  );
  return { ...part(program, (name) => name === type, false), queries };
}
