// Generates the page server/docs/reference/http.md from the OpenAPI paths of the server and the tools of
// sessions. Roles, descriptions and example calls are in route-notes.json; the tests of the manual run them.
// Invariant: a path without a note, or a note without a path, fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../engine/lang/compile.js';
import { adminPaths, graphPaths, openPaths } from '../../../server/openapi/built-in-paths.js';
import { toolForms } from '../../../server/openapi/session-tools.js';
import { readSources } from '../../../server/project/project.js';
import { root } from '../../support/project.js';

interface Note {
  role: string;
  about: string;
  /** Arguments of curl, and what it prints. */
  curl?: string;
  answer?: string;
  language?: string;
  /** A call that is only shown. */
  example?: string;
  exampleBody?: string;
}

interface Operation {
  parameters?: { name: string; required: boolean }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
}

const folder = join(root, 'test/docs/reference');
const notes = JSON.parse(readFileSync(join(folder, 'route-notes.json'), 'utf8')) as Record<
  string,
  Note
>;
const words = readFileSync(join(folder, 'http-words.txt'), 'utf8');

export const notedRoutes = (): string[] => Object.keys(notes);

const groups = [
  ['Health and description', openPaths],
  ['The graph, in the format of HelixDB', graphPaths],
  ['Administration', adminPaths],
] as const;

export const builtInRoutes = (): string[] =>
  groups.flatMap(([, paths]) => paths.map(([path]) => path));

const typeOf = ({ type, items }: Schema): string =>
  type === 'array' ? `[${items === undefined ? 'any' : typeOf(items)}]` : (type ?? 'any');

function requestOf({ parameters = [], requestBody }: Operation): string[] {
  const asked = parameters.map(
    ({ name, required }) => `\`${name}\`${required ? ' (required)' : ''}`,
  );
  const lines = asked.length === 0 ? [] : [`Query parameters: ${asked.join(', ')}.`];
  const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const schema = content?.schema;
  if (media === 'application/x-ndjson') lines.push('Body: one JSON object a line (NDJSON).');
  else if (schema?.properties !== undefined) {
    const required = new Set(schema.required);
    const members = Object.entries(schema.properties).map(
      ([name, type]) => `\`${name}\`: ${typeOf(type)}${required.has(name) ? ' (required)' : ''}`,
    );
    lines.push(`Body: ${members.join(', ')}.`);
  } else if (schema !== undefined) lines.push(`Body: ${typeOf(schema)}.`);
  return lines;
}

function exampleOf({ curl, answer, language = 'json', example, exampleBody }: Note): string[] {
  if (curl !== undefined)
    return ['', '```sh', `curl -s ${curl}`, '```', `\`\`\`${language}`, answer ?? '', '```'];
  const body = exampleBody === undefined ? [] : ['', exampleBody];
  return ['', '```text', example ?? '', ...body, '```'];
}

const roles: Record<string, string> = {
  open: 'No key is needed.',
  'any key': 'Any key of a role other than `metrics`.',
};

function sectionOf([path, methods]: readonly [string, object]): string {
  const note = notes[path];
  if (note === undefined) throw new Error(`${path} has no note`);
  return Object.entries(methods as Record<string, Operation>)
    .map(([method, operation]) =>
      [
        `### ${method.toUpperCase()} ${path}`,
        '',
        note.about,
        roles[note.role] ?? `Role: \`${note.role}\`.`,
        ...requestOf(operation),
        ...exampleOf(note),
      ].join('\n'),
    )
    .join('\n\n');
}

function sessionTable(): string {
  const { program } = compile(readSources(join(root, 'server/demo'), 'db'), { compat: false });
  const rows = [...toolForms(program!.schema)].map(([name, { properties, required = [] }]) => {
    const members = Object.keys(properties).map((member) =>
      required.includes(member) ? `\`${member}\`` : `\`${member}\` (optional)`,
    );
    return `| \`POST /mcp/${name}\` | ${members.join(', ')} |`;
  });
  return ['| Route | Arguments |', '|---|---|', ...rows].join('\n');
}

/** The whole text of server/docs/reference/http.md. */
export function httpPage(): string {
  const [intro = '', outro = ''] = words.split('<!-- routes -->\n');
  const routes = groups.map(([title, paths]) =>
    [`## ${title}`, ...paths.map(sectionOf)].join('\n\n'),
  );
  const end = outro.trim().replace('<!-- sessions -->', sessionTable());
  return `${[intro.trimEnd(), ...routes, end].join('\n\n')}\n`;
}
