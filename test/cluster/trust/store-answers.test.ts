// What a store answers that lies: more than it was asked for, or another message under the id of ours. No answer of it
// takes memory without a bound, and none makes a node believe that its entry is in the log.
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import { Bucket } from '../../../engine/cluster/log/s3-bucket.js';
import { ObjectStore } from '../../support/cluster/object-store.js';

let server: Server | undefined;
afterEach(() => void server?.close());
let store: ObjectStore;
afterAll(() => store?.close());

/** A store that answers this to whatever it is asked; how much of it was sent. */
async function bucketOf(answer: (response: ServerResponse) => void): Promise<Bucket> {
  server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => void server!.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  const address = { endpoint, bucketPath: '/bucket', prefix: 'x/', region: 'r' };
  return new Bucket(address, { id: 'id', secret: 'secret' }, undefined);
}

let sent = 0;
/** Without a length, for ever. */
const endless = (response: ServerResponse): void => {
  sent = 0;
  const more = (): void => {
    while (!response.destroyed) {
      sent += 65_536;
      if (!response.write(Buffer.alloc(65_536, 32))) return void response.once('drain', more);
    }
  };
  more();
};

test('reads no more of a response than it requested', async () => {
  const bucket = await bucketOf(endless);
  const got = await bucket.get('log/1', 100_000);
  expect(got?.length).toBe(100_000);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  expect(await bucket.list('log/', '', 10)).toBeUndefined();
  expect(await bucket.create('log/2', Buffer.from('x'), 'id')).toBe(true);
  expect(await bucket.remove('log/2')).toBe(true);
  bucket.close();
});

test('what is within the bound is whole', async () => {
  const bucket = await bucketOf((response) => void response.end(Buffer.alloc(1_000, 7)));
  expect(await bucket.get('log/1', 1_000)).toEqual(Buffer.alloc(1_000, 7));
  expect((await bucket.get('log/1', 999))?.length).toBe(999);
  bucket.close();
});

test('another message under the id of an entry is not taken for it', async () => {
  store = await ObjectStore.open();
  const place = store.place('ids');
  const driver = await driverOf('s3://');
  await driver.create(place);
  const log = await driver.open(place);
  expect(await log.append(Buffer.from('forged'), 0, 'id')).toBe('ok');
  expect(await log.append(Buffer.from('honest'), 0, 'id')).toBe('behind');
  expect(await log.append(Buffer.from('forged'), 0, 'id')).toBe('ok');
  await log.close();
});
