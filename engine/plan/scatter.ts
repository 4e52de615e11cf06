// Plans queries over a vector type that is divided over several databases: whether shards can run
// the query, which plan each shard runs, and how their results are merged.
// Invariant: a query is rejected unless the merged result is known to equal that of one database.
import type { Expression, Member, Pipeline, Source } from './expression.js';
import type { EmbeddedText, MergedMember, Merge } from './scatter-merge.js';
import type { Parameter, Plan, Scatter, Statement } from './plan.js';
import { eachPart, renameSlot, rewriter } from './rewrite.js';

export interface ScatterRefusal {
  code: 'X_SCATTER_HOP' | 'X_SCATTER_WRITE';
  why: string;
}

type Node = Record<string, unknown> & { kind?: string };

/** Returns the names of the types that a part uses. */
function listTypes({ type, types, others, edges }: Node): string[] {
  const all = [type, types, others, edges].flat();
  return all.flatMap((one) => {
    if (typeof one === 'string') return [one];
    const name = (one as { name?: unknown } | undefined)?.name;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Sources, steps and writes that read more than the current item. */
const reaching = new Set(
  'scan byId lookup searchVector searchText searchAnyVector batch set fuse items neighbours edges expand end origin intersect searchWithin upsertNode upsertVector addNode addVector addVectors addEdge upsertEdge shortestPath'.split(
    ' ',
  ),
);

/** Returns undefined if the query does not use a sharded type. */
export function planScatter(
  plan: Plan,
  types: ReadonlySet<string>,
): Scatter | ScatterRefusal | undefined {
  const parts: Node[] = [];
  eachPart([plan.statements, plan.output], (part) => parts.push(part));
  const spoken = new Set(parts.filter(({ kind }) => reaching.has(kind!)).flatMap(listTypes));
  const scattered = [...spoken].filter((name) => types.has(name));
  const [type] = scattered;
  if (type === undefined) return undefined;
  const code = plan.writes ? 'X_SCATTER_WRITE' : 'X_SCATTER_HOP';
  if (spoken.size > 1) {
    const other = [...spoken].find((name) => name !== type)!;
    return {
      code,
      why: `it also speaks of \`${other}\`, which is not on the shards of \`${type}\``,
    };
  }
  const one = oneShard(plan, parts);
  if (one !== undefined) return { type, plan, merge: one };
  if (plan.writes) return { code, why: 'it does not change one element alone' };
  try {
    return { type, ...new Division(plan).divide() };
  } catch (error) {
    if (error instanceof Indivisible) return { code, why: error.message };
    throw error;
  }
}

/** Plans a query about the element of one id, or one that creates one element. */
function oneShard(plan: Plan, parts: readonly Node[]): Merge | undefined {
  const reached = parts.filter(({ kind }) => reaching.has(kind!));
  if (plan.statements.some(({ kind }) => kind === 'for')) return undefined;
  const [first] = reached;
  if (reached.length === 1 && first!.kind === 'addVector') return { kind: 'one' };
  const ids = reached.map(({ kind, id }) => {
    const expression = id as Expression | undefined;
    return kind === 'byId' && expression?.kind === 'parameter' ? expression.index : -1;
  });
  if (ids[0] === undefined || ids[0] < 0 || ids.some((id) => id !== ids[0])) return undefined;
  return { kind: 'one', id: plan.parameters[ids[0]]!.name };
}

const vectorParameter = {
  type: { kind: 'list' as const, of: { kind: 'scalar' as const, name: 'F64' as const } },
  optional: false,
  vector: true,
};

const momentParameter: Parameter = {
  name: 'moment of the call',
  type: { kind: 'scalar', name: 'Date' },
  optional: false,
  vector: false,
};

class Indivisible extends Error {
  override readonly name = 'Indivisible';
}

const refuse = (why: string): never => {
  throw new Indivisible(why);
};

type Search = Extract<Source, { kind: 'searchVector' | 'searchText' }>;

/** A ranked list: a search and the steps on its hits. */
interface Ranked {
  search: Pipeline;
  where: { slot: number; value: Expression }[];
}

class Division {
  readonly #bound = new Map<number, Expression>();
  readonly #output: { key: string; value: Expression }[] = [];
  readonly #texts: EmbeddedText[] = [];
  /**
   * Parameters of the shards after those of the query: values that are computed once for all
   * shards.
   */
  readonly #made: Parameter[] = [];
  /** Slots of variables that depend on no data: every shard computes them. */
  readonly #constantSlots = new Set<number>();
  readonly #statements: Statement[] = [];
  #slots: number;

  constructor(private readonly plan: Plan) {
    this.#slots = plan.slotCount;
  }

  divide(): { plan: Plan; merge: Merge } {
    const { plan } = this;
    for (const statement of plan.statements) {
      if (statement.kind !== 'bind') return refuse('it has other statements than assignments');
      this.#bound.set(statement.slot, statement.value);
      if (this.#leaves(statement.value)) continue;
      this.#constantSlots.add(statement.slot);
      this.#statements.push({ ...statement, value: this.#embedded(statement.value) });
    }
    if (plan.output.kind !== 'object') return refuse('its answer is not an object');
    const members = plan.output.members.map(({ key, value }, i) => this.#member(key, value, i));
    const output = { kind: 'object' as const, members: this.#output };
    const parameters = [...plan.parameters, ...this.#made];
    const shard = {
      ...plan,
      parameters,
      statements: this.#statements,
      output,
      embeds: [],
      slotCount: this.#slots,
    };
    const { model } = plan;
    const moment = this.#made.includes(momentParameter) && { moment: momentParameter.name };
    const texts = this.#texts;
    const merge: Merge = { kind: 'all', members, texts, ...moment, ...(model && { model }) };
    return { plan: shard, merge };
  }

  /**
   * Returns the expression with parameters instead of texts to embed, and with the one NOW of all
   * shards.
   */
  #embedded(value: Expression): Expression {
    return rewriter((part) => {
      if (part.kind === 'embed') return this.#bindVector(part);
      return part.kind === 'now' ? this.#madeOnce(momentParameter) : part;
    })(value);
  }

  #madeOnce(parameter: Parameter): Expression {
    let at = this.#made.indexOf(parameter);
    if (at < 0) at = this.#made.push(parameter) - 1;
    return { kind: 'parameter', index: this.plan.parameters.length + at };
  }

  #bindVector(embed: Extract<Expression, { kind: 'embed' }>): Expression {
    const { parameters } = this.plan;
    const text = this.#resolve(embed.text);
    const ofType = {
      ...(embed.type !== undefined && { type: embed.type }),
      ...(embed.isQuery && { isQuery: embed.isQuery }),
    };
    const vector = `vector of text ${this.#texts.length}`;
    if (text.kind === 'literal' && typeof text.value === 'string') {
      this.#texts.push({ vector, ...ofType, text: text.value });
    } else if (text.kind === 'parameter') {
      const { name, default: defaultValue } = parameters[text.index]!;
      const otherwise = defaultValue?.kind === 'literal' ? String(defaultValue.value) : undefined;
      const absent = otherwise === undefined ? {} : { text: otherwise };
      this.#texts.push({ vector, ...ofType, parameter: name, ...absent });
    } else {
      return refuse('it embeds something else than a parameter or a text');
    }
    return this.#madeOnce({ ...vectorParameter, name: vector });
  }

  /** Returns the value of a variable. */
  #resolve(value: Expression): Expression {
    const bound = value.kind === 'slot' ? this.#bound.get(value.slot) : undefined;
    if (bound !== undefined) return this.#resolve(bound);
    if (value.kind !== 'pipeline' || value.source.kind !== 'value') return value;
    const of = this.#resolve(value.source.of);
    if (of.kind !== 'pipeline') return value;
    return { ...of, steps: [...of.steps, ...value.steps], result: value.result };
  }

  /**
   * Returns true if a value reads more than parameters, variables in `#kept` and the current item.
   */
  #leaves(value: Expression): boolean {
    let leaves = false;
    eachPart(value, ({ kind, slot }) => {
      if (kind === 'pipeline' || kind === 'with' || reaching.has(kind as string)) leaves = true;
      const isNamed = kind === 'slot' && this.#bound.has(slot as number);
      if (isNamed && !this.#constantSlots.has(slot as number)) leaves = true;
    });
    return leaves;
  }

  /**
   * Returns the expression as a shard evaluates it. Rejects an expression that reads more than its
   * hit.
   */
  #alone<E extends Expression>(value: E, where: string): E {
    if (this.#leaves(value)) refuse(`${where} leaves the hit it is about`);
    return this.#embedded(value) as E;
  }

  /** Adds a value that depends on no data to the reply of a shard. */
  #addConstant(key: string, value: Expression): void {
    this.#output.push({ key, value: this.#alone(value, 'a member of its answer') });
  }

  #member(key: string, value: Expression, index: number): MergedMember {
    let list = this.#resolve(value);
    let shape: { slot: number; members: readonly Member[] } | undefined;
    if (list.kind === 'project') {
      shape = { slot: list.slot, members: list.members };
      list = this.#resolve(list.of);
    }
    if (list.kind !== 'pipeline') {
      this.#addConstant(String(index), value);
      return { kind: 'same', key };
    }
    if (list.result !== 'many') return refuse('it takes one hit of many');
    if (list.source.kind === 'fuse') return this.#fused(key, list, shape, index);
    const steps = [...list.steps];
    const last = steps.at(-1);
    const rerank = last?.kind === 'rerankRRF' ? last : undefined;
    if (rerank !== undefined) {
      steps.pop();
      this.#addConstant(`${index}.n`, rerank.k ?? { kind: 'literal', value: 60 });
    }
    const ranked = splitRanked({ ...list, steps });
    const rank = rerank === undefined ? 'score' : 'rerank';
    const parts = this.#addHits(ranked, shape, rank, `${index}`, 0);
    return { kind: 'hits', key, lists: 1, rank, ...(parts && { parts }) };
  }

  #fused(
    key: string,
    { source, steps }: Pipeline,
    shape: { slot: number; members: readonly Member[] } | undefined,
    index: number,
  ): MergedMember {
    if (source.kind !== 'fuse' || steps.length > 0) return refuse('it goes on behind a fusion');
    if (source.by !== undefined) return refuse('it groups hits by other elements');
    const sixty: Expression = { kind: 'literal', value: 60 };
    this.#addConstant(`${index}.n`, source.k ?? sixty);
    if (source.weights !== null) this.#addConstant(`${index}.w`, source.weights);
    let found: readonly { name: string; isScore: boolean }[] | undefined;
    for (const [i, of] of source.of.entries()) {
      const list = this.#resolve(of);
      if (list.kind !== 'pipeline') return refuse('it fuses something else than searches');
      found = this.#addHits(splitRanked(list), shape, 'fuse', `${index}`, i);
    }
    return {
      kind: 'hits',
      key,
      lists: source.of.length,
      rank: 'fuse',
      ...(found && { parts: found }),
    };
  }

  /** Adds the hits of a search, and the wanted number of hits, to the reply of a shard. */
  #addHits(
    { search, where }: Ranked,
    shape: { slot: number; members: readonly Member[] } | undefined,
    rank: 'score' | 'rerank' | 'fuse',
    prefix: string,
    at: number,
  ) {
    const { source } = search;
    if (source.kind !== 'searchVector' && source.kind !== 'searchText') {
      return refuse('it does not begin with a search');
    }
    if (source.by !== undefined) return refuse('it groups hits by other elements');
    const slot = this.#slots++;
    const item: Expression = { kind: 'slot', slot };
    const own = (name: string): Expression => ({ kind: 'property', of: item, name });
    const members: Member[] = [
      { kind: 'value', name: 's', value: own('score') },
      { kind: 'value', name: 'i', value: own('id') },
    ];
    // Vector hits are ordered by distance, which separates hits with equal scores.
    if (source.kind === 'searchVector') {
      members.push({ kind: 'value', name: 'd', value: own('distance') });
    }
    if (where.length > 0) {
      const of = where.map((one) => {
        return renameSlot(this.#alone(one.value, 'its WHERE'), one.slot, slot);
      });
      members.push({ kind: 'value', name: 'w', value: { kind: 'and', of } });
    }
    const shown = shape?.members.map((member) => this.#shown(member, shape.slot, slot));
    const parts = rank === 'score' ? undefined : splitParts(shown, slot, members);
    if (parts === undefined) {
      const value: Expression =
        shown === undefined
          ? item
          : { kind: 'project', of: item, slot: this.#slots++, members: [] };
      if (value.kind === 'project') {
        value.members = shown!.map((member) => this.#shown(member, slot, value.slot));
      }
      members.push({ kind: 'value', name: 'v', value });
    }
    const sharded = this.#shardSearch(source);
    this.#output.push({ key: `${prefix}.k${at}`, value: sharded.k });
    const hits: Expression = { kind: 'project', of: { ...search, source: sharded }, slot, members };
    this.#output.push({ key: `${prefix}.l${at}`, value: hits });
    return parts;
  }

  /** Returns the search as a shard runs it. */
  #shardSearch(source: Search): Search {
    const k = this.#alone(source.k, 'its number of hits');
    const { prefilter } = source;
    const prefiltered = prefilter && {
      prefilter: { ...prefilter, value: this.#alone(prefilter.value, 'its PREFILTER') },
    };
    const lowest = source.scoreMin && {
      scoreMin: this.#alone(source.scoreMin, 'its lowest score'),
    };
    const options = { ...prefiltered, ...lowest, k };
    if (source.kind === 'searchText') {
      const mode = source.mode && { mode: this.#alone(source.mode, 'its mode') };
      const prefix = source.prefix && { prefix: this.#alone(source.prefix, 'its prefix') };
      const text = this.#alone(source.text, 'its text');
      return { ...source, ...options, ...mode, ...prefix, text };
    }
    const width = source.ef && { ef: this.#alone(source.ef, 'its width') };
    const vector = this.#alone(source.vector, 'its vector');
    return { ...source, ...options, ...width, vector };
  }

  #shown(member: Member, from: number, to: number): Member {
    if (member.kind !== 'value') return member;
    return { ...member, value: renameSlot(this.#alone(member.value, 'its shape'), from, to) };
  }
}

/** Splits a pipeline into a search and the conditions on its hits. */
function splitRanked(list: Pipeline): Ranked {
  const where = list.steps.map((step) =>
    step.kind === 'where'
      ? step.condition
      : refuse('it does more with the hits than conditions, a shape and RerankRRF'),
  );
  return { search: { ...list, steps: [] }, where };
}

/**
 * Returns the members of an item and marks those whose score the merge computes; the shard computes
 * the others.
 */
function splitParts(shown: readonly Member[] | undefined, slot: number, members: Member[]) {
  if (shown === undefined) return refuse('it answers hits whole that were ranked anew');
  return shown.map((member, i) => {
    if (member.kind !== 'value') return refuse('it spreads hits that were ranked anew');
    const { name, value } = member;
    const isScore = readsScore(value, slot);
    if (isScore && !(value.kind === 'property' && value.name === 'score')) {
      return refuse('it reckons with a score that was ranked anew');
    }
    if (!isScore) members.push({ kind: 'value', name: `p${i}`, value });
    return { name, isScore };
  });
}

function readsScore(value: Expression, slot: number): boolean {
  let reads = false;
  eachPart(value, ({ kind, name, of }) => {
    const at = of as Expression | undefined;
    if (kind === 'property' && name === 'score' && at?.kind === 'slot' && at.slot === slot)
      reads = true;
  });
  return reads;
}

/** Returns true if shards can run the query. */
export const isScatter = (found: Scatter | ScatterRefusal): found is Scatter => 'plan' in found;
