import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { instantFromMicros } from '../../engine/base/date.js';
import { compile } from '../../engine/lang/compile.js';
import { openStorage } from '../../engine/storage/open.js';
import { execute } from '../../engine/exec/run.js';
import { Uuid } from '../../engine/base/value.js';
import { printUuid } from '../../engine/base/id.js';
import { uuidAt } from '../../engine/storage/record.js';
import { createTextIndex } from '../../engine/text/text-index-lmdb.js';

const src = `
N::User { UNIQUE INDEX email: String, INDEX city: String, name: String, age: I32, about: String, joined: Date DEFAULT NOW }
E::Knows { From: User, To: User, Properties: { since: Date DEFAULT NOW } }
QUERY get(id: ID) => u <- N<User>(id) RETURN u
QUERY byEmail(e: String) => u <- N<User>({email: e}) RETURN u
QUERY hop(id: ID) => u <- N<User>(id)::Out<Knows> RETURN u
QUERY hopNames(id: ID) => u <- N<User>(id)::Out<Knows> RETURN u::{name, age}
QUERY two(id: ID) => n <- N<User>(id)::Out<Knows>::Out<Knows>::COUNT RETURN n
QUERY twoD(id: ID) => n <- N<User>(id)::Out<Knows>::Out<Knows>::DEDUP::COUNT RETURN n
QUERY adults(id: ID) => u <- N<User>(id)::Out<Knows>::WHERE(_::{age}::GT(30)) RETURN u
QUERY scanAge() => n <- N<User>::WHERE(_::{age}::EQ(30))::COUNT RETURN n
QUERY topAge() => u <- N<User>::ORDER<Desc>(_::{age})::RANGE(0, 10) RETURN u::ID
QUERY popular() => n <- N<User>::WHERE(_::Out<Knows>::COUNT::GT(19))::COUNT RETURN n
QUERY groups() => RETURN N<User>::GROUP_BY(city)
QUERY nested(id: ID) => u <- N<User>(id) RETURN u::{name, friends: _::Out<Knows>::{name, n: _::Out<Knows>::COUNT}}
QUERY all() => u <- N<User> RETURN u
`;
it('bench', () => {
  const { program, diagnostics } = compile([{ path: 'a.hx', text: src }], { compat: false });
  if (!program) throw new Error(JSON.stringify(diagnostics));
  const dir = mkdtempSync(join(tmpdir(), 'xb-'));
  const storage = openStorage(dir, { limits: defaultLimits, mode: 'create' });
  storage.applySchema(program, { text: createTextIndex(defaultLimits), nowMs: 1e12 });
  const N = 20000, D = 20;
  const ids: number[] = [];
  for (let b = 0; b < N; b += 2000)
    storage.commitGroup((g) => g.request(1e12, (v) => {
      const label = v.catalog.find('node', 'User')!;
      for (let i = b; i < b + 2000; i++) ids.push(v.createNode(label, new Map<string, any>([['email', `u${i}@x.org`], ['city', `c${i % 100}`], ['name', `User ${i}`], ['age', i % 80], ['about', 'x'.repeat(120)]])));
    }));
  for (let b = 0; b < N; b += 1000)
    storage.commitGroup((g) => g.request(1e12, (v) => {
      const label = v.catalog.find('edge', 'Knows')!;
      for (let i = b; i < b + 1000; i++) for (let j = 1; j <= D; j++) v.createEdge(label, ids[i]!, ids[(i * 7 + j * 131) % N]!, new Map());
    }));
  const view = storage.reader();
  const uuids = ids.map((id) => new Uuid(printUuid(view.record(id)!, uuidAt.own)));
  const ctx = { view, vectors: () => undefined, text: undefined, now: instantFromMicros(1), limits: defaultLimits, cancelled: () => false, budgetMs: 1, embeddings: new Map() };
  const bench = (name: string, args: (i: number) => any[], rounds: number) => {
    const q = program.queries.find((x) => x.name === name)!;
    let bytes = 0;
    for (let i = 0; i < Math.max(rounds / 5, 2); i++) bytes = execute(q.plan, args(i), ctx).body.length;
    const t = performance.now();
    for (let i = 0; i < rounds; i++) execute(q.plan, args(i), ctx);
    const us = ((performance.now() - t) * 1000) / rounds;
    process.stdout.write(`${name.padEnd(10)} ${us.toFixed(2)} us  ${bytes} B\n`);
  };
  const id = (i: number) => [uuids[(i * 7919) % N]];
  bench('get', id, 100000);
  bench('byEmail', (i) => [`u${(i * 7919) % N}@x.org`], 50000);
  bench('hop', id, 20000);
  bench('hopNames', id, 20000);
  bench('two', id, 20000);
  bench('twoD', id, 5000);
  bench('adults', id, 10000);
  bench('nested', id, 5000);
  bench('scanAge', () => [], 20);
  bench('topAge', () => [], 20);
  bench('popular', () => [], 20);
  bench('groups', () => [], 20);
  bench('all', () => [], 10);
  storage.close(); rmSync(dir, { recursive: true });
}, 120000);
