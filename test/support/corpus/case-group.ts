// Cases that can share a server: same configuration, schemas that stand together. Owns the sources
// such a group is started with, and the query that empties it between two cases.
import type { Case } from './case.js';

export const resetName = 'zzReset';

/** Cases that can share a server. */
export interface CaseGroup {
  cases: Case[];
  /** What the compiler says about the queries of a case, by case id; such cases are left out. */
  refused: Map<string, string>;
}

/** Empty when the schema has nothing to delete. */
export function resetQuery(cases: Case[]): string {
  const schema = [...new Set(cases.map((one) => one.schema))].join('\n');
  const types = new Set<string>();
  for (const [, kind, name] of schema.matchAll(/\b([NV])::([A-Z]\w*)(?!\s*=>)/g))
    types.add(`${kind}<${name}>`);
  if (types.size === 0) return '';
  return `QUERY ${resetName}() => ${[...types].map((type) => `DROP ${type}`).join(' ')} RETURN NONE`;
}

export const fileOf = (one: Case) => `case-${one.id.replace(/[^\w-]/g, '_')}.hx`;

/** File name to text. */
export function sourcesOf(group: CaseGroup): Record<string, string> {
  const cases = group.cases.filter((one) => !group.refused.has(one.id));
  const sources: Record<string, string> = { 'a-schema.hx': schemaOf(group.cases) };
  const shared = group.cases[0]!.shared;
  if (shared.trim() !== '') sources['b-shared.hx'] = shared;
  for (const one of cases) if (one.queries.trim() !== '') sources[fileOf(one)] = one.queries;
  if (!group.cases[0]!.fresh) sources['zz-reset.hx'] = resetQuery(group.cases);
  return sources;
}

/** Type declarations of a schema text: kind and name to the whole text. */
function declarations(schema: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name, body] of schema.matchAll(/\b([NEV]::[A-Z]\w*)([\s\S]*?)(?=\b[NEV]::|$)/g))
    found.set(name!, body!.trim());
  return found;
}

/** Whether two schemas can stand in one project: no type is declared differently. */
function agree(a: string, b: string): boolean {
  const other = declarations(b);
  return [...declarations(a)].every(([name, body]) => [undefined, body].includes(other.get(name)));
}

/** `merge`: cases that add types of their own share a group whose schema is the union. */
export function groupsOf(cases: Case[], merge: boolean): CaseGroup[] {
  const groups: { key: string; group: CaseGroup }[] = [];
  for (const one of cases) {
    const parts = [one.shared, one.config, one.env, one.fresh && one.id];
    const key = JSON.stringify(merge ? parts : [one.schema, ...parts]);
    const fits = (each: (typeof groups)[number]) =>
      each.key === key && each.group.cases.every((other) => agree(one.schema, other.schema));
    const group: CaseGroup = groups.find(fits)?.group ?? { cases: [], refused: new Map() };
    if (group.cases.length === 0) groups.push({ key, group });
    group.cases.push(one);
  }
  return groups.map(({ group }) => group);
}

/** One project schema for cases that add types of their own. */
function schemaOf(cases: Case[]): string {
  const texts = [...new Set(cases.map((one) => one.schema))];
  if (texts.length === 1) return texts[0]!;
  const types = new Map<string, string>();
  for (const text of texts) for (const [name, body] of declarations(text)) types.set(name, body);
  return [...types].map(([name, body]) => `${name} ${body}`).join('\n');
}
