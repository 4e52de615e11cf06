// K01, 2.1: which driver an address names, what addresses may say, and that naming none loads nothing.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { driverOf } from '../../engine/cluster/log/drivers.js';
import { natsAddress } from '../../engine/cluster/log/jetstream-connect.js';
import { LossDetector } from '../../engine/cluster/log/loss-detector.js';

test.each(['', 'nats', 'http://a', 'postgres://a', '__proto__://a', 'constructor://a', 'NATS://a'])(
  'no driver is named by `%s`',
  async (url) => {
    await expect((async () => driverOf(url))()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  },
);

/** A module with such a text. */
function moduleOf(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'driver-')), 'driver.mjs');
  writeFileSync(path, text);
  return `${pathToFileURL(path)}#any`;
}

const ofALog = ['append', 'read', 'at', 'first', 'last', 'size', 'trim', 'close'];
/** A module that offers all but `missing`. */
const moduleWithout = (missing: string): string => {
  const offered = (names: string[]): string =>
    names
      .filter((name) => name !== missing)
      .map((name) => `${name}() {}`)
      .join(', ');
  const open = missing === 'open' ? '' : `async open() { return { ${offered(ofALog)} }; },`;
  return moduleOf(`export const driver = { ${open} ${offered(['create', 'look'])} };`);
};
const anywhere = { url: '', name: '', keepBytes: 0 };

test('a module of the operator is a driver', async () => {
  const driver = await driverOf(moduleWithout(''));
  expect(Object.keys(await driver.open(anywhere))).toEqual(ofALog);
});

test.each(['open', 'create', 'look', ...ofALog])(
  'a driver of the operator without %s is refused by that name, and not waited for',
  async (missing) => {
    const opened = driverOf(moduleWithout(missing)).then((driver) => driver.open(anywhere));
    const what = expect.stringContaining(` has no ${missing}()`);
    await expect(opened).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      data: { args: { what } },
    });
  },
);

test.each(['export const other = 1;', 'not a module', 'export const driver = undefined;'])(
  'no driver is exported by `%s`',
  async (text) => {
    await expect(driverOf(moduleOf(text))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  },
);

test('addresses of NATS', () => {
  const plain = { replicas: 3, monitors: [], encrypted: false };
  expect(natsAddress('nats://a:4222,b:4222')).toEqual({ ...plain, servers: ['a:4222', 'b:4222'] });
  expect(natsAddress('tls://a/')).toEqual({ ...plain, servers: ['a'], encrypted: true });
  expect(natsAddress('nats://a,nats://b?replicas=1&monitor=http://a:1,http://b:2')).toEqual({
    servers: ['a', 'b'],
    replicas: 1,
    monitors: ['http://a:1', 'http://b:2'],
    encrypted: false,
  });
  for (const wrong of ['nats://', 'nats://a?replicas=2', 'nats://a?x=1', 'nats://a?replicas=x'])
    expect(() => natsAddress(wrong)).toThrow('must be `nats://host:port,…`');
});

test('the client packages run on every supported version of Node', () => {
  // The newest of this one asks for a newer Node, and has more letters in its ids.
  const { nuid } = createRequire(import.meta.url)('@nats-io/nuid') as { nuid: { next(): string } };
  const ids = new Set(Array.from({ length: 1000 }, () => nuid.next()));
  expect(ids.size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[0-9A-Z]{22}$/);
});

test('a single failed check never marks a log as lost', () => {
  const patience = new LossDetector();
  for (let i = 0; i < 100; i++) patience.observe(i % 2 === 0 ? 'it is gone' : undefined);
  patience.observe('it is gone');
});
