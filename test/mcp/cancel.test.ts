// A client that closes its connection has given up: the call it made is stopped, on both transports.
import { describe, expect, test } from 'vitest';
import { requestBytes } from '../support/server/http.js';
import { type RunningApp, startApp, transports } from '../server/running-app.js';
import { expectFigure } from '../support/run/figure.js';

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}';
const endings = {
  'ends its side': (socket: import('node:net').Socket) => socket.end(),
  'breaks it off': (socket: import('node:net').Socket) => socket.destroy(),
};

describe.each(transports)('%s', (transport) => {
  test.each(Object.entries(endings))('M20 a client that %s', async (_, leave) => {
    const running = await startApp(transport);
    try {
      const waits: number[] = [];
      for (let i = 0; i < 5; i++) waits.push(await cancelTime(running, leave));
      // Other work of this machine may be in the way of one of them, not of all.
      expectFigure(Math.min(...waits), 50, 'ms to the cancel');
      const { text } = await running.request({ path: 'ping', body: '{}' });
      expect(text).toBe('{"pong":true}');
    } finally {
      running.close();
    }
  });
});

async function cancelTime(
  { database, app, connect }: RunningApp,
  leave: (typeof endings)[keyof typeof endings],
): Promise<number> {
  const before = database.cancelled;
  const { inFlight } = app;
  const connection = await connect();
  connection.send(requestBytes({ path: 'mcp', body: call }));
  await expect.poll(() => app.inFlight, { interval: 2 }).toBe(inFlight + 1);
  const started = performance.now();
  leave(connection.socket);
  await expect.poll(() => database.cancelled, { interval: 1 }).toBe(before + 1);
  return performance.now() - started;
}
