// Measures flows for `?profile=1`: rows and time of every step, identified by its source or step in the plan.
// Times include the steps before. The caller provides the clock.
import type { Measured } from '../../plan/explain.js';
import type { Source, Step } from '../../plan/expression.js';
import type { Flow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';

export class Profile {
  readonly measured = new Map<Source | Step, Measured>();

  /** Clears the values of the previous execution. */
  reset(): void {
    for (const own of this.measured.values()) own.rows = own.micros = 0;
  }

  wrap<F extends Flow>(node: Source | Step, flow: F): F {
    const own = this.measured.get(node) ?? { rows: 0, micros: 0 };
    this.measured.set(node, own);
    return {
      ...flow,
      open: (frame: Frame) => timedRows(frame, own, () => flow.open(frame)),
      ...(flow.from && {
        from: (frame: Frame, start: number, max: number) =>
          timedRows(frame, own, () => flow.from!(frame, start, max)),
      }),
      ...(flow.count && {
        count: (frame: Frame) => {
          const count = timed(frame, own, () => flow.count!(frame));
          own.rows += count;
          return count;
        },
      }),
      ...(flow.inhabited && {
        inhabited: (frame: Frame) => {
          const any = timed(frame, own, () => flow.inhabited!(frame));
          own.rows += Number(any);
          return any;
        },
      }),
    };
  }
}

function timed<T>({ context }: Frame, own: Measured, work: () => T): T {
  const clock = context.clock ?? (() => 0);
  const started = clock();
  try {
    return work();
  } finally {
    own.micros += (clock() - started) * 1000;
  }
}

function* timedRows(
  frame: Frame,
  own: Measured,
  open: () => Iterable<{ length: number }>,
): Generator<never> {
  const iterator = timed(frame, own, () => open()[Symbol.iterator]());
  try {
    for (;;) {
      const next = timed(frame, own, () => iterator.next());
      if (next.done) return;
      own.rows += next.value.length;
      yield next.value as never;
    }
  } finally {
    iterator.return?.();
  }
}
