// The benches of `bench all --short`, at least one of each family, with arguments that make a run take seconds.
// Peers are left out: what is judged is our own CPU time.

export interface ShortBench {
  family: string;
  bench: string;
  args: readonly string[];
}

const list: readonly [family: string, bench: string, args: string][] = [
  ['language', 'compile', '--saves 5'],
  ['language', 'exec', '--ms 100 --people 4000'],
  ['graph', 'ldbc', '--scale 0.1 --seconds 0.3 --rounds 1 --part embedded --contenders none'],
  ['graph', 'traverse', '--seconds 0.3 --rounds 1 --contenders none'],
  ['embedded', 'embedded', '--seconds 0.3 --rounds 1 --peers none'],
  ['server', 'http', '--seconds 1 --people 2000 --vectors 2000 --connections 64'],
  ['server', 'crud', '--part http --count 1500'],
  ['server', 'mcp', '--seconds 1 --rounds 1'],
  ['server', 'client', '--seconds 0.3 --rounds 1'],
  ['server', 'start', '--rounds 3 --rest 1 --nodes 0'],
  ['writes', 'writes', '--sizes 1,1000 --rows 2000 --before 10000 --rounds 1'],
  ['writes', 'hub', '--degrees 5000 --rounds 1'],
  ['text', 'text', '--documents 20000 --seconds 0.3 --rounds 1 --peers none'],
  ['text', 'hybrid', '--rounds 1'],
  ['import', 'import', 'social --peers none'],
  ['vector', 'vector', 'sift mnist --beside own --rounds 1'],
  ['cluster', 'cluster', '--seconds 1 --rounds 1'],
];

export const shortBenches: readonly ShortBench[] = list.map(([family, bench, args]) => ({
  family,
  bench,
  args: args.split(' '),
}));
