// Damaged, foreign and missing files: the server never crashes by a signal, never answers a wrong
// value, and never takes a damaged directory for an empty one.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeFolder } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, StartFailed, startServer } from '../support/server/server.js';
import { random } from '../reliability/crash/oracle.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

const sources = {
  'main.hx': `
N::Doc { INDEX no: I64, text: String }
V::Point { no: I64 }
E::Next { From: Doc, To: Doc }
QUERY sow(nos: [I64]) =>
  FOR no IN nos {
    d <- AddN<Doc>({ no: no, text: "some words to find again" })
    AddE<Next>::From(d)::To(d)
    AddV<Point>([1.0, 2.0, 3.0], { no: no })
  }
  RETURN "ok"
QUERY docs() => d <- N<Doc> RETURN d::{no, text, next: _::Out<Next>::{no}}
QUERY points() => p <- V<Point> RETURN p::{no, data}
QUERY ping() => RETURN "pong"
QUERY add(no: I64) => d <- AddN<Doc>({ no: no }) RETURN d::{no}
`,
};

let server: Server;
let original: string;
let expected: { docs: unknown; points: unknown };

beforeAll(async () => {
  server = await startServer({ sources });
  await server.client.post('sow', { nos: Array.from({ length: 300 }, (_, i) => i) });
  expected = {
    docs: await server.client.post('docs'),
    points: await server.client.post('points'),
  };
  await server.stop();
  original = join(makeFolder(), 'data');
  cpSync(server.data, original, { recursive: true });
});

afterAll(() => server?.dispose());

/** Every test starts from the sown directory and a stopped server. */
beforeEach(async () => {
  if (server.child.exitCode === null && server.child.signalCode === null) await server.kill();
  rmSync(server.data, { recursive: true, force: true });
  cpSync(original, server.data, { recursive: true });
});

const file = (...parts: string[]) => join(server.data, ...parts);

/** Exit code of a refused start, or undefined when the server started. */
async function startCode(): Promise<{ code: number | null; output: string } | undefined> {
  try {
    await server.start();
    return undefined;
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    expect(error.exit.signal, error.output).toBeNull();
    return { code: error.exit.code, output: error.output };
  }
}

async function expectRefused(code: number, name: string): Promise<void> {
  const refused = await startCode();
  expect(refused?.code, refused?.output ?? 'it started').toBe(code);
  expect(refused?.output).toContain(name);
}

async function expectIdentical(): Promise<void> {
  const refused = await startCode();
  expect(refused, refused?.output).toBeUndefined();
  expect(await server.client.post('docs')).toEqual(expected.docs);
  expect(await server.client.post('points')).toEqual(expected.points);
}

/** Changes bytes of a file in place. */
function damage(path: string, at: number, change: (bytes: Buffer) => void, size = 1): void {
  const bytes = readFileSync(path);
  change(bytes.subarray(at, at + size));
  writeFileSync(path, bytes);
}

describe('data.mdb', () => {
  test('emptied is not a new database [XF02]', async () => {
    truncateSync(file('graph', 'data.mdb'), 0);
    await expectRefused(74, 'DATA_CORRUPT');
  });

  test('missing is not a new database', async () => {
    unlinkSync(file('graph', 'data.mdb'));
    await expectRefused(74, 'DATA_CORRUPT');
  });

  test('meta page 0 zeroed [XF04]', async () => {
    damage(file('graph', 'data.mdb'), 0, (bytes) => bytes.fill(0), 4096);
    await expectRefused(74, 'DATA_CORRUPT');
  });

  test('both meta pages zeroed [XF04]', async () => {
    damage(file('graph', 'data.mdb'), 0, (bytes) => bytes.fill(0), 8192);
    await expectRefused(74, 'DATA_CORRUPT');
  });

  test('text, one byte, half the file', async () => {
    const path = file('graph', 'data.mdb');
    const half = statSync(path).size >> 1;
    for (const content of [
      Buffer.from('hello'),
      Buffer.alloc(1),
      readFileSync(path).subarray(0, half),
    ]) {
      writeFileSync(path, content);
      await expectRefused(74, 'DATA_CORRUPT');
    }
  });

  const seeds = long ? 25 : 2;
  test(`one flipped bit, ${seeds} seeds: never a wrong value [XF06]`, async () => {
    const outcomes: string[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      rmSync(server.data, { recursive: true, force: true });
      cpSync(original, server.data, { recursive: true });
      const path = file('graph', 'data.mdb');
      const next = random(seed);
      const at = 8192 + Math.floor(next() * (statSync(path).size - 8192));
      damage(path, at, (bytes) => (bytes[0]! ^= 1 << Math.floor(next() * 8)));
      outcomes.push(await afterFlip(seed));
    }
    expect(outcomes.filter((outcome) => outcome.startsWith('WRONG'))).toEqual([]);
  }, 600_000);

  async function afterFlip(seed: number): Promise<string> {
    const refused = await startCode();
    if (refused !== undefined)
      return refused.code === 74 ? 'refused' : `WRONG exit ${refused.code}`;
    const answers: string[] = [];
    for (const name of ['docs', 'points'] as const) {
      const reply = await server.client.request({ path: name });
      if (reply.status === 200) {
        const same = JSON.stringify(JSON.parse(reply.text)) === JSON.stringify(expected[name]);
        answers.push(same ? 'same' : `WRONG ${name} of seed ${seed}`);
      } else {
        const { code } = JSON.parse(reply.text);
        answers.push(
          code === 'DATA_CORRUPT' ? code : `WRONG ${reply.status} ${code}, seed ${seed}`,
        );
      }
    }
    await server.kill();
    return answers.find((answer) => answer.startsWith('WRONG')) ?? answers.join();
  }

  test('verify --deep reports damaged values', async () => {
    expect((await commandHere(['verify', server.data, '--deep'])).code).toBe(0);
    const path = file('graph', 'data.mdb');
    // Freed pages keep old copies, so every copy is damaged.
    const bytes = readFileSync(path);
    let copies = 0;
    for (let at = bytes.indexOf('some words'); at >= 0; at = bytes.indexOf('some words', at + 1)) {
      bytes[at + 2]! ^= 1;
      copies++;
    }
    expect(copies).toBeGreaterThan(0);
    writeFileSync(path, bytes);
    expect((await commandHere(['verify', server.data, '--deep'])).code).toBe(2);
  });

  test('deleted under a running server is 503 STORAGE_LOST, from the very next write on', async () => {
    await expectIdentical();
    unlinkSync(file('graph', 'data.mdb'));
    // The file has not been checked since the damage, so the commit itself must notice.
    const first = await server.client.request({ path: 'add', body: '{"no":1}' });
    expect([first.status, JSON.parse(first.text).code]).toEqual([503, 'STORAGE_LOST']);
    const reply = await server.client.request({ path: 'add', body: '{"no":1}' });
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([503, 'STORAGE_LOST']);
    const read = await server.client.request({ path: 'docs' });
    expect([read.status, JSON.parse(read.text).code]).toEqual([503, 'STORAGE_LOST']);
    expect((await server.client.request({ method: 'GET', path: 'readyz' })).status).toBe(503);
    expect((await server.client.request({ method: 'GET', path: 'livez' })).status).toBe(200);
  });
});

