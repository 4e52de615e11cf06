// The part of autocannon's interface that the benchmarks use; the package brings no types.
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    headers?: Record<string, string>;
    requests?: { method?: string; path?: string; body?: string }[];
    workers?: number;
  }
  interface Result {
    requests: { total: number };
    /** Seconds. */
    duration: number;
    /** Milliseconds. */
    latency: { p50: number; p99: number };
    non2xx: number;
    errors: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
