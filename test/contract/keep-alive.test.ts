// The client on real connections of a server, on both transports: connections are reused, a connection that
// was closed meanwhile causes no error, and a cancelled call ends on the server.
import { connect as dial, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../server/client/client.js';
import { type RunningApp, startApp, transports } from '../server/running-app.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

/** Passes everything on to a port, and counts connections. */
interface Counter {
  url: string;
  connections: () => number;
  close(): void;
}

function countConnections(port: number): Promise<Counter> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections++;
    const onward = dial(port, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port: own } = server.address() as { port: number };
      resolve({
        url: `http://127.0.0.1:${own}`,
        connections: () => connections,
        close: () => {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      });
    }),
  );
}

describe.each(transports)('%s', (transport) => {
  let app: RunningApp;
  let counter: Counter;
  const open = async (settings: Record<string, string>): Promise<void> => {
    app = await startApp(transport, settings);
    counter = await countConnections(app.port);
  };
  const close = (): void => {
    counter.close();
    app.close();
  };
  const idle = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

  describe('a server as it is', () => {
    beforeAll(() => open({}));
    afterAll(close);

    test('P13 hundreds of calls use the same connection', async () => {
      const caller = connect({ url: counter.url });
      for (let i = 0; i < (isLong ? 1_000 : 300); i++) await caller.call('ping');
      expect(counter.connections()).toBe(1);
      // Nor does a call that fails cost one.
      for (let i = 0; i < 10; i++) await caller.call('missing').catch(() => undefined);
      expect(counter.connections()).toBe(1);
    });

    test('P12 a cancelled call ends on the server', async () => {
      const caller = connect({ url: counter.url, retries: 0 });
      const { cancelled } = app.database;
      const giveUp = new AbortController();
      const call = caller.call('hang', {}, { signal: giveUp.signal, timeoutMs: 0 });
      call.catch(() => undefined);
      await expect.poll(() => app.app.inFlight, { interval: 2 }).toBe(1);
      giveUp.abort(new Error('enough'));
      await expect(call).rejects.toThrow('enough');
      // A client that only says that it sends no more is waited for; half a second tells them apart.
      await expect.poll(() => app.database.cancelled).toBe(cancelled + 1);
    });

    test.runIf(isLong).each([15, 60, 85])(
      'P13 a call after %i s',
      { timeout: 120_000 },
      async (seconds) => {
        const caller = connect({ url: counter.url, retries: 0 });
        await caller.call('ping');
        await idle(seconds);
        expect(await caller.call('ping')).toEqual({ pong: true });
      },
    );
  });

  test('P13 a connection that the server has closed meanwhile is not missed', async () => {
    await open({ 'server.idle_time': '1s' });
    try {
      const caller = connect({ url: counter.url, retries: 0 });
      for (const seconds of isLong ? [0.9, 1, 1.1, 1.5, 2] : [1.1]) {
        await caller.call('ping');
        await idle(seconds);
      }
      expect(await caller.call('ping')).toEqual({ pong: true });
    } finally {
      close();
    }
  });
});
