// Where a server can listen, and what it says where it cannot: addresses, ports, and sockets in the
// file system, on both transports.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestBytes } from '../support/server/http.js';
import { startApp, transports } from './running-app.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trellis-listen-'));
  writeFileSync(join(folder, 'file'), 'kept');
  mkdirSync(join(folder, 'folder'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The answer to one request through a socket in the file system. */
function ask(path: string, request: Parameters<typeof requestBytes>[0]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    const headers = { ...request.headers, Connection: 'close' };
    socket.write(requestBytes({ ...request, headers }));
  });
}

describe.each(transports)('listening on %s', (transport) => {
  const root = process.getuid?.() === 0;
  /** Host, port, code, what the message says. */
  const refused: [string, string, RegExp][] = [
    ['203.0.113.7', '0', /203\.0\.113\.7:0.*no such address \(EADDRNOTAVAIL\)/],
    ['no.such.host.invalid', '0', /no\.such\.host\.invalid:0.*\((ENOTFOUND|EAI_AGAIN)\)/],
    ['unix:FOLDER/file', '0', /file: a file that is no socket is in the way \(EEXIST\)/],
    ['unix:FOLDER/folder', '0', /folder: a file that is no socket.*\(EEXIST\)/],
    ['unix:FOLDER/none/s', '0', /\((ENOENT|EACCES)\)/],
    ['unix:FOLDER/file/s', '0', /\(ENOTDIR\)/],
    [`unix:FOLDER/${'x'.repeat(200)}`, '0', /\(ENAMETOOLONG\)/],
    ...(root ? [] : [['127.0.0.1', '1', /\(EACCES\)/] as [string, string, RegExp]]),
  ];
  it.each(refused)('%s port %s', async (host, port, message) => {
    const settings = { 'server.host': host.replace('FOLDER', folder), 'server.port': port };
    const error = await startApp(transport, settings).then(
      () => undefined,
      (reason: unknown) => reason as { data: { code: string }; message: string },
    );
    expect(error?.data.code).toBe('LISTEN_FAILED');
    expect(error?.message).toMatch(message);
    expect(existsSync(join(folder, 'file'))).toBe(true);
  });

  it('reports a used port as in use, whichever process has it', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const taken = startApp(transport, { 'server.port': String(port) });
    await expect(taken).rejects.toMatchObject({ data: { code: 'PORT_IN_USE' } });
    other.close();
  });

  it('serves through a socket, which is this machine', async () => {
    const path = join(folder, `${transport}.sock`);
    const settings = { 'server.host': `unix:${path}` };
    // One left behind by a process that died is taken over.
    const dead = createServer().listen(path);
    await new Promise((resolve) => dead.once('listening', resolve));
    const server = await startApp(transport, settings).catch((error: Error) => error);
    expect(server).toBeInstanceOf(Error);
    expect((server as Error).message).toContain('another process answers there (EADDRINUSE)');
    await new Promise((resolve) => dead.close(resolve));

    const running = await startApp(transport, settings);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await ask(path, { path: '/ping' })).toContain('{"pong":true}');
    expect(await ask(path, { path: '/_admin/nothing' })).toContain(' 200 ');
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    expect(await ask(path, { path: '/_admin/nothing', headers })).toContain('FORBIDDEN');
    expect(running.app.warnings()).toEqual([]);
    running.close();
    expect(existsSync(path)).toBe(false);
  });
});
