// Splits a program with sharded types: the main database has all other types, and each shard has
// one sharded type with the queries about it.
// Invariant: the main database cannot store an element of a sharded type, and a shard can store
// nothing else.
import type { Migration } from '../base/migration-rule.js';
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

/**
 * Returns the program of the main database. It knows the queries about sharded types, which shards
 * run.
 */
export function mainProgram(program: Program, scattered: ReadonlySet<string>): Program {
  return part(program, (name) => !scattered.has(name), true);
}

/** Returns the program of a shard of `type`. */
export function shardProgram(program: Program, type: string): Program {
  const queries = program.queries.flatMap(({ scatter, ...query }) =>
    scatter?.type === type ? [{ ...query, plan: scatter.plan }] : [],
  );
  return { ...part(program, (name) => name === type, false), queries };
}
