// Prints the reply of a plan: an object of named values, a single value, or the first or all items of a
// session's new traversal with their ids.
import { printObject } from './print-expression.js';
import { unreachable } from '../../base/assert.js';
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import type { Output } from '../../plan/plan.js';
import type { Builder } from '../runtime/build-context.js';
import type { Flow, IdFlow, RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import type { ItemList } from '../runtime/execute.js';
import { buildInspection } from './dashboard.js';
import { nameBytes, printElement } from './print.js';
import type { PrintStyle } from '../runtime/compiled.js';
import { Element } from '../runtime/value.js';

/** Prints the reply. Returns the items of a new traversal, if there is one. */
export type BuiltOutput = (frame: Frame, out: ByteWriter) => ItemList | undefined;

export function buildOutput(builder: Builder, output: Output): BuiltOutput {
  switch (output.kind) {
    case 'object':
      return buildObject(builder, output.members);
    case 'bare': {
      const print = builder.print(output.value, output.form);
      return (frame, out) => {
        print(frame, out);
        return undefined;
      };
    }
    case 'items':
      // Sessions print similarity under [compat] too.
      return buildItems(builder.flow(output.value), output.answer, {
        ...builder.style,
        compat: false,
      });
    case 'inspection': {
      const print = buildInspection(output.request);
      return (frame, out) => {
        print(frame, out);
        return undefined;
      };
    }
    default:
      return unreachable(output);
  }
}

function buildObject(
  builder: Builder,
  members: Extract<Output, { kind: 'object' }>['members'],
): BuiltOutput {
  const print = printObject(
    members.map(({ key, value, form }) => ({
      name: nameBytes(key),
      print: builder.print(value, form),
    })),
  );
  return (frame, out) => {
    print(frame, out);
    return undefined;
  };
}

/** Collects items, and moves them to shared memory at the end. */
class ItemBuilder {
  readonly #ids: Uint32Array[] = [];
  readonly #scores: number[] = [];
  readonly #hops: number[] = [];
  #isScored = false;
  #isFar = false;
  length = 0;

  constructor(private readonly max: number) {}

  append(ids: Uint32Array): void {
    this.#ids.push(ids);
    this.length += ids.length;
    if (this.length > this.max) fail('RESULT_TOO_LARGE', { max: this.max, unit: 'session items' });
  }

  /** Sets the attributes of elements that were appended. */
  attributes({ hit: { score, distance }, hops }: Element): void {
    this.#scores.push(score, distance);
    this.#isScored ||= !Number.isNaN(score);
    this.#hops.push(hops);
    this.#isFar ||= hops >= 0;
  }

  items(): ItemList {
    const ids = new Uint32Array(new SharedArrayBuffer(4 * this.length));
    let at = 0;
    for (const part of this.#ids) {
      ids.set(part, at);
      at += part.length;
    }
    const items: ItemList = { ids };
    if (this.#isScored) {
      items.scores = new Float64Array(new SharedArrayBuffer(16 * this.length));
      items.scores.set(this.#scores);
    }
    if (this.#isFar) {
      items.hops = new Int32Array(new SharedArrayBuffer(4 * this.length));
      items.hops.set(this.#hops);
    }
    return items;
  }
}

function buildItems(flow: Flow, answer: 'first' | 'all', style: PrintStyle): BuiltOutput {
  return (frame, out) => {
    const builder = new ItemBuilder(frame.context.limits.session_items);
    const print = (element: Element, count: number): void => {
      if (answer === 'first' && count > 0) return;
      if (count > 0) out.byte(44);
      frame.countItem(out);
      printElement(frame, out, element, style);
    };
    if (answer === 'all') out.byte(91);
    if (flow.kind === 'ids') keepIds(frame, flow, builder, print);
    else keepRows(frame, flow, builder, print);
    if (answer === 'all') out.byte(93);
    else if (builder.length === 0) out.ascii('null');
    return builder.items();
  };
}

type PrintNth = (element: Element, count: number) => void;

function keepIds(frame: Frame, flow: IdFlow, builder: ItemBuilder, print: PrintNth): void {
  for (const ids of flow.open(frame)) {
    frame.tick(ids.length);
    const { length } = builder;
    builder.append(ids);
    for (let i = 0; i < ids.length; i++) print(new Element(ids[i]!), length + i);
  }
}

function keepRows(frame: Frame, flow: RowFlow, builder: ItemBuilder, print: PrintNth): void {
  for (const batch of flow.open(frame)) {
    frame.tick(batch.length);
    for (const row of batch) {
      if (!(row instanceof Element)) continue;
      const { length } = builder;
      builder.append(Uint32Array.of(row.id));
      builder.attributes(row);
      print(row, length);
    }
  }
}
