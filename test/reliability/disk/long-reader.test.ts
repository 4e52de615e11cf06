// A long reader beside writes (T19): its age shows in the metrics, it is told of in the log, ends at
// its limit, and the pages it kept from being used again are used afterwards.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Client } from '../../support/server/http.js';
import { noteProof } from '../../support/proof.js';
import { startServer } from '../../support/server/server.js';
import { expectFigure } from '../../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
/** Milliseconds that a query may take. */
const limit = 10_000;
const items = 6_000;

const sources = {
  'main.hx': `
N::Item { INDEX no: I64, text: String }
E::Next { From: Item, To: Item }
QUERY sow(nos: [I64]) =>
  FOR no IN nos { AddN<Item>({ no: no, text: "some words that stand in every item" }) }
  RETURN "ok"
QUERY change(nos: [I64], text: String) =>
  FOR no IN nos { N<Item>({ no: no })::UPDATE({ text: text }) }
  RETURN "ok"
QUERY slow(words: [String]) =>
  FOR word IN words { n <- N<Item>::WHERE(_::{text}::CONTAINS(word))::COUNT }
  RETURN "ok"
`,
};

test.runIf(long)(
  'T19 a long reader is visible, reported and ended, and leaves nothing',
  async () => {
    const config = { 'limits.query_time': `${limit}ms`, 'storage.ballast': 0 };
    const server = await startServer({ sources, config, workers: 2 });
    const size = (): number => statSync(join(server.data, 'graph/data.mdb')).size;
    const watcher = new Client(server.port);
    const age = async (): Promise<number> => {
      const { text } = await watcher.request({ method: 'GET', path: 'metrics' });
      return Number(/^trellis_oldest_reader_age_seconds (\S+)$/m.exec(text)![1]);
    };
    let turn = 0;
    const change = () => {
      const nos = Array.from({ length: 100 }, (_, i) => (turn * 100 + i) % items);
      return server.client.post('change', { nos, text: `${'x'.repeat(200)} ${turn++}` });
    };
    try {
      const nos = Array.from({ length: items }, (_, i) => i);
      await server.client.post('sow', { nos });
      for (let i = 0; i < 20; i++) await change();
      const before = size();
      const reader = new Client(server.port);
      const started = performance.now();
      // No plan can make less of it: a scan for each of very many words.
      const words = Array.from({ length: 50_000 }, (_, i) => `nowhere${i}`);
      const slow = reader.request({ path: 'slow', body: JSON.stringify({ words }) }, limit * 3);
      let oldest = 0;
      let changes = 0;
      let going = true;
      const writing = (async () => {
        for (; going; changes++) await change();
      })();
      const watching = (async () => {
        while (going) {
          oldest = Math.max(oldest, await age());
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      const reply = await slow;
      const took = performance.now() - started;
      going = false;
      await Promise.all([writing, watching]);
      reader.close();
      expect(reply.status, reply.text).toBe(504);
      expect(JSON.parse(reply.text).code).toBe('QUERY_TIMEOUT');
      expectFigure(took - limit, 1_000, 'ms over the time of a query');
      expect(oldest).toBeGreaterThan((limit / 1000) * 0.5);
      expect(server.stderr).toMatch(
        /"slow request".*"query":"slow"|"query":"slow".*"slow request"/,
      );
      const during = size();
      expect(during).toBeGreaterThan(before);
      for (let i = 0; i < changes; i++) await change();
      const after = size();
      expect(await age()).toBe(0);
      // Half as much again for as many changes would mean that pages are lost for good.
      expect(after - during).toBeLessThan((during - before) / 2 + 2 ** 20);
      const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
      noteProof(
        'T19',
        `a reader of ${(took / 1000).toFixed(1)} s beside ${changes} changes: seen at ${oldest.toFixed(1)} s, ` +
          `ended with 504; file ${mb(before)}, ${mb(during)} during, ${mb(after)} MB after as many more`,
      );
    } finally {
      await server.dispose();
    }
  },
);
