// K17, K51: a log is made only where the servers sync what they acknowledge; credentials and TLS.
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import { makeFolder } from '../../support/project.js';
import { appendSurely, readTo } from '../../support/cluster/log-messages.js';
import { NatsServers } from '../../support/cluster/nats-servers.js';

const driver = await driverOf('nats://');

test('K17 lazy servers are refused, and taken only when the operator insists', async () => {
  const servers = await NatsServers.start({ sync: undefined });
  try {
    const place = servers.place('lazy');
    expect(await driver.look(place)).toMatchObject({ exists: false, durable: false });
    await expect(driver.create(place)).rejects.toMatchObject({ code: 'LOG_UNSAFE' });
    expect(await driver.look(place)).toMatchObject({ exists: false });
    // Who does not say how it syncs is not believed.
    const silent = { ...place, url: place.url.replace(/\?.*/, '') };
    expect(await driver.look(silent)).toMatchObject({ durable: undefined });
    await expect(driver.create(silent)).rejects.toMatchObject({ code: 'LOG_UNSAFE' });
    await driver.create({ ...place, allowLazy: true });
    expect(await driver.look(place)).toMatchObject({ exists: true, durable: false });
  } finally {
    await servers.stop();
  }
});

test('K17 the system account finds out over NATS whether servers sync', async () => {
  const extra = 'accounts { $SYS { users = [ { user: sys, password: s } ] } }';
  const servers = await NatsServers.start({ sync: 'always', extra });
  const file = join(makeFolder(), 'token');
  try {
    writeFileSync(file, 'sys:s\n', { mode: 0o600 });
    const place = { ...servers.place('x'), tokenFile: file };
    const url = place.url.replace(/\?.*/, '');
    // The system account has no streams: it can be asked, and nothing else.
    const { connectNats } = await import('../../../engine/cluster/log/jetstream-connect.js');
    const { checkSyncSettings } = await import('../../../engine/cluster/log/jetstream-safety.js');
    const connection = await connectNats({ ...place, url });
    expect(await checkSyncSettings(connection, [], 3)).toMatchObject({ durable: true });
    await connection.close();
    chmodSync(file, 0o644);
    await expect(connectNats({ ...place, url })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  } finally {
    await servers.stop();
  }
});

test('a log on one server needs an explicit option; credentials; TLS', async () => {
  const folder = makeFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', [...request.split(' '), ...subject, ...files], { stdio: 'ignore' });
  const extra = `tls { cert_file: "${cert}", key_file: "${key}" }
authorization { user: trellis, password: "se:cret" }`;
  const servers = await NatsServers.start({ count: 1, sync: 'always', extra });
  try {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'trellis:se:cret', { mode: 0o600 });
    const bare = servers.place('one', servers.ports, '&replicas=1');
    const place = { ...bare, tokenFile, tls: { ca: cert } };
    await expect(driver.create(bare)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
    const wrong = join(folder, 'wrong');
    writeFileSync(wrong, 'trellis:no', { mode: 0o600 });
    const refused = driver.create({ ...place, tokenFile: wrong });
    await expect(refused).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
    await expect(driver.create(place)).rejects.toMatchObject({ code: 'LOG_UNSAFE' });
    await driver.create({ ...place, allowLazy: true });
    const log = await driver.open(place);
    expect((await appendSurely(log, 'a', 0)).outcome).toBe('ok');
    expect(await readTo(log, 1, 1)).toEqual(['a']);
    await log.close();
  } finally {
    await servers.stop();
  }
});

test('K52 the tested program has the pinned version', async () => {
  const shown = execFileSync(process.env.TRELLIS_NATS_SERVER!, ['--version'], { encoding: 'utf8' });
  const [, major, minor, patch] = /v?(\d+)\.(\d+)\.(\d+)/.exec(shown)!.map(Number);
  expect(major! * 1e6 + minor! * 1e3 + patch!).toBeGreaterThanOrEqual(2_015_002);
});
