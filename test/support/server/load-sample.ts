// Measures how long a simple call takes while other work runs, with several parallel clients, and the memory
// of the process that answers.
import { readFileSync } from 'node:fs';
import { Client } from './http.js';

export interface Latency {
  calls: number;
  p50: number;
  p99: number;
}

/** `clients` call `ping` one after another for `ms`; a call that fails ends the sample. */
export async function sampleLatency(port: number, clients: number, ms: number): Promise<Latency> {
  const end = performance.now() + ms;
  const times: number[] = [];
  const work = async (): Promise<void> => {
    const client = new Client(port);
    while (performance.now() < end) {
      const before = performance.now();
      await client.post('ping');
      times.push(performance.now() - before);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: clients }, work));
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)]!;
  return { calls: times.length, p50: at(0.5), p99: at(0.99) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** Bytes of memory a process has in hand. */
export function memoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)![1]) * 1024;
}
