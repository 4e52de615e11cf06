// Prints expressions directly into the reply: streams while they are pulled, projections member by member,
// properties as their stored fragments. All other expressions are evaluated and then printed.
import type { ByteWriter } from '../../base/bytes.js';
import type { Expression, Pipeline, Step } from '../../plan/expression.js';
import type { Form } from '../../plan/print-form.js';
import { labelOf } from '../../storage/record/record.js';
import { buildLets } from '../expression/let-binding.js';
import type { Builder } from '../runtime/build-context.js';
import { recordOf } from '../runtime/element.js';
import { asRows, type RowFlow } from '../runtime/flow.js';
import { firstOf } from '../runtime/collect.js';
import type { Frame } from '../runtime/frame.js';
import { memberTable } from '../runtime/member.js';
import { printCompat } from './print-compat.js';
import { nameBytes, printMember, printValue } from './print.js';
import { buildPrintShape } from './project.js';
import { Element, type Value } from '../runtime/value.js';
import type { Print } from '../runtime/compiled.js';

type PrintItem = (frame: Frame, out: ByteWriter, item: Value) => void;

export function buildPrint(builder: Builder, expression: Expression, form?: Form): Print {
  // Groups print as one object, so all of them must be complete first.
  if (form?.kind === 'groups') return printEvaluated(builder, expression, form);
  switch (expression.kind) {
    case 'pipeline':
      return printPipeline(builder, expression, form);
    case 'project': {
      const { of, slot, members } = expression;
      const shape = buildPrintShape(builder, slot, members, membersOf(itemOf(form)));
      return printItems(builder, of, shape);
    }
    case 'property': {
      const { of, name } = expression;
      return printItems(builder, of, propertyPrinter(builder, name, itemOf(form)));
    }
    case 'with': {
      const fill = buildLets(builder, expression);
      const print = builder.print(expression.value, form);
      return (frame, out) => {
        fill(frame);
        print(frame, out);
      };
    }
    case 'record':
      return printRecord(builder, expression.members, membersOf(form));
    case 'list':
      return printList(expression.items.map((item) => builder.print(item, itemOf(form))));
    default:
      return printEvaluated(builder, expression, form);
  }
}

/** Returns the form of the items of a value, which may be a single value. */
const itemOf = (form: Form | undefined): Form | undefined =>
  form?.kind === 'list' ? form.of : form;

const membersOf = (form: Form | undefined): ReadonlyMap<string, Form> | undefined =>
  form?.kind === 'record' ? form.members : undefined;

function printEvaluated(builder: Builder, expression: Expression, form?: Form): Print {
  const print = valuePrinter(builder, form);
  const evaluate = builder.value(expression);
  return (frame, out) => print(frame, out, evaluate(frame));
}

function valuePrinter({ style }: Builder, form: Form | undefined): PrintItem {
  if (form === undefined) return (frame, out, value) => printValue(frame, out, value, style);
  return (frame, out, value) => printCompat(frame, out, value, style, form);
}

/** Prints a stream's rows as an array, or its first row. A final map is applied while printing. */
function printPipeline(builder: Builder, pipeline: Pipeline, form?: Form): Print {
  const rowForm = pipeline.result === 'many' ? itemOf(form) : form;
  const last = pipeline.steps.at(-1);
  if (last?.kind !== 'map') {
    return printRows(builder, pipeline, valuePrinter(builder, rowForm));
  }
  const rest: Pipeline = { ...pipeline, steps: pipeline.steps.slice(0, -1) };
  return printRows(builder, rest, mapPrinter(builder, last, rowForm));
}

function mapPrinter(
  builder: Builder,
  { value }: Extract<Step, { kind: 'map' }>,
  form: Form | undefined,
): PrintItem {
  const print = builder.print(value.value, form);
  return (frame, out, row) => {
    frame.slots[value.slot] = row;
    print(frame, out);
  };
}

function printRows(builder: Builder, pipeline: Pipeline, print: PrintItem): Print {
  const flow = asRows(builder.flow(pipeline));
  if (pipeline.result === 'many') return (frame, out) => printStream(frame, out, flow, print);
  return (frame, out) => {
    // A missing row prints as null, whatever the last step would make of it.
    for (const batch of flow.open(frame)) {
      if (batch.length === 0) continue;
      print(frame, out, batch[0]!);
      return;
    }
    out.ascii('null');
  };
}

function printStream(frame: Frame, out: ByteWriter, flow: RowFlow, print: PrintItem): void {
  out.byte(91);
  let count = 0;
  for (const batch of flow.open(frame)) {
    for (let i = 0; i < batch.length; i++) {
      if (count++ > 0) out.byte(44);
      frame.countItem(out);
      print(frame, out, batch[i]!);
    }
  }
  out.byte(93);
}

/** Prints every item of a value: of a stream while it is pulled, of a list, or a single item. */
function printItems(builder: Builder, of: Expression, print: PrintItem): Print {
  if (of.kind === 'pipeline') {
    const flow = asRows(builder.flow(of));
    if (of.result === 'many') return (frame, out) => printStream(frame, out, flow, print);
    return (frame, out) => print(frame, out, firstOf(flow, frame));
  }
  const evaluate = builder.value(of);
  return (frame, out) => {
    const value = evaluate(frame);
    if (!Array.isArray(value)) {
      print(frame, out, value);
      return;
    }
    out.byte(91);
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out.byte(44);
      frame.countItem(out);
      print(frame, out, value[i]!);
    }
    out.byte(93);
  };
}

/** Prints one member of an item. For an element, it does not create the value. */
function propertyPrinter(builder: Builder, name: string, form: Form | undefined): PrintItem {
  const { style } = builder;
  const memberIn = memberTable(builder.catalog, name);
  const read = builder.member(name);
  const print = valuePrinter(builder, form);
  return (frame, out, item) => {
    const record = item instanceof Element ? recordOf(frame, item) : undefined;
    if (record === undefined) print(frame, out, read(frame, item));
    else {
      const member = memberIn(labelOf(record));
      printMember(frame, out, item as Element, record, member, style);
    }
  };
}

function printRecord(
  builder: Builder,
  members: readonly { name: string; value: Expression }[],
  forms?: ReadonlyMap<string, Form>,
): Print {
  const parts = members.map(({ name, value }) => ({
    name: nameBytes(name),
    print: builder.print(value, forms?.get(name)),
  }));
  return printObject(parts);
}

/** Prints an object with these members. Each name is encoded once. */
export function printObject(parts: readonly { name: Uint8Array; print: Print }[]): Print {
  return (frame, out) => {
    out.byte(123);
    for (let i = 0; i < parts.length; i++) {
      if (i > 0) out.byte(44);
      frame.countMember(out);
      out.append(parts[i]!.name);
      parts[i]!.print(frame, out);
    }
    out.byte(125);
  };
}

function printList(items: readonly Print[]): Print {
  return (frame, out) => {
    out.byte(91);
    for (let i = 0; i < items.length; i++) {
      if (i > 0) out.byte(44);
      frame.countItem(out);
      items[i]!(frame, out);
    }
    out.byte(93);
  };
}
