// Projections: the members of every element of a value, in source order. In the reply, a projection is
// printed member by member; elsewhere, it creates records.
import type { ByteWriter } from '../../base/bytes.js';
import type { Expression, Member } from '../../plan/expression.js';
import type { Form } from '../../plan/print-form.js';
import { labelOf } from '../../storage/record/record.js';
import type { Builder } from '../runtime/build-context.js';
import { recordOf } from '../runtime/element.js';
import type { Frame } from '../runtime/frame.js';
import { type Layout, layoutMembers, layoutOf, printLayout } from './element-template.js';
import { memberOf, type memberReader } from '../runtime/member.js';
import {
  elementMembers,
  isMarked,
  memberLists,
  nameBytes,
  printElementMembers,
  printValue,
} from './print.js';
import { Element, RecordValue, type Value } from '../runtime/value.js';
import type { Evaluate, Print } from '../runtime/compiled.js';

type Project = Extract<Expression, { kind: 'project' }>;

/** Returns the names and values that a record or object spreads. */
function entriesOf(item: Value): (readonly [string, Value])[] {
  if (item instanceof RecordValue) return item.names.map((name, i) => [name, item.values[i]!]);
  return item instanceof Map ? [...item] : [];
}

/** Attributes that an item shows only when it has them. */
const attributes = new Set(['hops', 'score', 'distance']);

/** Returns the entries that `..` adds to a record value. */
function buildSpread(builder: Builder, except: ReadonlySet<string>) {
  const readers = new Map<string, ReturnType<typeof memberReader>>();
  const readerOf = (name: string) => {
    const reader = readers.get(name) ?? builder.member(name);
    readers.set(name, reader);
    return reader;
  };
  return (frame: Frame, item: Value): (readonly [string, Value])[] => {
    if (!(item instanceof Element)) return entriesOf(item).filter(([name]) => !except.has(name));
    const record = recordOf(frame, item);
    if (record === undefined) return [];
    const label = frame.view.catalog.label(labelOf(record));
    return elementMembers(label, except)
      .map(({ text, member }) => ({ name: text, member, value: readerOf(text)(frame, item) }))
      .filter(({ member, value }) => value !== null || !attributes.has(member.kind))
      .map(({ name, value }) => [name, value] as const);
  };
}

/** Returns one item as a record. Null stays null. */
function buildShape(builder: Builder, slot: number, members: readonly Member[]) {
  const parts = members.map((member) =>
    member.kind === 'value'
      ? { name: member.name, value: builder.value(member.value), spread: undefined }
      : { name: '', value: undefined, spread: buildSpread(builder, new Set(member.except)) },
  );
  const isFixed = parts.every((part) => part.value !== undefined);
  const fixedNames = parts.map((part) => part.name);
  return (frame: Frame, item: Value): Value => {
    if (item === null) return null;
    frame.tick(1);
    frame.slots[slot] = item;
    if (isFixed)
      return new RecordValue(
        fixedNames,
        parts.map((part) => part.value!(frame)),
      );
    const names: string[] = [];
    const values: Value[] = [];
    for (const { name, value, spread } of parts) {
      frame.slots[slot] = item;
      const entries = spread ? spread(frame, item) : [[name, value!(frame)] as const];
      for (const [entry, content] of entries) {
        names.push(entry);
        values.push(content);
      }
    }
    return new RecordValue(names, values);
  };
}

export function buildProject(builder: Builder, { of, slot, members }: Project): Evaluate {
  const shape = buildShape(builder, slot, members);
  const items = builder.value(of);
  return (frame) => {
    const value = items(frame);
    return Array.isArray(value)
      ? (value as readonly Value[]).map((item) => shape(frame, item))
      : shape(frame, value);
  };
}

type PrintSpread = (frame: Frame, out: ByteWriter, item: Value) => number;

function buildPrintSpread(builder: Builder, except: ReadonlySet<string>): PrintSpread {
  const { style } = builder;
  const lists = memberLists(except);
  return (frame, out, item) => {
    if (item instanceof Element) {
      const record = recordOf(frame, item);
      if (record === undefined) return 0;
      const label = frame.view.catalog.label(labelOf(record));
      return printElementMembers(frame, out, item, record, lists(label), style);
    }
    const entries = entriesOf(item).filter(([name]) => !except.has(name));
    for (let i = 0; i < entries.length; i++) {
      if (i > 0) out.byte(44);
      frame.countMember(out);
      out.append(nameBytes(entries[i]![0]));
      printValue(frame, out, entries[i]![1], style);
    }
    return entries.length;
  };
}

/** Prints one item as an object with these members. Null prints as null. */
export function buildPrintShape(
  builder: Builder,
  slot: number,
  members: readonly Member[],
  forms?: ReadonlyMap<string, Form>,
): (frame: Frame, out: ByteWriter, item: Value) => void {
  const parts = members.map((member) =>
    member.kind === 'value'
      ? {
          name: nameBytes(member.name),
          print: builder.print(member.value, forms?.get(member.name)),
          spread: undefined,
        }
      : { name: undefined, spread: buildPrintSpread(builder, new Set(member.except)) },
  );
  const layoutFor = shapeLayouts(builder, slot, members);
  return (frame, out, item) => {
    if (item === null) {
      out.ascii('null');
      return;
    }
    if (layoutFor !== undefined && item instanceof Element && !isMarked(item)) {
      const record = recordOf(frame, item);
      const layout = record && layoutFor(labelOf(record));
      if (layout) {
        printLayout(out, record!, layout);
        return;
      }
    }
    out.byte(123);
    let count = 0;
    for (const part of parts) {
      frame.slots[slot] = item;
      frame.countMember(out);
      const comma = out.length;
      if (count > 0) out.byte(44);
      if (part.spread === undefined) {
        out.append(part.name!);
        (part.print as Print)(frame, out);
        count++;
        continue;
      }
      const spread = part.spread(frame, out, item);
      // An empty spread removes its comma.
      if (spread === 0) out.length = comma;
      count += spread;
    }
    out.byte(125);
  };
}

/**
 * Returns templates by label for a shape that only names members of its item. Returns undefined for any other
 * shape, and for labels with a member that is not in the record.
 */
function shapeLayouts(
  builder: Builder,
  slot: number,
  members: readonly Member[],
): ((label: number) => Layout | undefined) | undefined {
  const named = (value: Expression): boolean =>
    value.kind === 'property' && value.of.kind === 'slot' && value.of.slot === slot;
  if (!members.every((each) => each.kind === 'spread' || named(each.value))) return undefined;
  const layouts: (Layout | null)[] = [];
  return (id) => {
    let layout = layouts[id];
    if (layout === undefined) {
      const label = builder.catalog.label(id);
      const parts = members.flatMap((each) => {
        if (each.kind === 'spread')
          return layoutMembers(elementMembers(label, new Set(each.except)));
        const { name } = each.value as Extract<Expression, { kind: 'property' }>;
        return [{ name: each.name, member: memberOf(label, name) }];
      });
      layouts[id] = layout = layoutOf(label, parts, builder.style.fractions) ?? null;
    }
    return layout ?? undefined;
  };
}