describe('lock.mdb', () => {
  test('garbage, missing, read-only [XF08]', async () => {
    const path = file('graph', 'lock.mdb');
    writeFileSync(path, Buffer.alloc(8192, 0xa5));
    await expectIdentical();
    await server.kill();
    rmSync(path, { force: true });
    await expectIdentical();
    await server.kill();
    chmodSync(path, 0o400);
    await expectIdentical();
  });
});

describe('snapshots', () => {
  test('a left-over .tmp is deleted [XF10]', async () => {
    writeFileSync(file('vec', 'Point.999.tmp'), 'unfinished');
    await expectIdentical();
    expect(readdirSync(file('vec')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('a damaged, foreign or missing one is rebuilt', async () => {
    const names = () => readdirSync(file('vec')).filter((name) => name.endsWith('.snap'));
    expect(names().length).toBeGreaterThan(0);
    for (const name of names())
      damage(file('vec', name), Math.floor(statSync(file('vec', name)).size / 2), (bytes) => {
        bytes[0]! ^= 1;
      });
    await expectIdentical();
    await server.kill();
    for (const name of names()) writeFileSync(file('vec', name), 'not a snapshot');
    await expectIdentical();
    await server.kill();
    for (const name of names()) unlinkSync(file('vec', name));
    await expectIdentical();
  });
});

describe('manifest', () => {
  const path = () => file('MANIFEST.json');
  const hashes = () =>
    ['MANIFEST.json', 'graph/data.mdb'].map((name) =>
      createHash('sha256')
        .update(readFileSync(file(name)))
        .digest('hex'),
    );

  test('a newer major format is refused and nothing is touched [XF12]', async () => {
    const { crc32: _, ...manifest } = JSON.parse(readFileSync(path(), 'utf8'));
    manifest.format.major += 1;
    const sum = crc32(JSON.stringify(manifest)).toString(16).padStart(8, '0');
    writeFileSync(path(), JSON.stringify({ ...manifest, crc32: sum }, null, 2));
    const before = hashes();
    await expectRefused(76, 'FORMAT_TOO_NEW');
    expect(hashes()).toEqual(before);
  });

  test('damaged or missing files next to the data', async () => {
    damage(path(), 10, (bytes) => (bytes[0]! ^= 1));
    await expectRefused(74, 'MANIFEST');
    unlinkSync(path());
    await expectRefused(74, 'DATA_');
    expect(existsSync(file('graph', 'data.mdb'))).toBe(true);
  });
});

test('a full disk at start: reads continue, writes are 507, space makes them work again [XF14]', async () => {
  const env = { TRELLIS_STORAGE_MIN_FREE: '1000000GiB' };
  await server.start({ env });
  expect(await server.client.post('docs')).toEqual(expected.docs);
  const reply = await server.client.request({ path: 'add', body: '{"no":1}' });
  expect([reply.status, JSON.parse(reply.text).code]).toEqual([507, 'INSUFFICIENT_STORAGE']);
  await server.restart({ env: {} });
  expect(await server.client.post('add', { no: 1 })).toEqual({ d: { no: 1 } });
});
