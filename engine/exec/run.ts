// The two entry points of the executor: run a plan, and find the texts that it needs embedded.
import { ByteWriter } from '../base/bytes.js';
import { fail } from '../base/errors.js';
import { instantFromMicros } from '../base/date.js';
import { defaultLimits } from '../base/limits.js';
import { explain } from '../plan/explain.js';
import type { EmbedSite, Plan } from '../plan/plan.js';
import type { Catalog, ReadView } from '../storage/table/view-types.js';
import { builtPlan, PlanBuilder } from './build/build.js';
import { readText } from './runtime/step-argument.js';
import { ByteArena } from './runtime/byte-arena.js';
import type { CollectTexts, Execute, ExecutionContext } from './runtime/execute.js';
import { rowsOf } from './runtime/flow.js';
import { Frame } from './runtime/frame.js';
import type { Profile } from './build/profile.js';
import { statisticsOf } from './statistics.js';

/** A larger buffer is not reused. */
const reusedBytesMax = 1 << 20;

let writer = new ByteWriter();

/** Small replies share memory: an allocation for each would take longer than most of the read. */
const smallBytesMax = 1024;
const replies = new ByteArena(8 * smallBytesMax);

function takeReply(out: ByteWriter): Uint8Array {
  return out.length > smallBytesMax ? out.take() : replies.copy(out.bytes, out.length);
}

/** Runs a plan on one view. It is synchronous and never reentered on one thread. */
export const execute: Execute = (plan, args, context) => {
  const { statements, output, profile } = builtPlan(plan, context.view.catalog);
  profile?.reset();
  const started = profile ? (context.clock?.() ?? 0) : 0;
  const frame = new Frame(plan.slotCount, args, context);
  if (writer.bytes.length > reusedBytesMax) writer = new ByteWriter();
  const out = writer;
  out.length = 0;
  for (const act of statements) act(frame);
  const items = output(frame, out);
  const max = context.limits.result_bytes;
  if (out.length > max) fail('RESULT_TOO_LARGE', { max, unit: 'bytes' });
  const reply = takeReply(out);
  const body = profile ? withProfile(reply, plan, profile, context, started) : reply;
  const { rows, visits } = frame;
  return items ? { body, items, rows, visits } : { body, rows, visits };
};

/** Returns the reply together with the explained plan and its measurements. */
function withProfile(
  reply: Uint8Array,
  plan: Plan,
  { measured }: Profile,
  { view, clock }: ExecutionContext,
  started: number,
): Uint8Array {
  const micros = Math.round(((clock?.() ?? 0) - started) * 1000);
  const profile = { micros, ...explain(plan, statisticsOf(view), measured) };
  const out = new ByteWriter(reply.length + 1024);
  out.ascii('{"result":');
  out.append(reply);
  out.utf8(`,"profile":${JSON.stringify(profile)}}`);
  return out.take();
}

const emptyCatalog: Catalog = {
  label: () => fail('INTERNAL'),
  find: () => undefined,
  labels: () => [],
};

/** A context for expressions that the checker has proved to depend on parameters alone. */
const parametersOnly: ExecutionContext = {
  view: { catalog: emptyCatalog } as ReadView,
  vectors: () => undefined,
  text: undefined,
  now: instantFromMicros(0),
  limits: defaultLimits,
  cancelled: () => false,
  budgetMs: 0,
  embeddings: new Map(),
};

/** Returns the distinct texts of a plan's `Embed`s under these arguments, in order of first use. */
export const collectTexts: CollectTexts = (plan, args) => {
  const texts = new Set<string>();
  const frame = new Frame(plan.slotCount, args, parametersOnly);
  for (const site of plan.embeds) for (const text of siteTexts(plan, site, frame)) texts.add(text);
  return [...texts];
};

function siteTexts(
  { compat, parameters }: Plan,
  { loops, text }: EmbedSite,
  frame: Frame,
): string[] {
  const builder = new PlanBuilder(
    emptyCatalog,
    { data: false, compat, fractions: compat },
    parameters,
  );
  const texts: string[] = [];
  const evaluate = builder.value(text);
  const enter = (depth: number): void => {
    if (depth === loops.length) {
      texts.push(readText(frame, evaluate, 'Embed'));
      return;
    }
    const { slots, members, in: list } = loops[depth]!;
    for (const item of rowsOf(builder.value(list)(frame))) {
      if (members === undefined) frame.slots[slots[0]!] = item;
      else
        for (let i = 0; i < members.length; i++)
          frame.slots[slots[i]!] = builder.member(members[i]!)(frame, item);
      enter(depth + 1);
    }
  };
  enter(0);
  return texts;
}
