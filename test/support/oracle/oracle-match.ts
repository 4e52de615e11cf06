// Whether an answer of the engine is what the oracle says: order of members, every digit, and the
// ids that only the engine can know.
import { type Exact, NumberToken, parseExact } from '../corpus/exact-json.js';
import { Fraction, type Tree } from './oracle-print.js';

/** The engine's name of an id of the oracle; undefined when it never learned one. */
export type Naming = (uuid: string) => string | undefined;

type Leaf = Exclude<Tree, Tree[] | ReadonlyMap<string, Tree>>;

const newId = /^ffffffff-0000-7000-8000-\d{12}$/;
const anyId = /^[0-9a-f-]{36}$/;
const epsilon = 1e-12;

/** Undefined when they agree; else where and how they differ. */
export function difference(answer: string, tree: Tree, naming: Naming): string | undefined {
  return compare(parseExact(answer), tree, naming, '');
}

function compare(exact: Exact, tree: Tree, naming: Naming, path: string): string | undefined {
  if (Array.isArray(tree)) {
    if (!Array.isArray(exact)) return report(exact, tree, path);
    if (exact.length !== tree.length)
      return `${path}: ${exact.length} items instead of ${tree.length}`;
    return first(tree, (item, i) => compare(exact[i]!, item, naming, `${path}/${i}`));
  }
  if (tree instanceof Map) {
    if (!(exact instanceof Map)) return report(exact, tree, path);
    const [got, wanted] = [[...exact.keys()].join(), [...tree.keys()].join()];
    if (got !== wanted) return `${path}: members ${got} instead of ${wanted}`;
    return first([...tree], ([name, value]) =>
      compare(exact.get(name)!, value, naming, `${path}/${name}`),
    );
  }
  if (/\/(score|distance)$/.test(path) && exact instanceof NumberToken)
    return sameScore(exact.token, tree) ? undefined : report(exact, tree, path);
  return same(exact, tree as Leaf, naming) ? undefined : report(exact, tree, path);
}

function first<T>(items: readonly T[], look: (item: T, i: number) => string | undefined) {
  for (const [i, item] of items.entries()) {
    const found = look(item, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

function report(exact: Exact, tree: Tree, path: string): string {
  const got = exact instanceof NumberToken ? exact.token : JSON.stringify(exact);
  const wanted = typeof tree === 'bigint' ? String(tree) : JSON.stringify(tree);
  return `${path || '/'}: ${got} instead of ${wanted}`;
}

function same(exact: Exact, tree: Leaf, naming: Naming) {
  if (exact instanceof NumberToken) return sameNumber(exact.token, tree);
  if (typeof exact !== 'string' || typeof tree !== 'string') return exact === tree;
  if (exact === tree) return true;
  if (!newId.test(tree)) return false;
  // What was created and deleted by one request has no name that anybody could ask for.
  const name = naming(tree);
  return name === undefined ? anyId.test(exact) : name === exact;
}

function sameNumber(token: string, tree: unknown): boolean {
  if (token.startsWith('-0') && Number(token) === 0) return false;
  if (tree instanceof Fraction) return /[.e]/.test(token) && Number(token) === tree.value;
  if (/\.0*$/.test(token)) return false;
  if (typeof tree === 'bigint') return /^-?\d+$/.test(token) && BigInt(token) === tree;
  if (typeof tree !== 'number') return false;
  return Number(token) === tree;
}

/** Sums of products may be added in another order. */
function sameScore(token: string, tree: Tree): boolean {
  if (tree instanceof Fraction) return /[.e]/.test(token) && sameScore(token, tree.value);
  return typeof tree === 'number' && Math.abs(Number(token) - tree) <= epsilon;
}
