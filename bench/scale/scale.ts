// Measures how cost grows with the data: graphs from 10^4 nodes on with five edges each, and keyword indexes
// and vectors from 10^4 on. Each size is ten times the one before. Measures import, file, memory, starts and
// calls of one client. The last column is the growth for ten times the data, the mean over all steps.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpSeconds, importSeconds } from '../support/import-run.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { hnswlibGrowth } from '../peer/cpp-peer.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';
import type { VectorShape } from '../support/vector-data.js';
import * as data from './scale-data.js';
import { addFigures } from './scale-adds.js';
import { type VectorFiles, searchCosts, writeVectors } from './scale-vectors.js';
import { type Started, anonymousMb, callMicros, end, fileMb, post, start } from './scale-server.js';

/** By name, in the order of the table. */
type Figures = Map<string, number>;

interface Place {
  folder: string;
  project: string;
  data: string;
  count: number;
}

interface Part {
  name: string;
  most: number;
  write: (place: Place) => string[] | Promise<string[]>;
  /** Rows that the files hold, for the rate. */
  rows: number;
  text: boolean;
  ask: (server: Started, place: Place, figures: Figures) => Promise<void>;
  /** Measurements on the data after the server has stopped. */
  atRest?: (place: Place, figures: Figures) => void;
  /** What changes the data, at the end, on a server that has just started. */
  change?: (server: Started, figures: Figures) => Promise<void>;
}

const calls = 400;
const many = (body: (random: () => number) => object, count = calls): object[] => {
  const random = randomOf(9);
  return Array.from({ length: count }, () => body(random));
};

async function askGraph(server: Started, { count }: Place, figures: Figures): Promise<void> {
  const any = (random: () => number) => ({ no: Math.floor(random() * count) });
  const age = (random: () => number) => ({ age: Math.floor(random() * 98) });
  const ask = async (name: string, path: string, bodies: object[]): Promise<void> => {
    figures.set(`${name}, us`, await callMicros(server, path, bodies));
  };
  await ask('point read', 'person', many(any));
  await ask('hop of 5', 'friends', many(any));
  await ask('20 by an index', 'ofAge', many(age));
  await ask('10 of a range on an index', 'older', many(age, 40));
  const deep = { start: count - 20, end: count - 10 };
  await ask(
    '10 at the end of a type',
    'deep',
    many(() => deep, 40),
  );
  await ask(
    'durable write',
    'write',
    many(() => ({ note: 'x' }), 100),
  );
}

async function askDocuments(server: Started, _: Place, figures: Figures): Promise<void> {
  const two = (random: () => number) => ({ text: `${data.wordOf(random)} ${data.wordOf(random)}` });
  figures.set('two words, us', await callMicros(server, 'words', many(two)));
}

const recalls = [0.95, 0.99];

/** Compares our index and hnswlib in process, at the narrowest width of each recall. */
function compareSearch(
  { data: folder, count }: Place,
  files: VectorFiles,
  shape: VectorShape,
  figures: Figures,
): void {
  const ours = searchCosts(folder, files, recalls);
  const peer = hnswlibGrowth(count, shape, recalls);
  for (const [i, recall] of recalls.entries()) {
    figures.set(`in process at ${recall}, us`, ours[i]?.micros ?? Number.NaN);
    figures.set(`width at ${recall}`, ours[i]?.width ?? Number.NaN);
    figures.set(`recall at ${recall}`, ours[i]?.recall ?? Number.NaN);
    if (peer === undefined) continue;
    figures.set(`hnswlib C++ at ${recall}, us`, peer[i]!.micros);
    figures.set(`its recall at ${recall}`, peer[i]!.recall);
  }
}

function vectorPart(shape: VectorShape, most: number): Part {
  const { dimensions, intrinsic } = shape;
  let files: VectorFiles;
  return {
    name: `vectors of ${dimensions}${intrinsic > 0 ? ` in ${intrinsic} directions` : ''}`,
    most,
    write: async ({ folder, count }) => {
      files = await writeVectors(folder, count, shape);
      return files.paths;
    },
    rows: 1,
    text: false,
    ask: async (server, _, figures) => {
      const draw = data.vectorOf(shape);
      const search = many((random) => ({ vec: draw(random) }));
      figures.set('10 nearest, us', await callMicros(server, 'near', search));
      const { recall } = (await post(server, '_admin/recall?samples=50')) as {
        recall: { recall: number }[];
      };
      figures.set('recall@10', recall[0]!.recall);
    },
    atRest: (place, figures) => compareSearch(place, files, shape, figures),
    change: async (server, figures) => {
      for (const [name, value] of await addFigures(server, shape)) figures.set(name, value);
    },
  };
}

