// Cost of tool calls compared with the query itself, over one server and 64 connections. `bench mcp` measures
// it, and its limit is for an idle machine [M18].
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const row =
  /^\| (tools\/call, \S+) +\| +[\d,]+ \| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \|$/gm;

test.skipIf(!isLong)(
  'M18 calls of a tool reach at least .8 of the rate of the query',
  {
    timeout: 120_000,
  },
  async () => {
    const argv = [join(root, 'dist/bench/main.js'), 'mcp', '--rounds', '9', '--seconds', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, argv);
    console.log(stdout);
    const rows = [...stdout.matchAll(row)];
    expect(rows).toHaveLength(2);
    for (const [, name, ofPlain, , , failed] of rows) {
      expect([name, Number(failed)]).toEqual([name, 0]);
      // The table has two digits.
      expectFigure(1 / Number(ofPlain), 1 / 0.795, `the query beside ${name}`);
    }
  },
);
