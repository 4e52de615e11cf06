// The makers' own checker of what Prometheus reads, where the machine has it: in PATH, or where
// TRELLIS_PROMTOOL says. Debian's package `prometheus` holds it.
import { spawn } from 'node:child_process';

const program = process.env.TRELLIS_PROMTOOL ?? 'promtool';

/** How it ended, and all it said; undefined where it is not here, which is said. */
export function promtool(argv: string[], input = ''): Promise<[number | null, string] | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, argv);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    child.once('error', () => {
      console.log(`${program} is not here: it is not asked to ${argv[0]} ${argv[1]}`);
      resolve(undefined);
    });
    child.once('close', (status) => resolve([status, said]));
    // One that has failed reads nothing.
    child.stdin.on('error', () => undefined).end(input);
  });
}