/** All figures of one size; its folder is gone afterwards. */
async function measureSize(part: Part, count: number, dimensions: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-scale-'));
  const place = { folder, project: join(folder, 'project'), data: join(folder, 'data'), count };
  const figures: Figures = new Map();
  try {
    mkdirSync(place.project);
    writeFileSync(join(place.project, 'main.hx'), data.source(dimensions));
    const files = await part.write(place);
    const seconds = importSeconds(place.project, place.data, files, part.text);
    figures.set('import, rows/s', (count * part.rows) / seconds);
    figures.set('file, MB', fileMb(place.data));
    for (const file of files) rmSync(file);
    let server = await start(place.project, place.data, part.text);
    figures.set('start, s', server.seconds);
    await part.ask(server, place, figures);
    figures.set('own memory, MB', anonymousMb(server));
    const began = performance.now();
    await post(server, '_admin/backup');
    figures.set('backup, s', (performance.now() - began) / 1000);
    await end(server, 'SIGKILL');
    server = await start(place.project, place.data, part.text);
    figures.set('start after kill -9, s', server.seconds);
    await end(server, 'SIGTERM');
    figures.set('dump, s', dumpSeconds(place.project, place.data, join(folder, 'dump.ndjson')));
    part.atRest?.(place, figures);
    if (part.change === undefined) return figures;
    server = await start(place.project, place.data, part.text);
    await part.change(server, figures);
    await end(server, 'SIGTERM');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

function printPart(name: string, sizes: readonly number[], all: readonly Figures[]): void {
  const rows = [...all[0]!.keys()].map((figure): Cell[] => {
    const values = all.map((figures) => figures.get(figure)!);
    const growth = (values.at(-1)! / values[0]!) ** (1 / Math.max(1, values.length - 1));
    return [figure, ...values, values.length > 1 ? `${growth.toFixed(2)}x` : '-'];
  });
  const titles = sizes.map((size) => size.toLocaleString('en-US'));
  console.log(`\n${printTable([name, ...titles, 'ten times'], rows)}`);
}

export async function run(args: string[]): Promise<void> {
  const max = numberOption(args, 'max', 1e6);
  const dimensions = numberOption(args, 'dimensions', 256);
  const intrinsic = numberOption(args, 'intrinsic', 0);
  const only = listOption(args, 'only', ['']);
  const parts: Part[] = [
    {
      name: 'nodes',
      most: max,
      write: ({ folder, count }) => data.writeGraph(folder, count),
      rows: 1 + data.edgesPerNode,
      text: false,
      ask: askGraph,
    },
    {
      name: 'documents',
      most: max / 10,
      write: ({ folder, count }) => data.writeDocuments(folder, count),
      rows: 1,
      text: true,
      ask: askDocuments,
    },
    vectorPart({ dimensions, intrinsic }, max / 10),
  ];
  for (const part of parts) {
    if (!only.some((word) => part.name.includes(word))) continue;
    const sizes: number[] = [];
    for (let size = 1e4; size <= part.most; size *= 10) sizes.push(size);
    const all: Figures[] = [];
    for (const size of sizes) {
      const started = performance.now();
      all.push(await measureSize(part, size, dimensions));
      // Prints each result immediately, because a long run can be interrupted.
      const figures = [...all.at(-1)!].map(([name, value]) => `${name} ${value.toPrecision(4)}`);
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      console.log(
        `${size.toLocaleString('en-US')} ${part.name}, in ${seconds} s: ${figures.join('; ')}`,
      );
    }
    if (sizes.length > 0) printPart(part.name, sizes, all);
  }
  console.log(`\nNot tested: more than ${max.toLocaleString('en-US')} nodes (--max 1e7).`);
}
