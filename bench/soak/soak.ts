// `npm run bench -- soak [--minutes N] [--rate N]`: a server under mixed work on data that stay the
// same in number: what it uses must not grow.
import { numberOption } from '../support/bench-option.js';
import { startBenchServer } from '../support/load.js';
import { soak, soakSource } from './soak-work.js';
import type { Trend } from './soak-trend.js';
import { printTable } from '../support/table.js';

export async function run(args: string[]): Promise<void> {
  const minutes = numberOption(args, 'minutes', 30);
  const options = { minutes, rate: numberOption(args, 'rate', 300), persons: 5_000, dimension: 64 };
  const server = await startBenchServer(soakSource);
  try {
    const report = await soak(server.url, options);
    const last = report.samples.at(-1)!;
    const share = ({ slope, error }: Trend): string =>
      `${(slope * 100).toFixed(1)} % +- ${(error * 200).toFixed(1)}`;
    const perHour = ({ slope, error }: Trend): string =>
      `${slope.toFixed(1)} +- ${(error * 2).toFixed(1)} MB/h`;
    console.log(`${report.calls} calls in ${minutes} minutes, ${report.failed} failed\n`);
    const rows = [
      ['resident memory, MB', last.rss, perHour(report.rss)],
      ['data file, MB', last.file, share(report.file)],
      ['descriptors', last.descriptors, share(report.descriptors)],
      ['places of readers', last.readers, share(report.readers)],
      ['p99, ms', last.p99 / 1000, share(report.p99)],
    ];
    console.log(printTable(['', 'at the end', 'trend after the first third'], rows));
  } finally {
    await server.stop();
  }
}
