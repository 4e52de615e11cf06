// `npm run bench -- writes [--sizes 1,10,1000,10000] [--only edge] [--rows 20000] [--rounds 3]`: measures the
// cost per row of one statement that writes many rows, in process and durable. The figure is the CPU time of
// all threads, because most of the wall time is the disk's. Each kind of row has a separate type, which has
// the same number of rows before. Sizes are rows per call.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { median } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

/** Types of nodes by what of them is indexed; `Text` alone has keyword documents. */
const nodeTypes = {
  Plain: '',
  OneFew: 'city',
  OneMany: 'name',
  Three: 'city name age',
  Unique: 'unique name',
};

const declare = (type: string, indexed: string): string => {
  const index = (name: string): string => {
    if (!indexed.includes(name)) return name;
    return indexed.startsWith('unique') ? `UNIQUE INDEX ${name}` : `INDEX ${name}`;
  };
  return `N::${type} { ${index('name')}: I64, ${index('age')}: U8, ${index('city')}: I32 }
QUERY add${type}(rows: [{name: I64, age: U8, city: I32}]) =>
  FOR {name, age, city} IN rows { AddN<${type}>({ name, age, city }) } RETURN "ok"
QUERY ids${type}() => p <- N<${type}> RETURN p::ID
QUERY drop${type}(ids: [ID]) => DROP N<${type}>({id: ids}) RETURN "ok"`;
};

const source = `
${Object.entries(nodeTypes)
  .map(([type, indexed]) => declare(type, indexed))
  .join('\n')}
N::Text { body: String }
QUERY addText(rows: [{body: String}]) => FOR {body} IN rows { AddN<Text>({ body }) } RETURN "ok"
E::Knows { From: Plain, To: Plain }
QUERY link(rows: [{a: ID, b: ID}]) => FOR {a, b} IN rows { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY linkAll(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY grow(a: ID, rows: [{name: I64}]) => FOR {name} IN rows {
  p <- AddN<Plain>({ name })
  AddE<Knows>::From(p)::To(a)
} RETURN "ok"
QUERY ageAll(ids: [ID], age: U8) => p <- N<Three>({id: ids})::UPDATE({ age: age }) RETURN "ok"
QUERY agePlain(ids: [ID], age: U8) => p <- N<Plain>({id: ids})::UPDATE({ age: age }) RETURN "ok"
QUERY renew(rows: [{id: ID, name: I64}]) => FOR {id, name} IN rows {
  p <- N<Three>(id)::UPDATE({ name: name })
} RETURN "ok"
`;

interface Case {
  name: string;
  /** Arguments of call `n` with `size` rows, made before it is timed. */
  args: (size: number) => Record<string, unknown>;
  query: string;
}

class Writes {
  readonly #random = randomOf(11);
  readonly #ids = new Map<string, string[]>();
  readonly #hub: string[] = [];
  #next = 0;

  constructor(private readonly db: EmbeddedDatabase) {}

  async sow(rows: number): Promise<void> {
    for (const type of Object.keys(nodeTypes)) {
      for (let at = 0; at < rows; at += 5000) await this.#call(`add${type}`, this.nodes(5000));
      const { p } = await this.db.call<{ p: string[] }>(`ids${type}`);
      this.#ids.set(type, p);
    }
    this.#hub.push(this.#any('Plain'));
  }

