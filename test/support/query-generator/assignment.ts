// Values that sentences give to the properties of elements: of every kind, computed, null, taken away.
import type { Assignment } from '../../../engine/plan/expression.js';
import type { Run } from '../oracle/oracle-run.js';
import type { Env, Part, Scope, Writer } from './part.js';
import { piece, runOf } from './run.js';
import { literal, scalar } from './scalar.js';
import type { ScalarName } from './type.js';
import { labels } from './fixture.js';

interface Assignments {
  text: string;
  /** What a step of the oracle sets, of the item in its slot. */
  of(env: Env, run?: Run): { slot: number; set: Assignment[] };
}

export function assignments(
  writer: Writer,
  scope: Scope,
  label: string,
  depth: number,
): Assignments {
  const { random } = writer;
  const chosen = Object.entries(labels[label]!.properties).filter(([name]) =>
    random.chance(name === 'key' ? 0.35 : 0.5),
  );
  const parts = chosen.map(([name, kind]) => {
    const unset = random.chance(0.12);
    return { name, unset, part: valueFor(writer, scope, { label, name, kind, depth }) };
  });
  const text = parts.map(({ name, unset, part }) => `${name}: ${unset ? 'NONE' : part.text}`);
  return {
    text: `{${text.join(', ')}}`,
    of: (env, run = runOf(env)) => ({
      slot: 0,
      set: parts.map(({ name, unset, part }) => ({
        property: name,
        unset,
        value: piece(() =>
          part.of(scope.item ? { ...env, item: run.slots[0]!, strict: true } : env),
        ),
      })),
    }),
  };
}

interface Wanted {
  label: string;
  name: string;
  kind: ScalarName;
  depth: number;
}

function valueFor(writer: Writer, scope: Scope, { label, name, kind, depth }: Wanted): Part {
  const { random } = writer;
  if (name !== 'key')
    return random.chance(0.4)
      ? literal(writer, kind)
      : scalar(writer, scope, kind, Math.min(depth, 1));
  const key = (): string =>
    `"${label[0]!.toLowerCase()}${random.pick([0, 1, 50, 51, 52, 53, 54])}"`;
  const given = key();
  const type = { kind: 'text', card: 'one' } as const;
  return { text: given, type, of: () => JSON.parse(given) as string };
}
