// A network as a folder of files in the form of an LDBC SNB topology: nodes/*.csv, edges/*.csv with
// the columns `from,to`, and expected.json, what the queries answer.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { answersOf } from './ldbc-oracle.js';
import type { Network, Value } from './ldbc-network.js';
import { edgeEnds } from './ldbc-shape.js';

function writeLines(path: string, header: readonly string[], lines: Iterable<string>): void {
  const file = openSync(path, 'w');
  let waiting = [header.join(',')];
  for (const line of lines) {
    if (waiting.push(line) < 10_000) continue;
    writeSync(file, `${waiting.join('\n')}\n`);
    waiting = [];
  }
  if (waiting.length > 0) writeSync(file, `${waiting.join('\n')}\n`);
  closeSync(file);
}

const cell = (value: Value): string => {
  const text = String(value ?? '');
  return text.includes(',') ? `"${text}"` : text;
};

/** Writes all of it; gives the number of rows. */
export function writeNetwork(network: Network, folder: string, requests: number): number {
  for (const name of ['nodes', 'edges']) mkdirSync(join(folder, name), { recursive: true });
  let rows = 0;
  for (const [type, { ids, columns }] of Object.entries(network.nodes)) {
    const path = join(folder, 'nodes', `${type}.csv`);
    const lists = Object.values(columns);
    rows += ids.length;
    const lines = ids.map((id, i) => [id, ...lists.map((list) => cell(list[i]!))].join(','));
    writeLines(path, ['id', ...Object.keys(columns)], lines);
  }
  for (const [name, { from, to, columns }] of Object.entries(network.edges)) {
    const [starts, ends] = edgeEnds[name]!.map((type) => network.nodes[type]!.ids);
    const lists = Object.values(columns);
    rows += from.length;
    const lines = from.map((a, i) => {
      return [starts![a], ends![to[i]!], ...lists.map((list) => cell(list[i]!))].join(',');
    });
    const path = join(folder, 'edges', `${name}.csv`);
    writeLines(path, ['from', 'to', ...Object.keys(columns)], lines);
  }
  const expected = JSON.stringify(answersOf(network, requests), null, 1);
  writeFileSync(join(folder, 'expected.json'), expected);
  return rows;
}
