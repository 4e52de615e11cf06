// Measures the process itself for /metrics: garbage collection, memory, files, and delays of the main event
// loop.
import {
  type PerformanceEntry,
  PerformanceObserver,
  constants,
  monitorEventLoopDelay,
} from 'node:perf_hooks';
import { Histogram, wallMs } from '../../engine/internal.js';
import type { ServerSample } from './metric-definitions.js';
import { openFiles, openFilesMax } from './open-files.js';
import { linesLost } from './standard-error.js';

const collections: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak_callbacks',
};

/**
 * Milliseconds between two runs of the timer whose delay is measured. The measured value includes this
 * interval.
 */
const lagStepMs = 20;

export class RuntimeMetrics {
  readonly #loopDelay = monitorEventLoopDelay({ resolution: lagStepMs });
  readonly #collections = new Map<string, Histogram>();
  readonly #observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail, duration } = entry as PerformanceEntry & { detail: { kind: number } };
      const kind = collections[detail.kind] ?? 'other';
      const seconds = this.#collections.get(kind) ?? new Histogram();
      this.#collections.set(kind, seconds);
      seconds.observe(duration / 1000);
    }
  });

  readonly #startedAt = wallMs() / 1000 - process.uptime();
  readonly #filesMax = openFilesMax();

  start(): void {
    this.#loopDelay.enable();
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.#loopDelay.disable();
    this.#observer.disconnect();
  }

  #lag(): number {
    const { mean } = this.#loopDelay;
    return Number.isFinite(mean) ? Math.max(0, mean / 1e6 - lagStepMs) / 1000 : 0;
  }

  /** Metrics with the names that every Prometheus process exports. */
  #processSamples(rss: number, files: number | undefined): ServerSample[] {
    const { user, system } = process.cpuUsage();
    const samples: ServerSample[] = [
      { name: 'process_cpu_seconds_total', value: (user + system) / 1e6 },
      { name: 'process_resident_memory_bytes', value: rss },
      { name: 'process_start_time_seconds', value: this.#startedAt },
    ];
    if (this.#filesMax !== undefined) {
      samples.push({ name: 'process_max_fds', value: this.#filesMax });
    }
    if (files === undefined) return samples;
    return [...samples, { name: 'process_open_fds', value: files }];
  }

  samples(): ServerSample[] {
    const memory = process.memoryUsage();
    const main = { thread: 'main' };
    const files = openFiles();
    const samples: ServerSample[] = [
      {
        name: 'event_loop_utilization',
        value: performance.eventLoopUtilization().utilization,
      },
      { name: 'event_loop_lag_seconds', labels: main, value: this.#lag() },
      { name: 'external_bytes', value: memory.external },
      { name: 'log_lines_lost_total', value: linesLost() },
      { name: 'heap_used_bytes', labels: main, value: memory.heapUsed },
    ];
    samples.push(...this.#processSamples(memory.rss, files));
    for (const [kind, seconds] of this.#collections) {
      samples.push(...seconds.samples('gc_seconds', { kind }));
    }
    return samples;
  }
}
