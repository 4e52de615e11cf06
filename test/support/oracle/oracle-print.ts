// The oracle's answers as trees of JSON values: elements, records and groups with their members in
// order; [compat] by the form of the value (plan/print-form.ts), written apart from the engine.
import { printDate } from '../../../engine/base/date.js';
import type { PropertyType } from '../../../engine/base/schema.js';
import { Instant, Uuid } from '../../../engine/base/value.js';
import type { Form } from '../../../engine/plan/print-form.js';
import type { Plan } from '../../../engine/plan/plan.js';
import { membersOf, type Run } from './oracle-run.js';
import { isList, Item, Rec, type Value } from './oracle-value.js';

/** [compat] A group that knows what it was grouped by. */
export class GroupRec extends Rec {
  constructor(
    entries: Rec['entries'],
    readonly keys: readonly (readonly [name: string, value: Value])[],
    readonly items: readonly Value[],
  ) {
    super(entries);
  }

  override get(name: string): Value {
    const items = ['data', '#rows'].map((name) => [name, this.items] as const);
    const beside = [...this.entries, ...this.keys, ...items];
    return beside.find(([own]) => own === name)?.[1] ?? null;
  }
}

/** A float that prints with a fraction. */
export class Fraction {
  constructor(readonly value: number) {}
}

type Leaf = null | boolean | number | bigint | string | Fraction;

/** An answer: JSON values, numbers exact, objects as maps in order of their members. */
export type Tree = Leaf | Tree[] | ReadonlyMap<string, Tree>;

export interface Style {
  /** Whole vectors show their embedding. */
  data: boolean;
  /** [compat] Whole vectors have HelixDB 2's members. */
  helix: boolean;
  fractions: boolean;
}

export function styleOf({ compat, fractions, output }: Plan): Style {
  const isItems = output.kind === 'items';
  const data = (output.kind === 'bare' || isItems) && output.data;
  return { data, helix: compat && !isItems, fractions: compat || fractions === true };
}

const float: Form = { kind: 'float' };

export function treeOf(run: Run, value: Value, style: Style, form?: Form): Tree {
  if (typeof value === 'number') return form?.kind === 'float' ? new Fraction(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) {
    if (form?.kind === 'groups') return groupsOf(run, value as readonly GroupRec[], style, form);
    const inner = form?.kind === 'list' ? form.of : form;
    return value.map((item) => treeOf(run, item, style, inner));
  }
  if (value instanceof Instant) return printDate(value);
  if (value instanceof Uuid) return value.text;
  if (value instanceof Item) return new Map(itemEntries(run, value, style));
  const forms = form?.kind === 'record' ? form.members : new Map<string, Form>();
  return recordOf(run, value.entries, style, forms);
}

function recordOf(
  run: Run,
  entries: Rec['entries'],
  style: Style,
  forms: ReadonlyMap<string, Form>,
): Tree {
  return new Map(entries.map(([name, of]) => [name, treeOf(run, of, style, forms.get(name))]));
}

function itemEntries(run: Run, item: Item, style: Style): [string, Tree][] {
  const { vector, score } = item;
  const entries = membersOf(run, item, []).map(([name, value]): [string, Tree] => {
    return [name, treeOf(run, value, style, memberForm(item, name, style))];
  });
  if (vector === undefined || !(style.data || style.helix)) return entries;
  const isShown = style.data || score !== undefined || item.fresh;
  const shown = isShown ? vector : [];
  entries.push(['data', treeOf(run, shown, style, style.fractions ? float : undefined)]);
  if (style.helix && score === undefined) entries.push(['score', new Fraction(2)]);
  return entries;
}

const isFloat = (type: PropertyType): boolean =>
  type.kind === 'list' ? isFloat(type.of) : /^F\d\d$/.test(type.name);

/** Declared type of a member of an element. */
function memberForm({ element }: Item, name: string, style: Style): Form | undefined {
  if (!style.fractions) return undefined;
  const property = element.type.properties.find((each) => each.name === name);
  if (property) return isFloat(property.type) ? float : undefined;
  return name === 'score' || name === 'distance' || name === 'data' ? float : undefined;
}

/** `{"Group": {"a_true": {"count": 1, "values": {...}}}}`. */
function groupsOf(
  run: Run,
  groups: readonly GroupRec[],
  style: Style,
  { of, members }: Extract<Form, { kind: 'groups' }>,
): Tree {
  const made = new Map<string, Tree>();
  for (const group of groups) {
    const text = group.keys.map(([, value]) => keyText(value)).join('_');
    let key = text;
    for (let n = 2; made.has(key); n++) key = `${text} (${n})`;
    const values = of.data
      ? treeOf(run, group.get('data'), style, members.get('data'))
      : recordOf(
          run,
          group.keys.filter(([, value]) => value !== null),
          style,
          members,
        );
    const count = group.get('count') as number;
    made.set(
      key,
      new Map<string, Tree>([
        ['count', count],
        ['values', values],
      ]),
    );
  }
  return new Map([[of.word, made]]);
}

function keyText(value: Value): string {
  if (value instanceof Uuid) return value.text;
  if (value instanceof Instant) return printDate(value);
  return isList(value) ? `[${value.map(keyText).join(', ')}]` : String(value);
}
