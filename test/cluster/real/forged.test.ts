// Who writes to the log past its nodes, over real log servers that ask nobody who they are: every forgery of
// the table is applied by nobody, and the address of a forged leader hears nothing of what clients say to the
// nodes.
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EntryDecoder } from '../../../engine/cluster/entry/decode-entry.js';
import { logStart } from '../../../engine/cluster/entry/chain.js';
import { EntryKeys } from '../../../engine/cluster/entry/entry-keys.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../../engine/cluster/entry/encode-entry.js';
import { packLeader } from '../../../engine/cluster/ipc/leader.js';
import { driver } from '../../../engine/cluster/log/jetstream.js';
import type { LogAddress, ReplicatedLog } from '../../../engine/cluster/log/replicated-log.js';
import { NatsServers } from '../../support/cluster/nats-servers.js';
import { forgeries, foundIn, keys } from '../support/forgeries.js';
import { closeMembers, founded, until, watch } from '../support/members.js';
import { Servers, people, secret } from '../support/servers.js';

let nats: NatsServers;
let servers: Servers | undefined;
let thief: Server;
beforeAll(async () => {
  nats = await NatsServers.start({ count: 1, sync: 'always' });
});
afterAll(async () => {
  closeMembers();
  await servers?.close();
  thief?.close();
  await nats.stop();
});

const place = (name: string): LogAddress => ({
  ...nats.place(name, undefined, '&replicas=1'),
  allowLazy: true,
});

/** All messages that there are. */
async function messagesOf(log: ReplicatedLog): Promise<Uint8Array[]> {
  const last = await log.last();
  const messages: Uint8Array[] = [];
  for (let seq = 1; seq <= last; seq++) messages.push((await log.at(seq))!);
  return messages;
}

const leaseMs = 2_000;
// Each takes a second or two of waiting: the table is whole over a log in memory, and in the long run here.
const long = process.env.TRELLIS_TEST_LONG === '1';
const names = Object.keys(forgeries).filter(
  (name, i) => long || i % 4 === 0 || /^epoch,/.test(name),
);
const atOnce = 8;

async function refused(name: string, number: number): Promise<void> {
  const at = place(`forged${number}`);
  await driver.create(at);
  const log = await driver.open(at);
  const { log: first, start } = founded(keys);
  const [genesis] = first.messages;
  expect(await log.append(genesis!.bytes, 0, genesis!.id)).toBe('ok');
  const leader = watch(await driver.open(at), start, 'a', { keys, leaseMs });
  await until(() => leader.member.role === 'leader');
  await leader.member.append(entryKind.changes, Uint8Array.of(1));
  const follower = watch(await driver.open(at), start, 'b', { mayLead: false, keys, leaseMs });
  await until(() => follower.member.head.seq >= leader.member.head.seq);
  leader.member.close();
  const found = foundIn(await messagesOf(log));
  const count = follower.entries.length;
  for (const [i, bytes] of forgeries[name]!(found).entries())
    expect(await log.append(bytes, found.at.seq + i, `forged-${i}`), name).toBe('ok');
  await until(() => follower.member.role === 'lost');
  expect(['LOG_UNTRUSTED', 'LOG_LOST'], name).toContain(follower.faults[0]!.code);
  expect([follower.entries.length, follower.leaders.includes('thief')], name).toEqual([
    count,
    false,
  ]);
  expect(await leader.member.append(entryKind.changes, Uint8Array.of(2)), name).toBe('behind');
  await log.close();
}

test('no node applies a forged entry', async () => {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < names.length; i = next++) await refused(names[i]!, i);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
});

test('a message that bears the id of an entry and is another one is not taken for it', async () => {
  const at = place('ids');
  await driver.create(at);
  const log = await driver.open(at);
  expect(await log.append(Buffer.from('forged'), 0, 'id')).toBe('ok');
  expect(await log.append(Buffer.from('honest'), 0, 'id')).toBe('behind');
  await log.close();
});

test('a forged leader receives no request of clients, and leads no node', async () => {
  const heard: string[] = [];
  thief = createServer(async (request, response) => {
    let said = '';
    for await (const piece of request) said += piece;
    heard.push(`${request.url} ${JSON.stringify(request.headers)} ${said}`);
    response.end('{"challenge":"0.x","embeddings":true}');
  });
  await new Promise<void>((resolve) => void thief.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(thief.address() as AddressInfo).port}`;
  servers = await Servers.over(people);
  const { url } = place('people');
  const key = 'a key of the client, long enough';
  const config = {
    'cluster.log': url,
    'cluster.allow_unsynced_log': true,
    'cluster.wait_timeout': '1s',
    'auth.api_key': key,
  };
  for (const name of ['a', 'b']) await servers.place(name, config);
  const made = await servers.command('init', servers.get('a'));
  expect(made.stdout + made.stderr).toContain('created the log');
  await servers.begin('a', 'b');
  const own = { 'X-Api-Key': key };
  const added = await servers.call('b', 'add', { name: 'before' }, own);
  expect(added.status).toBe(200);
  const log = await driver.open(place('people'));
  // Its chain, and where it stands, anybody may read.
  for (let isPut = false; !isPut; ) {
    const messages = await messagesOf(log);
    const seen = endOf(messages, secret);
    const body = packLeader({ node: 'thief', address });
    const source = { kind: entryKind.epoch, epoch: seen.epoch + 1, time: 0, body };
    const id = new Uint8Array(16).fill(7);
    const [part] = encodeEntry(seen, seen.seq, { ...source, id }).parts;
    isPut = (await log.append(part!.bytes, seen.seq, part!.id)) === 'ok';
  }
  await log.close();
  for (const end = performance.now() + 5_000; performance.now() < end; await pause(100)) {
    await servers.call('b', 'add', { name: 'the client says' }, own);
    if ((await servers.statusOf('b')).fault !== undefined) break;
  }
  for (const name of ['a', 'b']) {
    await servers.call(name, 'add', { name: 'the client says' }, own);
    const { fault, leader } = await servers.statusOf(name);
    expect([name, fault?.code]).toEqual([name, 'LOG_UNTRUSTED']);
    expect(leader?.node).not.toBe('thief');
    const read = await servers.call(name, 'all', {}, { ...own, 'Trellis-Consistency': 'local' });
    expect(read.status).toBe(200);
    const strong = { ...own, 'Trellis-Consistency': 'strong' };
    expect((await servers.call(name, 'all', {}, strong)).status).toBe(503);
  }
  expect(heard).toEqual([]);
});

function endOf(messages: readonly Uint8Array[], known: string) {
  const assembler = new EntryDecoder(logStart, new EntryKeys([known], 'people'));
  for (const [i, bytes] of messages.entries()) assembler.push({ seq: i + 1, bytes });
  const { epoch, seq, chain } = assembler.position;
  return { epoch, seq, chain };
}
