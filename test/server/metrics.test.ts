// The metrics and log fields that operations.md 9 names, of a real server: all there, no sample twice,
// and right where their value is known.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedMs } from '../../engine/base/clock.js';
import { Figures, createFiguresBuffer } from '../../engine/database/meter/figures.js';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Item { UNIQUE INDEX key: String, note: String }
V::Vec { note: String }
QUERY add(key: String, note: String) => i <- AddN<Item>({ key, note }) RETURN i::ID
QUERY vec(text: String) => v <- AddV<Vec>(Embed(text), { note: text }) RETURN v::ID
QUERY all() => i <- N<Item> RETURN i
`;

/** Present from the start; others appear with the first event they count. */
const names = [
  'requests_total request_seconds_bucket request_bytes response_bytes in_flight aborted_total',
  'connections rejected_total limit_hits_total event_loop_lag_seconds event_loop_utilization',
  'rss_bytes heap_used_bytes external_bytes shared_bytes open_fds unhandled_rejections_total',
  'workers worker_restarts_total queue_depth queue_wait_seconds_sum tasks_cancelled_total',
  'commit_seconds_bucket fsync_seconds_sum txn_puts_sum group_commit_size_count map_bytes',
  'file_bytes free_pages readers oldest_reader_age_seconds disk_free_bytes inode_ok',
  'writer_heartbeat_age_seconds checksum_errors_total elements text_documents text_terms',
  'postings_bytes vectors tombstones vector_bytes vector_capacity_ratio applied_seq',
  'committed_seq index_lag snapshot_failures_total replayed_ops rebuilds_total sessions',
  'session_bytes sessions_created_total sessions_expired_total sessions_evicted_total',
  'query_seconds_bucket query_rows query_visits compile_seconds_sum embed_cache_hits_total',
].flatMap((line) => line.split(' '));

describe('metrics', () => {
  let server: Server;
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${server.port}/${path}`;
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const read = async () => {
    const { text } = await server.client.request({ method: 'GET', path: 'metrics' });
    const samples = new Map<string, number>();
    for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
      const at = line.lastIndexOf(' ');
      const name = line.slice('trellis_'.length, at);
      expect(samples.has(name), `${name} stands once`).toBe(false);
      samples.set(name, Number(line.slice(at + 1)));
    }
    return samples;
  };
  beforeAll(async () => {
    server = await startServer({
      sources: { 'main.hx': source },
      config: { 'embedding.model': 'hash:4', 'log.slow_ms': 0 },
    });
  });
  afterAll(async () => {
    await server.dispose();
  });

  it('shows every name', async () => {
    for (const key of ['a', 'b', 'c']) await post('add', { key, note: 'heron in reeds' });
    await post('vec', { text: 'heron' });
    await post('all', {});
    await post('nowhere', {});
    const samples = await read();
    const present = new Set([...samples.keys()].map((name) => name.replace(/\{.*/, '')));
    expect(names.filter((name) => !present.has(name))).toEqual([]);
    expect(samples.get('query_seconds_count{query="add"}')).toBe(3);
    expect(samples.get('query_rows{query="all"}')).toBe(3);
    expect(samples.get('commit_seconds_count')).toBe(4);
    expect(samples.get('group_commit_size_sum')).toBe(4);
    expect(samples.get('txn_puts_sum')).toBeGreaterThan(12);
    expect([samples.get('text_documents'), samples.get('text_terms')]).toEqual([4, 9]);
    expect([samples.get('committed_seq'), samples.get('applied_seq')]).toEqual([1, 1]);
    expect(samples.get('writer_heartbeat_age_seconds')).toBeLessThan(5);
  });

  it('logs the query and the time a call waited', async () => {
    await post('all', {});
    const lines = server.stderr.split('\n').filter((line) => line.includes('"query":"add"'));
    expect(lines.length).toBeGreaterThan(0);
    const line = JSON.parse(lines[0]!) as { ms: number; queue_ms: number };
    expect(line).toMatchObject({ route: 'add', query: 'add', status: '200', bytes_in: 35 });
    expect(line.queue_ms).toBeGreaterThanOrEqual(0);
    expect(line.queue_ms).toBeLessThanOrEqual(line.ms);
    const { text } = await server.client.request({ method: 'GET', path: 'slowlog' });
    const all = (JSON.parse(text) as { query?: string }[]).find(({ query }) => query === 'all');
    expect(all).toMatchObject({ route: 'all', rows: 3, visits: expect.any(Number) });
  });

  it('tells what a start had to make good', async () => {
    const rebuilt = 'rebuilds_total{reason="no_snapshot"}';
    await server.kill();
    await server.start();
    expect((await read()).get(rebuilt)).toBe(1);
    await post('_admin/snapshot', {});
    await post('vec', { text: 'crane' });
    await post('vec', { text: 'stork' });
    await server.kill();
    await server.start();
    const samples = await read();
    expect([samples.get(rebuilt), samples.get('replayed_ops')]).toEqual([0, 2]);
    expect([samples.get('committed_seq'), samples.get('index_lag')]).toEqual([3, 0]);
  });
});

it('ages the heartbeat, but not while the writer is known to work', () => {
  const writer = new Figures(createFiguresBuffer());
  const watcher = new Figures(writer.buffer);
  expect(watcher.heartbeatAge).toBe(0);
  writer.set('heartbeat', sharedMs() - 7000);
  expect(watcher.heartbeatAge).toBeGreaterThanOrEqual(7);
  writer.during(() => expect(watcher.heartbeatAge).toBe(0));
  expect(watcher.heartbeatAge).toBeLessThan(5);
});
