// The library: schema and data of the dialogues, and a bench that plays a client
// of the `mcp/` endpoints.
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import type { Property, PropertyType, ScalarName, Schema } from '../../engine/base/schema.js';
import type { SessionOptions } from '../../server/handlers/session-call.js';
import { createSessionService, type SessionService } from '../../server/handlers/sessions.js';
import { memoryUuid } from '../support/memory-view.js';
import { MemoryDatabase } from './memory-database.js';

const property = (name: string, type: ScalarName | [ScalarName]): Property => {
  const scalar = (of: ScalarName): PropertyType => ({ kind: 'scalar', name: of });
  const kind: PropertyType =
    typeof type === 'string' ? scalar(type) : { kind: 'list', of: scalar(type[0]) };
  return { name, type: kind, index: 'none' };
};

const node = (name: string) => ({ kind: 'node', name }) as const;
const vector = (name: string) => ({ kind: 'vector', name }) as const;

export const librarySchema: Schema = {
  version: 1,
  nodes: [
    { ...node('Author'), properties: [property('name', 'String'), property('born', 'I64')] },
    {
      ...node('Book'),
      properties: [
        property('title', 'String'),
        property('year', 'I64'),
        property('tags', ['String']),
      ],
    },
  ],
  vectors: [{ ...vector('Passage'), properties: [property('text', 'String')] }],
  edges: [
    {
      kind: 'edge',
      name: 'Wrote',
      from: node('Author'),
      to: node('Book'),
      unique: false,
      properties: [property('role', 'String')],
    },
    {
      kind: 'edge',
      name: 'Contains',
      from: node('Book'),
      to: vector('Passage'),
      unique: false,
      properties: [],
    },
  ],
};

/** A1 A2 A3 B1 B2 B3 P1 P2 P3 W1 W2 W3 W4 C1 C2 C3 have the dense ids 1 to 16. */
function fillLibrary(database: MemoryDatabase): void {
  const [a1, a2, a3] = [
    database.addNode('Author', { name: 'Ada', born: 1815 }),
    database.addNode('Author', { name: 'Bo' }),
    database.addNode('Author', { name: 'Cy', born: 1990 }),
  ];
  const [b1, b2, b3] = [
    database.addNode('Book', { title: 'Notes', year: 1843, tags: ['math', 'machines'] }),
    database.addNode('Book', { title: 'Rivers', year: 1999, tags: ['nature'] }),
    database.addNode('Book', { title: 'Loops', year: 2001, tags: [] }),
  ];
  const [p1, p2, p3] = [
    database.addVector('Passage', [1, 0], { text: 'the engine weaves' }),
    database.addVector('Passage', [3, 4], { text: 'rivers meet the sea' }),
    database.addVector('Passage', [0, 2], { text: 'a loop returns' }),
  ];
  database.addEdge('Wrote', a1, b1, { role: 'author' });
  database.addEdge('Wrote', a2, b2, { role: 'author' });
  database.addEdge('Wrote', a3, b2, { role: 'editor' });
  database.addEdge('Wrote', a3, b3, { role: 'author' });
  database.addEdge('Contains', b1, p1);
  database.addEdge('Contains', b2, p2);
  database.addEdge('Contains', b3, p3);
}

export const noKey = { keyId: '', mayRead: true, mayWrite: true };

export type Answer = { ok: unknown } | { code: string; path?: string; hint?: string };

/** A handler over a library, with a clock that only moves when told. */
export class Bench {
  readonly database: MemoryDatabase;
  readonly handler: SessionService;
  clock = 0;
  budgetMs = 30_000;
  #random = 0;

  constructor(limits: Partial<Limits> = {}, options: Partial<SessionOptions> = {}) {
    const all = { ...defaultLimits, ...limits };
    this.database = new MemoryDatabase(librarySchema, all);
    fillLibrary(this.database);
    this.handler = createSessionService({
      database: this.database.face,
      limits: all,
      now: () => this.clock,
      randomBytes: (count) => this.bytes(count),
      schemaFormat: 'object',
      compat: false,
      textEnabled: true,
      enabled: true,
      ...options,
    });
  }

  /** Different every time, and the same in every run. */
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => {
      this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
      return this.#random >>> 24;
    });
  }

  /** The answer of a tool, read with JSON.parse, or the error's code. */
  async post(tool: string, body: unknown, caller = noKey): Promise<Answer> {
    try {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const reply = await this.handler.handle(tool, bytes, caller, this.budgetMs);
      return { ok: JSON.parse(Buffer.from(reply).toString()) };
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      const { code, path, hint } = error.data;
      return { code, ...(path !== undefined && { path }), ...(hint !== undefined && { hint }) };
    }
  }

  /** The reply of a call that must succeed. */
  async ok(tool: string, body: unknown, caller = noKey): Promise<unknown> {
    const answer = await this.post(tool, body, caller);
    if ('code' in answer) throw new Error(`${tool} answered ${answer.code}`);
    return answer.ok;
  }

  async open(caller = noKey): Promise<string> {
    return (await this.ok('init', {}, caller)) as string;
  }

  metric(name: string): number {
    return this.handler.metrics().find((metric) => metric.name === name)!.value;
  }
}

const names = 'A1 A2 A3 B1 B2 B3 P1 P2 P3 W1 W2 W3 W4 C1 C2 C3'.split(' ');

/** Dense id of an element by its name in the dialogues. */
export function denseOf(name: string): number {
  return names.indexOf(name) + 1;
}

/** Names of the elements in a reply: one, a list, or null. */
export function namesIn(reply: unknown): unknown {
  if (reply === null) return null;
  if (Array.isArray(reply)) return reply.map(namesIn);
  const id = (reply as { id: string }).id;
  return names[names.findIndex((_, i) => memoryUuid(i + 1) === id)] ?? id;
}
