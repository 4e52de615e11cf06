// Names of flags, commands, configuration keys and routes that a text mentions in `code`, and which of them do not
// exist.
import type { Flags } from '../../server/terminal/command.js';
import { schemaOf } from '../../server/config/config-schema.js';

export interface Known {
  commands: ReadonlyMap<string, { words?: string; flags: Flags }>;
  keys: ReadonlySet<string>;
  /** Paths that every server has. */
  routes: ReadonlySet<string>;
}

/** Flags of every command. */
const everywhere = new Set(['help', 'version']);

function commandFaults(span: string, { commands }: Known): string[] {
  const line = /^(?:npx )?(?:--no-install )?trellis(?:db)? (.*)$/s.exec(span)?.[1];
  if (line === undefined) return [];
  const [name = '', ...rest] = line.split(/\s+/);
  if (name.startsWith('--')) {
    return everywhere.has(name.slice(2)) ? [] : [`trellis has no ${name}`];
  }
  // `trellis …`, `trellis COMMAND`: any command. `trellis ready …` is the line that the server prints.
  if (!/^[a-z]+$/.test(name) || span.startsWith('trellis ready')) return [];
  const command = commands.get(name);
  if (command === undefined) return [`there is no command ${name}`];
  return rest.flatMap((word) => {
    const flag = /^\[?--([a-z][a-z-]*)/.exec(word)?.[1];
    const isThere = flag === undefined || Object.hasOwn(command.flags, flag);
    return isThere || everywhere.has(flag) ? [] : [`trellis ${name} has no --${flag}`];
  });
}

/** Sections of keys, and every beginning of a key that ends before a dot. */
const partsOf = new WeakMap<ReadonlySet<string>, { sections: Set<string>; heads: Set<string> }>();

function partsOfKeys(keys: ReadonlySet<string>): { sections: Set<string>; heads: Set<string> } {
  let parts = partsOf.get(keys);
  if (parts === undefined) {
    parts = { sections: new Set(), heads: new Set() };
    for (const key of keys) {
      parts.sections.add(key.split('.')[0]!);
      for (let at = key.indexOf('.'); at >= 0; at = key.indexOf('.', at + 1))
        parts.heads.add(key.slice(0, at));
    }
    partsOf.set(keys, parts);
  }
  return parts;
}

function keyFault(span: string, { keys }: Known): string[] {
  const key = /^([a-z][a-z0-9]*(?:\.[a-z][a-z0-9_]*)+)(?: = .*)?$/.exec(span)?.[1];
  if (key === undefined || keys.has(key) || schemaOf(key) !== undefined) return [];
  const { sections, heads } = partsOfKeys(keys);
  const [first, second] = key.split('.') as [string, string];
  // A section itself is named, or members of something else that is called like one.
  const isSection = heads.has(key);
  return sections.has(first) && !isSection && !isOther(first, second)
    ? [`there is no key ${key}`]
    : [];
}

/** Files and members of requests that look like keys of the configuration. */
const isOther = (first: string, second: string): boolean =>
  /^(js|ts|md|mjs|json|hx|toml|conf|mdb|yml|service|test)$/.test(second) ||
  `${first}.${second}` === 'embedding.dimension';

function routeFault(span: string, { routes }: Known): string[] {
  const path = /^(?:GET|POST|PUT|PATCH) (\/[\w/.-]*)/.exec(span)?.[1];
  if (path === undefined || routes.has(path)) return [];
  // A query of the user, a tool of sessions, the explorer's own pages.
  const isUsers = /^\/[A-Za-z][A-Za-z0-9_]*$/.test(path) && !isLikeFixed(path, routes);
  return isUsers || /^\/(mcp|_explorer?|_node)?(\/|$)/.test(path) || path === '/mcp'
    ? []
    : [`there is no route ${path}`];
}

/** One letter off a path that is there is no query of a user. */
const isLikeFixed = (path: string, routes: ReadonlySet<string>): boolean =>
  [...routes].some((route) => path.startsWith(route) && path.length - route.length < 3);

/** What a text names in `code` and is not there. */
export function faultsOf(text: string, known: Known): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, span]) => [
    ...commandFaults(span!.trim(), known),
    ...keyFault(span!.trim(), known),
    ...routeFault(span!.trim(), known),
  ]);
}
