// The names that sources declare, and the private words that may not come back in them. A name is split at its capitals
// and underscores: `#askedServer` is `asked server`. The rules match the split name.
import ts from 'typescript';
import type { SourceFile } from '../source-tree.js';

interface DeclaredName {
  path: string;
  line: number;
  name: string;
}

/**
 * Private words, and the words of the field for them. Left out are words that have a normal technical meaning beside a
 * private one: `keep` (retention, keep-alive), `hold` (locks), `walk` (trees, graphs), `chain` (hash chain, pipeline),
 * `memo` (memoization), `settled` (promises), `spread` (`..` of a projection), `begin` (transactions, ranges), `form`
 * (print form), `order` (ORDER), `image` (a copy of memory), `visit` (visitors), `seen` (visited), `whole`, `rest`.
 */
const retiredNames: [RegExp, string][] = [
  [/\b(told|tell|tells|telling)\b/, 'report, notify, send, log, return'],
  [/\b(asked|asker)\b/, 'request, requested, query'],
  // In place is the standard word for an update without a copy.
  [/(?<!\bin )\b(place|places)\b/, 'position, index, address, location, path'],
  [/\b(fault|faults)\b/, 'error, diagnostic, violation, defect'],
  // A lookup is standard.
  [/\blooks?\b(?! up)/, 'read, check, poll, probe'],
  // `once` as an adverb after a verb is plain: `appendOnce`.
  [/^once$|\bat once\b/, 'idempotency key, invariant operand, batch size'],
  [/\b(most|least)\b/, 'max, min, limit'],
  // Standard error, standard input and output, and standard deviation are standard.
  [/\bstandard\b(?! (error|input|output|deviation))/, 'default'],
  [/\bgiven\b/, 'input, options, args, value'],
  [/\bkept\b/, 'stored, retained, cached, captured'],
  [/\bgone\b/, 'closed, disconnected, deleted, removed'],
  [/\b(hear|hears|heard)\b/, 'receive, lastRequestAt, listener'],
  [/\bpicture\b/, 'code frame, rendering'],
  [/\b(adopt|adopts|adopted)\b/, 'apply, use, load, reconnect'],
  [/\blapsed\b/, 'expired'],
  [/\b(desk|house|door|fronts|hands)\b/, 'service, handler, listener, HTTP threads, context'],
  [/\b(unwritten|unlisted|falling|unkempt)\b/, 'write buffer, deferred adjacency, closing'],
  [/\bamong\b/, 'in, filtered, semi-join, subgraph'],
  [/\b(patience|quiet|grace)\b/, '<what>Timeout, <what>Interval, <what>Delay'],
  [/\belsewhere\b/, 'onOtherNode, outside, remote'],
  [/\b(anew|beside|aside)\b/, 'again, next to, separately'],
  [/\bbehind\b/, 'after, next, lagging'],
  [/\b(crowd|crowded|doomed|twin|sieve|judge|judged|stray)\b/, 'the term of the algorithm'],
  [/\bverdict\b/, 'decision, result'],
  [/\b(deal|dealt)\b/, 'distribute'],
  [/\b(reach|reaches)\b/, 'traversal, position, nesting limit'],
  [/\b(piece|pieces)\b/, 'chunk, part, batch'],
  [/\b(said|say|says)\b/, 'message, text, declared, print'],
  [/\bways?\b/, 'direction, path, origin, options'],
  [/\b(led|foresee|whoever|nobody)\b/, 'name the actor and the act'],
];

/** Names that stay, by `file name`: other programs or stored data have them. */
const fixedNames: Record<string, string> = {
  'engine/cluster/node.ts fault': 'ClusterNode is public',
  'engine/cluster/node.ts setFault': 'ClusterNode is public',
  'engine/cluster/node.ts look': 'ClusterNode is public',
  'engine/cluster/role/node-handle.ts fault': 'implements ClusterNode',
  'engine/cluster/role/node-handle.ts setFault': 'implements ClusterNode',
  'engine/cluster/role/node-handle.ts look': 'implements ClusterNode',
  'engine/cluster/log/replicated-log.ts look': 'drivers of operators implement LogDriver',
  'engine/cluster/log/jetstream.ts look': 'implements LogDriver',
  'engine/cluster/log/s3.ts look': 'implements LogDriver',
  'engine/database/load/load-progress.ts pieces': 'stored as JSON',
  'engine/database/vectors/index-list.ts givenUp': '`given_up` in the reply of /indexes',
  'server/auth/key-file.ts gone': 'stored in the key file',
  'server/cluster/cluster-status.ts fault': 'member of /_admin/cluster-status',
  'server/cluster/placement.ts fault': 'member of /_admin/cluster-status',
  'server/command/data/backup.ts kept': 'member of the reply of /_admin/backup',
  'server/explorer/model/status.ts fault': 'member of /_explore/status',
};

export const isFixedName = ({ path, name }: DeclaredName): boolean =>
  Object.hasOwn(fixedNames, `${path} ${name}`);

/** `#askedServer`, `H_LOOK_MAX`: the words in lower case. */
const splitName = (name: string): string =>
  name
    .replace(/^#/, '')
    .split(/[_$\d]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .join(' ')
    .trim()
    .toLowerCase();

/** Names of wire and file formats are written `like_this` and stay. */
const isOfFormat = (name: string): boolean => /^[a-z0-9]+(_[a-z0-9]+)+$/.test(name);

const isDeclaration = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) ||
  ts.isClassLike(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isEnumDeclaration(node) ||
  ts.isModuleDeclaration(node) ||
  ts.isTypeParameterDeclaration(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isPropertySignature(node) ||
  ts.isParameter(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isBindingElement(node) ||
  ts.isNamedTupleMember(node);

/** Functions, classes, types, methods, fields, parameters and locals of a file. */
export function declaredNames(file: SourceFile): DeclaredName[] {
  const found: DeclaredName[] = [];
  const visit = (node: ts.Node): void => {
    const name = isDeclaration(node) ? (node as ts.NamedDeclaration).name : undefined;
    if (name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) && !isOfFormat(name.text)) {
      const { line } = file.tree.getLineAndCharacterOfPosition(name.getStart(file.tree));
      found.push({ path: file.path, line: line + 1, name: name.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}

/** The word for a retired word in a name, or undefined if the name has none. */
export function betterName(name: string): string | undefined {
  const words = splitName(name);
  return retiredNames.find(([word]) => word.test(words))?.[1];
}
