// The members of whole elements, as they are printed (http.md 4.1): what every printer of types says
// of an element, in one place.
import { type Schema, type TypeRef, typeOf } from '../base/schema.js';
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
  /** Some come from a repetition, which says how far they are. */
  hops?: true;
  /** With the embedding of a vector. */
  data: boolean;
}

/** Members in the order of the reply; a stored property may always be unset. */
export function elementMembers(schema: Schema, ref: TypeRef, form: ElementForm): OutputMember[] {
  const properties = typeOf(schema, ref)?.properties ?? [];
  const own = new Set(properties.map(({ name }) => name));
  const ends = ref.kind === 'edge' ? ['from_node', 'to_node'] : [];
  return [
    { name: 'id', type: id },
    { name: 'label', type: { kind: 'literal', value: ref.name } },
    ...ends.map((name) => ({ name, type: id })),
    ...[...reached(ref, form), ...searched(ref, hitOf(ref, form))].filter(
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

/** What a repetition sets. */
function reached({ kind }: TypeRef, { hops }: ElementForm): OutputMember[] {
  if (kind === 'edge' || !hops) return [];
  return [{ name: 'hops', type: { kind: 'scalar', name: 'U32' }, optional: true }];
}

/** What a search has set on elements of one type; where vectors carry their embedding, [compat], each has a score. */
export function hitOf({ kind }: TypeRef, { hit, data }: ElementForm): HitMembers {
  if (kind !== 'vector' || !data) return hit;
  return hit === 'none' ? 'text' : hit === 'mixed' ? 'reranked' : hit;
}

/**
 * What a search sets. A reranked hit has a distance when a vector search found it first; of mixed
 * elements only some are hits.
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
