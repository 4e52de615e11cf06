// Names bound in projections: what they stand for is computed once for an item, whoever asks, and only
// when somebody does; a plan with many of them stays as long as its text.
import { afterAll, describe, expect, it } from 'vitest';
import { open, type EmbeddedDatabase } from '../../engine/internal.js';
import { makeFolder } from '../support/project.js';

const users = 40;
const doubled = Array.from({ length: 200 }, (_, i) => `v${i + 1} <- ADD(v${i}, v${i})`).join(', ');
const text = `
N::User { INDEX no: I64 }
E::Knows { From: User, To: User }
QUERY add(no: I64) => u <- AddN<User>({no: no}) RETURN u::ID
QUERY all() => FOR a IN N<User> { FOR b IN N<User> { AddE<Knows>::From(a)::To(b) } } RETURN 1
QUERY one() => u <- N<User>::{ n <- _::Out<Knows>::Out<Knows>::COUNT, a: n, no } RETURN u
QUERY five() =>
  u <- N<User>::{ n <- _::Out<Knows>::Out<Knows>::COUNT, a: n, b: n, c: ADD(n, n), d: { e: n }, no }
    ::WHERE(_::{n}::GT(0))
    ::ORDER<Desc, Asc>(_::{n}, _::{no})
  RETURN u
QUERY none() =>
  u <- N<User>::{ n <- _::Out<Knows>::Out<Knows>::COUNT, a: IF(_::{no}::LT(0), n, 0), no }
  RETURN u
QUERY long() => u <- N<User>::FIRST::{ v0 <- no, ${doubled}, top: v200, no } RETURN u::{no}
`;

let db: EmbeddedDatabase;
const visits = async (name: string): Promise<number> => {
  let seen = 0;
  const onWork = (cost: { visits: number }): void => {
    seen = cost.visits;
  };
  await db.database.call(name, new Uint8Array(0), { onWork });
  return seen;
};

afterAll(() => db.close());

describe('a name bound in a projection [X021]', () => {
  it('is computed one time for an item, and only when it is needed', async () => {
    db = await open({
      dataDir: `${makeFolder()}/data`,
      sources: [{ path: 'a.hx', text }],
      minFreeBytes: 0,
    });
    for (let no = 0; no < users; no++) await db.call('add', { no });
    await db.call('all');
    const [one, five, none] = [await visits('one'), await visits('five'), await visits('none')];
    expect(one).toBeGreaterThan(users ** 2);
    expect(five).toBeLessThan(1.2 * one);
    expect(none).toBeLessThan(one / 4);
  });

  it('may stand for two of the name before, two hundred times', async () => {
    expect(await db.call('long')).toEqual({ u: { no: 0 } });
  });
});
