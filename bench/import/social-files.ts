// Generates a social network as CSV files in the shape of the smallest LDBC SNB topology: nodes/*.csv and
// edges/*.csv. Ids are unique per type only, and dates have only digits. It has 328 thousand nodes and 1.38
// million edges of a seed. Also has the project and the mapping that load it.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../support/seeded-random.js';

const nodes: [type: string, count: number][] = [
  ['Person', 1_700],
  ['Forum', 13_800],
  ['Post', 135_700],
  ['Comment', 151_000],
  ['Tag', 16_080],
  ['Place', 1_460],
  ['Organisation', 7_955],
];

const edges: [type: string, from: string, to: string, count: number][] = [
  ['Knows', 'Person', 'Person', 14_100],
  ['HasMember', 'Forum', 'Person', 123_300],
  ['HasModerator', 'Forum', 'Person', 13_800],
  ['ContainerOf', 'Forum', 'Post', 135_700],
  ['PostHasCreator', 'Post', 'Person', 135_700],
  ['CommentHasCreator', 'Comment', 'Person', 151_000],
  ['ReplyOfPost', 'Comment', 'Post', 76_800],
  ['ReplyOfComment', 'Comment', 'Comment', 74_200],
  ['PostHasTag', 'Post', 'Tag', 51_100],
  ['CommentHasTag', 'Comment', 'Tag', 191_300],
  ['ForumHasTag', 'Forum', 'Tag', 47_700],
  ['HasInterest', 'Person', 'Tag', 39_900],
  ['LikesPost', 'Person', 'Post', 47_200],
  ['LikesComment', 'Person', 'Comment', 62_200],
  ['PostIsLocatedIn', 'Post', 'Place', 135_700],
  ['PersonIsLocatedIn', 'Person', 'Place', 1_700],
  ['StudyAt', 'Person', 'Organisation', 1_200],
  ['WorkAt', 'Person', 'Organisation', 3_700],
  ['CommentIsLocatedIn', 'Comment', 'Place', 73_700],
];

const properties = 'creationDate: Date, name: String, length: I64';

const source = `
${nodes.map(([type]) => `N::${type} { UNIQUE INDEX ldbcId: I64, ${properties} }`).join('\n')}
${edges
  .map(
    ([type, from, to]) =>
      `E::${type} { From: ${from}, To: ${to}, Properties: { creationDate: Date } }`,
  )
  .join('\n')}
QUERY people() => p <- N<Person>::COUNT RETURN p
`;

const mapping = `date_format = "YYYYMMDDhhmmssSSS"
[[files]]
path = "nodes/*.csv"
id = "id"
columns = { id = "ldbcId" }
[[files]]
path = "edges/*.csv"
`;

function writeLines(
  path: string,
  header: string,
  count: number,
  line: (i: number) => string,
): void {
  const file = openSync(path, 'w');
  let lines = [header];
  for (let i = 0; i < count; i++) {
    lines.push(line(i));
    if (lines.length < 10_000) continue;
    writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
  }
  writeSync(file, lines.length === 0 ? '' : `${lines.join('\n')}\n`);
  closeSync(file);
}

/** Writes all of it into a folder; gives the mapping, and how many rows there are. */
export function writeSocialFiles(folder: string): { map: string; rows: number } {
  const random = randomOf(7);
  const below = (end: number): number => Math.floor(random() * end);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = (): string =>
    `2010${two(1 + below(12))}${two(1 + below(28))}${two(below(24))}${two(below(60))}${two(below(60))}447`;
  for (const name of ['nodes', 'edges']) mkdirSync(join(folder, name), { recursive: true });
  const counts = new Map(nodes);
  // Ids are far apart, as those of the benchmark are.
  const idOf = (i: number): number => 3 + 64 * i;
  let rows = 0;
  for (const [type, count] of nodes) {
    rows += count;
    writeLines(join(folder, 'nodes', `${type}.csv`), 'id,creationDate,name,length', count, (i) => {
      return `${idOf(i)},${date()},${type} of ${below(5000)} words ${i},${below(2000)}`;
    });
  }
  for (const [type, from, to, count] of edges) {
    rows += count;
    // Edges are written by their beginnings, their ends lie where they will.
    const [starts, ends] = [counts.get(from)!, counts.get(to)!];
    writeLines(join(folder, 'edges', `${type}.csv`), 'from,to,creationDate', count, (i) => {
      return `${idOf(Math.floor((i * starts) / count))},${idOf(below(ends))},${date()}`;
    });
  }
  writeFileSync(join(folder, 'main.hx'), source);
  const map = join(folder, 'map.toml');
  writeFileSync(map, mapping);
  return { map, rows };
}
