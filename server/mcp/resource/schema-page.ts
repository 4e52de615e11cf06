// Prints the schema as one page for a model: types with their counts and properties, edges as arrows,
// examples of indexed values, and one line for each query. Invariant: the work for a page is bounded,
// independently of the number of elements.
import {
  parseDocText,
  type ElementType,
  fragmentOf,
  printType,
  type Query,
  type ReadView,
  type Schema,
} from '../../../engine/internal.js';
import { countOf } from './schema-body.js';
import type { Visibility } from './visibility.js';

const examplesMax = 10;
/** Number of elements that are read for the examples of one property. */
const lookedAtMax = 100;
/** Maximum number of properties with examples. */
const exemplifiedMax = 40;
const exampleChars = 60;

export function schemaPage({ schema, queries, hasGraph }: Visibility, view: ReadView): string {
  const graph = hasGraph ? new GraphPage(schema, view).sections() : [];
  const lines = queries.map(queryLine);
  const list = lines.length === 0 ? ['None.'] : lines;
  return [...graph, '## Queries', '', ...list, ''].join('\n');
}

class GraphPage {
  #exemplified = 0;

  constructor(
    private readonly schema: Schema,
    private readonly view: ReadView,
  ) {}

  sections(): string[] {
    const { nodes, edges, vectors } = this.schema;
    return [
      ...this.#section('Nodes', nodes, ({ name }) => name),
      ...this.#section(
        'Edges',
        edges,
        ({ name, from, to }) => `${from.name} -${name}-> ${to.name}`,
      ),
      ...this.#section('Vectors', vectors, ({ name }) => name),
    ];
  }

  #section<T extends ElementType>(title: string, types: readonly T[], print: (type: T) => string) {
    if (types.length === 0) return [];
    const lines = types.flatMap((type) => {
      const count = countOf(this.view, type.kind, type.name).toLocaleString('en');
      const properties = type.properties.map(({ name, type: of, index, search }) => {
        const mark = index === 'none' ? '' : index === 'unique' ? ' UNIQUE' : ' INDEX';
        return `${name}: ${printType(of)}${mark}${search === undefined ? '' : ' SEARCH'}`;
      });
      const own = properties.length === 0 ? '' : ` {${properties.join(', ')}}`;
      return [`- ${print(type)} (${count})${own}`, ...this.#examples(type)];
    });
    return [`## ${title}`, '', ...lines, ''];
  }

  /** Returns values of the indexed strings of a type. */
  #examples(type: ElementType): string[] {
    const label = this.view.catalog.find(type.kind, type.name);
    if (label === undefined) return [];
    return label.properties.flatMap((property) => {
      const isText = property.type.kind === 'scalar' && property.type.name === 'String';
      const isLookedUp = property.index !== 'none' && property.indexId !== 0;
      if (!isText || !isLookedUp || this.#exemplified === exemplifiedMax) return [];
      this.#exemplified++;
      const found = new Set<string>();
      for (const id of firstOf(this.view.range(property, {}), lookedAtMax)) {
        const record = this.view.record(id);
        const text = record && fragmentText(record, property.slot);
        if (text !== undefined) found.add(short(text));
        if (found.size === examplesMax) break;
      }
      return found.size === 0 ? [] : [`  - ${property.name} is such as ${[...found].join(', ')}`];
    });
  }
}

function* firstOf(batches: Iterable<Uint32Array>, max: number): Generator<number> {
  let left = max;
  for (const batch of batches) {
    for (const id of batch.subarray(0, left)) yield id;
    left -= batch.length;
    if (left <= 0) return;
  }
}

/** Returns the JSON text of a stored property, or undefined if it is unset. */
export function fragmentText(record: Uint8Array, slot: number): string | undefined {
  const { start, end } = fragmentOf(record, slot);
  if (start === end) return undefined;
  return Buffer.from(record.buffer, record.byteOffset + start, end - start).toString();
}

function short(json: string): string {
  if (json.length <= exampleChars) return json;
  const text = (JSON.parse(json) as string).slice(0, exampleChars).replace(/[\uD800-\uDBFF]$/, '');
  return JSON.stringify(`${text}…`);
}

function queryLine(query: Query): string {
  const { name, plan } = query;
  const { title } = parseDocText(query);
  const list = plan.parameters.map((parameter) => {
    const isOptional = parameter.optional || parameter.default !== undefined;
    return `${parameter.name}${isOptional ? '?' : ''}: ${printType(parameter.type)}`;
  });
  const about = query.doc === '' ? '' : ` ${title}`;
  return `- ${name}(${list.join(', ')}):${about}${plan.writes ? ' Writes.' : ' Reads.'}`;
}
