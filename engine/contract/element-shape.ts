// Members of whole elements as replies print them. All printers of types use this description.
import { type Schema, type TypeRef, findType } from '../base/schema.js';
import {
  type HitMembers,
  nullable,
  type OutputMember,
  type OutputType,
} from '../plan/output-type.js';

const id: OutputType = { kind: 'scalar', name: 'ID' };
const number: OutputType = { kind: 'scalar', name: 'F64' };

export interface ElementForm {
  hit: HitMembers;
  /** Some elements come from a repetition, which adds their distance. */
  hops?: true;
  /** Includes the embedding of a vector. */
  data: boolean;
}

/** Returns the members in the order of the reply; a stored property may always be unset. */
export function elementMembers(schema: Schema, ref: TypeRef, form: ElementForm): OutputMember[] {
  const properties = findType(schema, ref)?.properties ?? [];
  const own = new Set(properties.map(({ name }) => name));
  const ends = ref.kind === 'edge' ? ['from_node', 'to_node'] : [];
  return [
    { name: 'id', type: id },
    { name: 'label', type: { kind: 'literal', value: ref.name } },
    ...ends.map((name) => ({ name, type: id })),
    ...[...reached(ref, form), ...searched(ref, visibleHit(ref, form))].filter(
      ({ name }) => !own.has(name),
    ),
    ...properties.map(({ name, type }) => ({ name, type: nullable(type) })),
    ...(form.data && ref.kind === 'vector' ? [dataMember] : []),
  ];
}

const dataMember: OutputMember = {
  name: 'data',
  type: { kind: 'list', of: number },
  optional: true,
};

/** Returns the members that a repetition adds. */
function reached({ kind }: TypeRef, { hops }: ElementForm): OutputMember[] {
  if (kind === 'edge' || !hops) return [];
  return [{ name: 'hops', type: { kind: 'scalar', name: 'U32' }, optional: true }];
}

/**
 * Returns the members that a search adds to elements of one type. [compat] Vectors that include their
 * embedding also have a score.
 */
export function visibleHit({ kind }: TypeRef, { hit, data }: ElementForm): HitMembers {
  if (kind !== 'vector' || !data) return hit;
  return hit === 'none' ? 'text' : hit === 'mixed' ? 'reranked' : hit;
}

/**
 * A reranked hit has a distance if a vector search found it first. Among mixed elements only some are hits.
 */
function searched({ kind }: TypeRef, hit: HitMembers): OutputMember[] {
  if (kind === 'edge' || hit === 'none') return [];
  const score: OutputMember = { name: 'score', type: number };
  if (hit === 'text') return [score];
  const distance: OutputMember = { name: 'distance', type: number };
  if (hit === 'vector') return [score, distance];
  const rest: OutputMember = { ...distance, optional: true };
  return [hit === 'mixed' ? { ...score, optional: true } : score, rest];
}