  #call(query: string, args: Record<string, unknown>): Promise<Uint8Array> {
    return Promise.resolve(this.db.callBytes(query, args));
  }

  #any(type: string): string {
    const ids = this.#ids.get(type)!;
    return ids[Math.floor(this.#random() * ids.length)]!;
  }

  nodes(count: number): Record<string, unknown> {
    const rows = Array.from({ length: count }, () => ({
      // Spread, and never twice.
      name: (Math.imul(this.#next++, 0x9e3779b1) >>> 0) * 7,
      age: Math.floor(this.#random() * 100),
      city: Math.floor(this.#random() * 500),
    }));
    return { rows };
  }

  #documents(count: number): Record<string, unknown> {
    const word = (): string => `word${Math.floor(20_000 * this.#random() ** 3)}`;
    const rows = Array.from({ length: count }, () => ({
      body: Array.from({ length: 12 }, word).join(' '),
    }));
    return { rows };
  }

  #some(type: string, count: number): string[] {
    const ids = this.#ids.get(type)!;
    const first = Math.floor(this.#random() * (ids.length - count));
    return ids.slice(first, first + count);
  }

  #take(type: string, count: number): string[] {
    return this.#ids.get(type)!.splice(-count);
  }

  cases(): Case[] {
    const age = (): number => Math.floor(this.#random() * 100);
    const nodes = (type: string, what: string): Case => {
      return { name: `AddN ${what}`, query: `add${type}`, args: (size) => this.nodes(size) };
    };
    const rows = <T>(size: number, make: () => T): { rows: T[] } => {
      return { rows: Array.from({ length: size }, make) };
    };
    const random = () => ({ a: this.#any('Plain'), b: this.#any('Plain') });
    const named = () => ({ id: this.#any('Three'), name: (this.#next++ * 11) % 1e9 });
    const hub = this.#hub[0]!;
    const drop = (type: string, what: string): Case => {
      const args = (size: number) => ({ ids: this.#take(type, size) });
      return { name: `DROP ${what}`, query: `drop${type}`, args };
    };
    return [
      nodes('Plain', 'no index'),
      nodes('OneFew', 'index of 500 values'),
      nodes('OneMany', 'index all differ'),
      nodes('Three', 'three indexes'),
      nodes('Unique', 'unique index'),
      { name: 'AddN 12 words', query: 'addText', args: (size) => this.#documents(size) },
      { name: 'AddE ends at random', query: 'link', args: (size) => rows(size, random) },
      {
        name: 'AddE from one node',
        query: 'linkAll',
        args: (size) => ({ a: hub, bs: rows(size, () => this.#any('Plain')).rows }),
      },
      {
        name: 'AddN and AddE to one',
        query: 'grow',
        args: (size) => ({ a: hub, rows: rows(size, () => ({ name: this.#next++ })).rows }),
      },
      {
        name: 'UPDATE not indexed',
        query: 'agePlain',
        args: (size) => ({ ids: this.#some('Plain', size), age: age() }),
      },
      {
        name: 'UPDATE 1 of 3 indexes',
        query: 'ageAll',
        args: (size) => ({ ids: this.#some('Three', size), age: age() }),
      },
      {
        name: 'FOR UPDATE 1 of 3',
        query: 'renew',
        args: (size) => rows(size, named),
      },
      drop('OneMany', 'index all differ'),
      drop('OneFew', 'index of 500 values'),
    ];
  }

  /** Microseconds of processor time per row. */
  async time({ query, args }: Case, size: number, rows: number): Promise<number> {
    const calls = Math.max(1, Math.min(200, Math.round(rows / size)));
    const all = Array.from({ length: calls }, () => args(size));
    const before = process.cpuUsage();
    for (const one of all) await this.#call(query, one);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls / size;
  }
}

export async function run(args: string[]): Promise<void> {
  const sizes = listOption(args, 'sizes', ['1', '10', '1000', '10000']).map(Number);
  const rows = numberOption(args, 'rows', 10_000);
  const rounds = numberOption(args, 'rounds', 3);
  const only = listOption(args, 'only', ['']);
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  const db = await open({ dataDir: folder, sources: [{ path: 'main.hx', text: source }] });
  try {
    const writes = new Writes(db);
    await writes.sow(numberOption(args, 'before', 100_000));
    const cases = writes.cases().filter(({ name }) => only.some((part) => name.includes(part)));
    const times = cases.map(() => sizes.map((): number[] => []));
    for (let round = 0; round < rounds; round++) {
      for (const [i, one] of cases.entries()) {
        for (const [j, size] of sizes.entries()) {
          times[i]![j]!.push(await writes.time(one, size, rows));
        }
      }
    }
    const table = cases.map(({ name }, i): Cell[] => [name, ...times[i]!.map(median)]);
    const columns = ['CPU us a row', ...sizes.map((size) => `${size} a call`)];
    console.log(printTable(columns, table));
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
