// Reads the contract of the queries from `/openapi.json`, in the form that forms need. Pure.

export interface JsonType {
  type?: string | string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  items?: JsonType;
  properties?: Record<string, JsonType>;
  required?: string[];
  anyOf?: JsonType[];
  description?: string;
  default?: unknown;
}

export interface QueryContract {
  name: string;
  doc: string;
  writes: boolean;
  cost: string;
  mcp: boolean;
  /** Type of the body, members in order. */
  parameters: JsonType;
  reply: JsonType;
}

export interface Contract {
  title: string;
  version: string;
  queries: QueryContract[];
}

interface Operation {
  summary?: string;
  description?: string;
  requestBody?: { content: Record<string, { schema: JsonType }> };
  responses: Record<string, { content?: Record<string, { schema: JsonType }> }>;
  'x-trellis'?: { writes: boolean; cost: string; mcp: boolean };
}

interface OpenApi {
  info: { title: string; version: string };
  paths: Record<string, { post?: Operation }>;
  components?: { schemas?: Record<string, JsonType> };
}

type Whole = (type: JsonType | undefined) => JsonType;

/** Resolves the shapes that a document of many queries contains one time for several queries. */
function wholeTypes(schemas: Record<string, JsonType>): Whole {
  const isShared = Object.keys(schemas).some((name) => name.startsWith('shape-'));
  const shapes = new Map<string, JsonType>();
  const within = (_: string, value: unknown): unknown => {
    const name = (value as { $ref?: string } | null)?.$ref?.replace(/^.*\//, '') ?? '';
    return name.startsWith('shape-') ? shapeOf(name) : value;
  };
  const whole = (type: JsonType): JsonType => JSON.parse(JSON.stringify(type, within));
  const shapeOf = (name: string): JsonType => {
    const known = shapes.get(name) ?? whole(schemas[name] ?? {});
    shapes.set(name, known);
    return known;
  };
  return (type = {}) => (isShared ? whole(type) : type);
}

export function readContract(document: unknown): Contract {
  const { info, paths, components } = document as OpenApi;
  const whole = wholeTypes(components?.schemas ?? {});
  const queries = Object.entries(paths).flatMap(([path, { post }]): QueryContract[] => {
    if (post?.['x-trellis'] === undefined) return [];
    const name = path.slice(1);
    // The description of a query without a comment is its name, so it is left out.
    const text = post.description ?? '';
    return [
      {
        name,
        doc: text.startsWith(`Query ${name}(`) ? '' : text,
        ...post['x-trellis'],
        parameters: whole(post.requestBody?.content['application/json']?.schema),
        reply: whole(post.responses['200']?.content?.['application/json']?.schema),
      },
    ];
  });
  return { title: info.title, version: info.version, queries };
}
