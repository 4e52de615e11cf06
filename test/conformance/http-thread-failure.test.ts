// An HTTP thread that fails takes only its own connections with it, is replaced, and breaks no promise.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasUws } from '../support/server/has-uws.js';
import { Connection, ConnectionClosed } from '../support/server/http.js';
import { admin, HttpThreadServer } from './http-thread-server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

describe.skipIf(!hasUws)('HTTP threads that fail', () => {
  let subject: HttpThreadServer;
  beforeAll(async () => {
    // One of them, and each that takes its place, at its 150th message.
    subject = await HttpThreadServer.start('httpThreadMessage@150:throw');
  });
  afterAll(() => subject.dispose());

  const restarts = () => subject.figure(/trellis_http_thread_restarts_total (\d+)/);

  /** Whether it went with its HTTP thread; what is passed on brings a message to that. */
  async function isLost(one: Connection): Promise<boolean> {
    try {
      const { status } = await one.request({ path: 'nothing', headers: admin });
      expect(status).toBe(404);
      return false;
    } catch (error) {
      if (error instanceof ConnectionClosed) return true;
      throw error;
    }
  }

  /** Calls on all connections until an HTTP thread has failed; those that went with it. */
  async function failOne(): Promise<Set<Connection>> {
    const lost = new Set<Connection>();
    const look = () =>
      Promise.all(
        subject.open.map(async (one) => {
          if (!lost.has(one) && (await isLost(one))) lost.add(one);
        }),
      );
    while (lost.size === 0) await look();
    // Some may have been answered just before.
    await look();
    return lost;
  }

  it('take only their own connections with them, and are replaced', async () => {
    for (let ends = 1; ends <= (long ? 12 : 2); ends++) {
      const lost = await failOne();
      expect(lost.size).toBeLessThanOrEqual(subject.open.length / 2);
      await expect.poll(restarts).toBe(ends);
      await expect.poll(() => subject.figure(/trellis_http_threads (\d+)/)).toBe(3);
      const kept = subject.open.filter((one) => !lost.has(one));
      expect(await Promise.all(kept.map(isLost))).toEqual(kept.map(() => false));
      // Dealt out in turn: its successor has some of them.
      for (const one of kept) one.close();
      subject.open = await subject.connect(6);
    }
    expect(subject.server.stderr).toContain('HTTP thread restarted');
  });

  it('keep every promise while programs change', async () => {
    const { open, server } = subject;
    const wanted = long ? 24 : 2;
    const ends = (await restarts()) + wanted;
    let [sent, acked, version, isOver] = [1000, 0, 100, false];
    /**
     * Sends requests on separate connections. The reply is undefined if a connection was lost and
     * replaced.
     */
    const asker =
      (own: Connection[]) =>
      async (place: number, path: string, body = {}) => {
        try {
          return await subject.call(own[place]!, path, body);
        } catch (error) {
          if (!(error instanceof ConnectionClosed)) throw error;
          own[place] = await Connection.open(server.port);
          return undefined;
        }
      };
    const dealt = () => subject.connect(open.length);
    const all = [await dealt(), await dealt(), await dealt()] as const;
    const [ask, askWriting, askChanged] = [asker(all[0]), asker(all[1]), asker(all[2])];
    const write = async (): Promise<void> => {
      while (!isOver) {
        const value = ++sent;
        const reply = await askWriting(value % open.length, 'set', { value });
        if (reply === undefined) continue;
        expect(reply.text).toBe(`{"c":{"value":${value}}}`);
        acked = value;
      }
    };
    const read = async (place: number): Promise<void> => {
      while (!isOver) {
        const least = acked;
        const reply = await ask(place, 'value');
        await ask(place, 'nothing');
        if (reply === undefined) continue;
        const { value } = (JSON.parse(reply.text) as { c: { value: number } }).c;
        if (least > 0) expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(sent);
      }
    };
    const change = async (): Promise<void> => {
      for (let round = 0; round < wanted || (await restarts()) < ends; round++) {
        await subject.change(++version);
        const seen = await Promise.all(open.map((_, place) => askChanged(place, 'version')));
        const texts = new Set(seen.flatMap((one) => (one === undefined ? [] : [one.text])));
        expect([...texts]).toEqual([`{"data":${version}}`]);
        // Dealt out in turn: the successor of one that failed has some of them, and messages.
        await Promise.all(open.map((_, place) => askChanged(place, 'nothing')));
        for (const one of all[2]) one.close();
        all[2].splice(0, open.length, ...(await dealt()));
      }
    };
    const changes = change().finally(() => {
      isOver = true;
    });
    await Promise.all([changes, write(), ...open.map((_, place) => read(place))]);
    expect(acked).toBeGreaterThan(1000);
    for (const one of all.flat()) one.close();
  });
});
