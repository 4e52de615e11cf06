// Returns one element by its id: its stored properties, its endpoints if it is an edge, and its number of
// edges of each type. Invariant: values are the stored JSON, so integers keep their digits.
import { labelOf, printUuid, type ReadView, uuidAt } from '../../../engine/internal.js';
import { fragmentText } from './schema-page.js';

/** Returns JSON text, or undefined if there is no such element. */
export function elementBody(view: ReadView, uuid: Uint8Array): string | undefined {
  const id = view.idOf(uuid);
  const record = id === 0 ? undefined : view.record(id);
  if (record === undefined) return undefined;
  const label = view.catalog.label(labelOf(record));
  const at = (offset: number): string => JSON.stringify(printUuid(record, offset));
  const values: [string, string][] = [
    ['id', at(uuidAt.own)],
    ['label', JSON.stringify(label.name)],
  ];
  if (label.kind === 'edge')
    values.push(['from_node', at(uuidAt.from)], ['to_node', at(uuidAt.to)]);
  for (const { name, slot } of label.properties) {
    values.push([name, fragmentText(record, slot) ?? 'null']);
  }
  const element = values.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',');
  const degrees = label.kind === 'edge' ? {} : degreesOf(view, id);
  return `{"kind":"${label.kind}","element":{${element}},"degrees":${JSON.stringify(degrees)}}`;
}

function degreesOf(view: ReadView, id: number): Record<string, { out: number; in: number }> {
  const edges = view.catalog.labels().filter(({ kind }) => kind === 'edge');
  const counts = edges.map((edge) => {
    const [out, into] = [view.degree(id, edge.id, 'out'), view.degree(id, edge.id, 'in')];
    return [edge.name, { out, in: into }] as const;
  });
  return Object.fromEntries(counts.filter(([, { out, in: into }]) => out + into > 0));
}
