// Derives the shapes of a tool's arguments: of a query from its parameters, of a session tool from its JSON
// Schema.
import type { Query } from '../../../engine/internal.js';
import type { ToolForm } from '../../openapi/session-tools.js';
import type { ArgumentShape } from './coerce-arguments.js';

type Parameter = Query['plan']['parameters'][number];

const scalars: Readonly<Record<string, ArgumentShape>> = {
  String: 'string',
  Boolean: 'boolean',
  F32: 'number',
  F64: 'number',
  Date: 'formatted',
  ID: 'formatted',
};

function shapeOfType(type: Parameter['type']): ArgumentShape {
  if (type.kind === 'list') return { list: shapeOfType(type.of) };
  if (type.kind === 'object') return shapeOfParameters(type.members);
  return scalars[type.name] ?? 'integer';
}

type Member = Pick<Parameter, 'name' | 'type' | 'optional' | 'default'>;

/** Returns the shape of the arguments of a query. */
export function shapeOfParameters(parameters: readonly Member[]): ArgumentShape {
  const members = parameters.map(({ name, type, optional, default: defaultValue }) => {
    const mayBeAbsent = optional || defaultValue !== undefined;
    return [name, { shape: shapeOfType(type), optional: mayBeAbsent }] as const;
  });
  return { members: new Map(members) };
}

interface Schema {
  readonly type?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const sessionId = { type: 'formatted' };

/** Returns the shape of the arguments of a session tool. */
export const shapeOfForm = ({ properties, required = [] }: ToolForm): ArgumentShape =>
  shapeOfSchema({
    type: 'object',
    properties: { connection_id: sessionId, ...properties },
    required,
  });

function shapeOfSchema({ type, items, properties, required }: Schema): ArgumentShape {
  switch (type) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'string':
    case 'formatted':
      return type;
    case 'array':
      return { list: items === undefined ? 'any' : shapeOfSchema(items) };
    case 'object': {
      const members = Object.entries(properties ?? {}).map(([name, schema]) => {
        const optional = required?.includes(name) !== true;
        return [name, { shape: shapeOfSchema(schema), optional }] as const;
      });
      return { members: new Map(members) };
    }
    default:
      return 'any';
  }
}
