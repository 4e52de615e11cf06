// More requests than a server can answer, sent by flood.c: what became of each, and how long the
// ones that were carried out took.
import { execFile } from 'node:child_process';
import { type Request, requestBytes } from '../../support/server/http.js';
import { compiled } from './compiled.js';

export interface Flood {
  port: number;
  connections: number;
  /** Calls a second; 0: as fast as answers come. */
  rate: number;
  ms: number;
  /** Made in turns; `########` in one becomes the number of the call. */
  requests: readonly Request[];
  /** Number of the first call. */
  first: number;
}

export interface Outcome {
  /** A letter a call: `2` = 200, `r` = 503 with Retry-After, else the first digit of the status. */
  ends: string;
  done: number;
  refused: number;
  /** Milliseconds of the flood, and of the calls that were run. */
  ms: number;
  p50: number;
  p99: number;
}

export async function flood(order: Flood): Promise<Outcome> {
  const { port, connections, rate, ms, first, requests } = order;
  const words = [port, connections, rate.toFixed(0), ms, first].map(String);
  const text = await new Promise<string>((resolve, reject) => {
    const options = { encoding: 'latin1' as const, maxBuffer: 2 ** 30 };
    const child = execFile(compiled('flood.c'), words, options, (error, out) => {
      if (error) reject(error);
      else resolve(out);
    });
    const all = requests.map((request) => `${requestBytes(request).toString('latin1')};;;;`);
    child.stdin!.end(all.join(''), 'latin1');
  });
  const found = new Map(text.split('\n').map((line) => line.split(' ') as [string, string]));
  const ends = found.get('ends') ?? '';
  const number = (name: string): number => Number(found.get(name));
  const count = (letter: string): number => ends.split(letter).length - 1;
  return {
    ends,
    done: count('2'),
    refused: count('r'),
    ms: number('ms'),
    p50: number('p50'),
    p99: number('p99'),
  };
}
