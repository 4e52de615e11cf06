// The checks: while a resource is missing, no process ends by a defect or a signal, and /readyz is correct.
// When the resource is back, everything works again.
import { expect } from 'vitest';
import { type Deed, type Outcome, deeds, readyOf } from './operations.js';
import type { Subject } from './subject.js';

/** Within this everything works again. */
const againMs = 10_000;

export interface Seen {
  done: number;
  refused: number;
  codes: Set<string>;
}

export const freshSeen = (): Seen => ({ done: 0, refused: 0, codes: new Set() });

function note(seen: Seen, outcome: Outcome): void {
  if (outcome === undefined) seen.done++;
  else if ('refused' in outcome) {
    seen.refused++;
    seen.codes.add(outcome.refused);
  }
}

async function outcomeOf(deed: Deed, subject: Subject, turn: number): Promise<Outcome> {
  try {
    return await deed.run(subject, turn);
  } catch (error) {
    return { fault: `${(error as Error).message}\n${subject.output.slice(-2_000)}` };
  }
}

const faultOf = (outcome: Outcome): string | undefined =>
  outcome !== undefined && 'fault' in outcome ? outcome.fault : undefined;

/** Does everything while something is away. */
export async function during(subject: Subject, what: string, turn: number, seen: Seen) {
  for (const deed of deeds) {
    const outcome = await outcomeOf(deed, subject, turn);
    expect(faultOf(outcome), `${deed.name}, ${what}`).toBeUndefined();
    note(seen, outcome);
  }
  await expectHonest(subject, what, turn);
}

/** What /readyz promises, holds. */
async function expectHonest(subject: Subject, what: string, turn: number): Promise<void> {
  const { status, body } = await readyOf(subject);
  expect(status === 200, `/readyz, ${what}`).toBe(body.ready);
  const [read, write] = deeds;
  if (body.ready) {
    expect(await outcomeOf(read!, subject, turn), `ready, ${what}`).toBeUndefined();
  }
  if (!body.writes) return;
  const outcome = await outcomeOf(write!, subject, turn);
  const lasting = outcome !== undefined && 'refused' in outcome && outcome.refused === 'READ_ONLY';
  expect([lasting, faultOf(outcome)], `writes, ${what}`).toEqual([false, undefined]);
}

/** Everything works, and /readyz says so. */
export async function afterwards(subject: Subject, what: string, turn: number): Promise<void> {
  const until = performance.now() + againMs;
  for (const deed of deeds) {
    let outcome = await outcomeOf(deed, subject, turn);
    while (outcome !== undefined && performance.now() < until) {
      expect(faultOf(outcome), `${deed.name}, after ${what}`).toBeUndefined();
      await new Promise((resolve) => setTimeout(resolve, 50));
      outcome = await outcomeOf(deed, subject, turn);
    }
    expect(outcome, `${deed.name}, after ${what}`).toBeUndefined();
  }
  const { status, body } = await readyOf(subject);
  expect([status, body.ready, body.writes], `/readyz after ${what}`).toEqual([200, true, true]);
}

export async function stopsWell(subject: Subject, what: string, code = 0): Promise<void> {
  const end = await subject.stop();
  expect(end, `stop, ${what}\n${subject.output.slice(-2_000)}`).toEqual({ code, signal: null });
}

/** Commands of the same surroundings do their work, or say why not in their last line. */
export function commandsEnd(subject: Subject): void {
  const { project, data } = subject;
  const commands = [
    ['check', project],
    ['verify', data, '--deep'],
    ['config', 'print', project],
  ];
  for (const words of commands) {
    const { code, signal, output } = subject.command(words);
    expect([signal, code, output], words.join(' ')).toEqual([
      null,
      expect.any(Number),
      expect.not.stringContaining('INTERNAL'),
    ]);
  }
}

/** A number of /metrics. */
export async function metric({ client }: Subject, name: string): Promise<number> {
  const { text } = await client.request({ method: 'GET', path: 'metrics' });
  const found = new RegExp(`^(?:trellis_)?${name} (\\S+)$`, 'm').exec(text);
  return Number(found?.[1]);
}
