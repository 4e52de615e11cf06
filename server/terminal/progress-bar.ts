// A progress bar on a terminal, one line that is redrawn. Without a terminal it prints nothing.
import type { WriteStream } from 'node:tty';

const barWidth = 30;
const redrawMs = 100;

export class ProgressBar {
  #shownAt = 0;
  #isDrawn = false;
  readonly #startedAt = performance.now();

  constructor(
    private readonly out: Pick<WriteStream, 'isTTY' | 'write'>,
    private readonly total: number,
  ) {}

  /** Draws the bar for `done` of the total, and the rows so far. */
  show(done: number, rows: number): void {
    const now = performance.now();
    if (!this.out.isTTY || now - this.#shownAt < redrawMs) return;
    this.#shownAt = now;
    const fraction = Math.min(1, done / Math.max(1, this.total));
    const full = Math.round(fraction * barWidth);
    const bar = '#'.repeat(full).padEnd(barWidth, '.');
    const rate = Math.round((rows * 1000) / Math.max(1, now - this.#startedAt));
    const percent = String(Math.floor(fraction * 100)).padStart(3);
    const left = fraction > 0 ? ((now - this.#startedAt) * (1 - fraction)) / fraction : 0;
    this.#draw(`[${bar}] ${percent} %  ${rows} rows  ${rate}/s  ${timeOf(left)} left`);
  }

  #draw(text: string): void {
    this.out.write(`\r\u001b[K${text}`);
    this.#isDrawn = true;
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isDrawn) this.out.write('\r\u001b[K');
  }
}

/** Returns minutes and seconds, such as `1:05`. */
function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
