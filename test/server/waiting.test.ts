// Who waits for an answer, or for news, has nothing to say: no transport takes the connection for idle. The
// timers of uWebSockets.js end a silent one after 8 to 12 s.
import { describe, expect, test } from 'vitest';
import { listen } from '../mcp/listener.js';
import { startMcp } from '../mcp/running-mcp.js';
import { requestBytes } from '../support/server/http.js';
import { startApp, transports } from './running-app.js';

const waitMs = process.env.TRELLIS_TEST_LONG === '1' ? 40_000 : 14_000;

describe.concurrent.each(transports)('%s', (transport) => {
  test('for an answer, however its request came', async () => {
    const app = await startApp(transport, { 'limits.query_time': `${waitMs}ms` });
    const whole = requestBytes({
      path: '/hang',
      body: JSON.stringify({ pad: 'x'.repeat(200_000) }),
    });
    try {
      const replies = [whole.length, 30, whole.length - 10].map(async (cut) => {
        const connection = await app.connect();
        connection.send(whole.subarray(0, cut));
        await new Promise((resolve) => setTimeout(resolve, 30));
        connection.send(whole.subarray(cut));
        const { status, text } = await connection.reply();
        // The connection is as good as before.
        const next = await connection.request({ path: '/ping', body: '{}' });
        connection.close();
        return [status, JSON.parse(text).args, next.status];
      });
      const late = [504, { ms: waitMs }, 200];
      expect(await Promise.all(replies)).toEqual([late, late, late]);
    } finally {
      app.close();
    }
  });

  test('for news', async () => {
    const mcp = await startMcp(transport, 'N::P { a: I64 } QUERY q() => p <- N<P> RETURN p', {});
    try {
      const listener = await listen(mcp.port, { toolsListChanged: true });
      expect((await listener.next()).method).toBe('notifications/subscriptions/acknowledged');
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      mcp.reload('N::P { a: I64 } QUERY other() => p <- N<P> RETURN p');
      expect((await listener.next()).method).toBe('notifications/tools/list_changed');
      listener.close();
    } finally {
      await mcp.close();
    }
  });
});
