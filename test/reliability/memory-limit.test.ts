// The smallest container: 512 MB, and ten clients with large reads. Defaults follow the limit, so that nothing is ended
// by the kernel; what is too much is refused. Needs root and control groups (version 1 or 2).
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { MemoryWatch } from '../../engine/database/maintenance/memory-watch.js';
import { defaultIn, indexBytes, readersIn } from '../../server/config/memory.js';
import { makeFolder, writeProject } from '../support/project.js';
import { noteProof } from '../support/proof.js';
import { runCli, Server } from '../support/server/server.js';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const limitBytes = 512 * MiB;
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const rows = isLong ? 150_000 : 20_000;
const readMs = isLong ? 30_000 : 1_000;

/** A control group with that much memory, by either version. */
class Group {
  readonly #folder: string;

  constructor() {
    const home = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].find((path) =>
      ['memory.limit_in_bytes', 'cgroup.subtree_control'].some((name) =>
        existsSync(join(path, name)),
      ),
    )!;
    this.#folder = join(home, `trellis-test-${process.pid}`);
    mkdirSync(this.#folder);
    const name = existsSync(join(this.#folder, 'memory.max'))
      ? 'memory.max'
      : 'memory.limit_in_bytes';
    writeFileSync(join(this.#folder, name), String(limitBytes));
  }

  /** Takes a process and what it starts from now on. */
  take(pid: number): void {
    writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid));
  }

  /** Nobody may be in it. */
  remove(): void {
    rmdirSync(this.#folder);
  }
}

function whyNoGroup(): string | undefined {
  try {
    new Group().remove();
    return undefined;
  } catch {
    console.info('the test of a small container is skipped: it needs root and control groups');
    return 'no control groups';
  }
}

describe('defaults', () => {
  it.each([
    [512 * MiB, 8 * MiB, 128 * MiB],
    [GiB, 16 * MiB, 384 * MiB],
    [4 * GiB, 64 * MiB, 2 * GiB],
    [64 * GiB, 64 * MiB, 32 * GiB],
    // Below the smallest size nothing shrinks further.
    [64 * MiB, 8 * MiB, 128 * MiB],
  ])('in %i bytes', (memory, result, index) => {
    expect(defaultIn(memory, 'limits.result_bytes', 64 * MiB)).toBe(result);
    expect(defaultIn(memory, 'limits.index_key_bytes', 1_900)).toBe(1_900);
    expect(indexBytes(memory)).toBe(index);
    expect(readersIn(memory)).toBeGreaterThanOrEqual(2);
  });
});

it('near its limit, memory is short, and no longer when it was freed', async () => {
  let own = 80;
  const watch = new MemoryWatch(100, () => own);
  expect(watch.isShort).toBe(false);
  own = 95;
  await expect.poll(() => watch.isShort).toBe(true);
  own = 50;
  await expect.poll(() => watch.isShort).toBe(false);
  expect(new MemoryWatch(undefined, () => own).isShort).toBe(false);
  expect(new MemoryWatch(1).isShort).toBe(process.platform === 'linux');
});

const sources = {
  'main.hx': `
N::Item { UNIQUE INDEX key: I64, text: String }
QUERY all() => n <- N<Item> RETURN n
QUERY some(from: I64) => r <- N<Item>::WHERE(_::{key}::GTE(from))::RANGE(0, 20000) RETURN r
QUERY sorted() => r <- N<Item>::ORDER<Desc>(_::{text}) RETURN r
QUERY groups() => r <- N<Item>::GROUP_BY(text) RETURN r
QUERY put(key: I64) => n <- AddN<Item>({ key: key, text: "new" }) RETURN n::{key}
`,
};

test.skipIf(whyNoGroup() !== undefined)(
  'a container of 512 MB stands ten clients with large reads',
  async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'project'));
    writeProject(join(folder, 'project'), { sources });
    const lines = Array.from(
      { length: rows },
      (_, key) => `${key},${String(key).padStart(240, 'x')}`,
    );
    writeFileSync(join(folder, 'rows.csv'), `key,text\n${lines.join('\n')}\n`);
    const data = ['--project', join(folder, 'project'), '--data', join(folder, 'data')];
    const imported = await runCli(['import', join(folder, 'rows.csv'), ...data, '--node', 'Item']);
    expect(imported).toMatchObject({ code: 0 });
    const group = new Group();
    const server = new Server(folder, { workers: 4, within: (pid) => group.take(pid) });
    try {
      await server.start();
      const answers = new Map<string, number>();
      const until = performance.now() + readMs;
      const kinds = ['all', 'some', 'sorted', 'groups', 'put'];
      let key = 1_000_000;
      const client = async (first: number): Promise<void> => {
        for (let at = first; performance.now() < until; at++) {
          const path = kinds[at % kinds.length]!;
          const body = JSON.stringify({ from: 0, key: key++ });
          const how = await server.client.request({ path, body }, 30_000).then(
            ({ status }) => `${path} ${status}`,
            // The slowest readers are closed where all together are given too much.
            () => 'closed',
          );
          if (how === 'closed' && server.child.signalCode !== null) return;
          answers.set(how, (answers.get(how) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: 10 }, (_, at) => client(at)));
      expect(server.child.signalCode, [...answers].join()).toBe(null);
      expect([...answers.keys()].filter((one) => !/ (200|413|503)$|^closed$/.test(one))).toEqual(
        [],
      );
      expect(answers.get('put 200')).toBeGreaterThan(0);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
      noteProof(
        'T14',
        `a container of 512 MB: ten clients with large reads, ${[...answers].join(' ')}`,
      );
    } finally {
      await server.kill();
      group.remove();
    }
  },
  180_000,
);
