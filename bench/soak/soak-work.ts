// Mixed work on data that stay the same in number, for as long as one likes, and what a server uses
// meanwhile: memory, file, descriptors, places of readers, latency. What is in order does not grow.
import { requestBytes, sendHttp } from '../support/http-client.js';
import { type Trend, trendOf } from './soak-trend.js';

export const soakSource = `
N::Person { UNIQUE INDEX no: I64, INDEX n: I64, text: String }
V::Passage { no: I64 }
E::Wrote { From: Person, To: Passage }
QUERY sow(rows: [{ no: I64, text: String, vec: [F64] }]) =>
  FOR { no, text, vec } IN rows {
    p <- AddN<Person>({ no: no, n: 0, text: text })
    v <- AddV<Passage>(vec, { no: no })
    AddE<Wrote>::From(p)::To(v)
  }
  RETURN "ok"
QUERY one(no: I64) => p <- N<Person>({ no: no }) RETURN p::{no, n, text, wrote: _::Out<Wrote>::{no}}
QUERY near(vec: [F64]) => v <- SearchV<Passage>(vec, 10) RETURN v::{no, score}
QUERY find(words: String) => p <- SearchBM25<Person>(words, 10) RETURN p::{no}
QUERY change(no: I64, n: I64, text: String, vec: [F64]) =>
  p <- N<Person>({ no: no })::UPDATE({ n: n, text: text })
  v <- N<Person>({ no: no })::Out<Wrote>::UpsertV(vec, { no: no })
  RETURN "ok"
QUERY count() => p <- N<Person>::COUNT RETURN p
`;

export interface SoakOptions {
  minutes: number;
  /** Calls per second. */
  rate: number;
  /** Persons, each with a passage. */
  persons: number;
  dimension: number;
}

/** What a server uses at the end of a span of time. */
interface Sample {
  rss: number;
  file: number;
  descriptors: number;
  readers: number;
  /** Microseconds. */
  p99: number;
}

export interface SoakReport {
  calls: number;
  failed: number;
  /** After the first third, while which caches fill. */
  samples: Sample[];
  /** MB an hour. */
  rss: Trend;
  /** Shares of their mean over the time measured. */
  file: Trend;
  descriptors: Trend;
  readers: Trend;
  p99: Trend;
}

/** Number of windows of a run: enough for a trend, each long enough for a latency. */
const spansOf = (minutes: number): number => Math.min(60, Math.max(6, Math.round(minutes * 12)));

const metricNames = {
  rss: 'process_resident_memory_bytes',
  file: 'trellis_file_bytes',
  descriptors: 'process_open_fds',
  readers: 'trellis_readers',
} as const;

const words = [
  'amber',
  'birch',
  'cedar',
  'dune',
  'elm',
  'fern',
  'grove',
  'heath',
  'iris',
  'juniper',
];

const textOf = (no: number, n: number): string =>
  [0, 3, 7].map((step) => words[(no * 7 + n * 3 + step) % words.length]).join(' ');

const vectorOf = (no: number, n: number, dimension: number): number[] =>
  Array.from({ length: dimension }, (_, i) => Math.sin(no * 1.7 + n * 0.9 + i * (1 + (no % 13))));

const rowOf = (no: number, n: number, dimension: number) => ({
  no,
  text: textOf(no, n),
  vec: vectorOf(no, n, dimension),
});

async function post(url: string, path: string, body: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}

/** 70 reads, 20 searches and 10 changes of every 100 calls; `turn` makes the changes new ones. */
function requestsOf({ persons, dimension }: SoakOptions, turn: number): Buffer[] {
  return Array.from({ length: 2000 }, (_, i) => {
    const no = (i * 37 + turn * 11) % persons;
    const kind = i % 10;
    if (kind < 7) return requestBytes('one', JSON.stringify({ no }));
    if (kind === 7)
      return requestBytes('near', JSON.stringify({ vec: vectorOf(no, turn, dimension) }));
    if (kind === 8) return requestBytes('find', JSON.stringify({ words: textOf(no, turn) }));
    return requestBytes('change', JSON.stringify({ n: turn, ...rowOf(no, turn, dimension) }));
  });
}

async function sampleOf(url: string, p99: number): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string): number =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    rss: value(metricNames.rss) / 1e6,
    file: value(metricNames.file) / 1e6,
    descriptors: value(metricNames.descriptors),
    readers: value(metricNames.readers),
    p99,
  };
}

/**
 * Runs the same work at full speed for a fifth of the time. At a low rate, V8 compiles frequently called
 * functions for hours, and their code and type feedback take memory. The vector index also grows until it
 * has as many free slots of replaced vectors as it needs.
 */
async function warm(url: string, options: SoakOptions): Promise<void> {
  const turns = 20;
  const seconds = (options.minutes * 60) / 5 / turns;
  for (let turn = 0; turn < turns; turn++)
    await sendHttp(url, requestsOf(options, -turn), { connections: 8, seconds });
}

/** Fills an empty server and works on it; `onSpan` sees each sample. */
export async function soak(
  url: string,
  options: SoakOptions,
  onSpan: (sample: Sample) => void = () => {},
): Promise<SoakReport> {
  const { minutes, persons, dimension, rate } = options;
  for (let from = 0; from < persons; from += 500) {
    const count = Math.min(500, persons - from);
    const rows = Array.from({ length: count }, (_, i) => rowOf(from + i, 0, dimension));
    await post(url, 'sow', { rows });
  }
  await warm(url, options);
  const samples: Sample[] = [];
  let [calls, failed] = [0, 0];
  const spans = spansOf(minutes);
  const seconds = (minutes * 60) / spans;
  for (let span = 0; span < spans; span++) {
    const run = await sendHttp(url, requestsOf(options, span + 1), {
      connections: 8,
      rate,
      seconds,
    });
    calls += run.count;
    failed += run.failed;
    const sample = await sampleOf(url, run.p99);
    samples.push(sample);
    onSpan(sample);
  }
  const left = samples.slice(spans / 3);
  const hours = (minutes / 60) * (left.length / spans);
  const shareOf = (key: keyof Sample): Trend => {
    const values = left.map((sample) => sample[key]);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return trendOf(
      values.map((value) => value / mean),
      1,
    );
  };
  return {
    calls,
    failed,
    samples: left,
    rss: trendOf(
      left.map(({ rss }) => rss),
      hours,
    ),
    file: shareOf('file'),
    descriptors: shareOf('descriptors'),
    readers: shareOf('readers'),
    p99: shareOf('p99'),
  };
}
