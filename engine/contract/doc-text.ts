// Parses the doc comment of a query: its first sentence, the text, and descriptions of parameters in lines of
// the form `name: text`. Generates a text for queries without a comment.
import { printType } from '../base/schema.js';
import { mayBeAbsent } from '../plan/default-text.js';
import type { Plan, Query } from '../plan/plan.js';

export interface DocText {
  title: string;
  text: string;
  parameters: ReadonlyMap<string, string>;
}

const none: DocText['parameters'] = new Map();

type Documented = Pick<Query, 'name' | 'doc'> & { plan: Pick<Plan, 'parameters'> };

export function parseDocText({ name, doc, plan }: Documented): DocText {
  if (doc === '') {
    const text = printSignature(name, plan.parameters);
    return { title: text, text, parameters: none };
  }
  const names = new Set(plan.parameters.map((parameter) => parameter.name));
  const parameters = new Map<string, string>();
  const rest: string[] = [];
  for (const line of doc.split('\n')) {
    const match = /^\s*(\w+): (.+)$/.exec(line);
    if (match !== null && names.has(match[1]!)) parameters.set(match[1]!, match[2]!);
    else rest.push(line);
  }
  const text = rest.join('\n').trim() || printSignature(name, plan.parameters);
  const title = /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0]!;
  return { title: title.replaceAll(/\s+/g, ' '), text, parameters };
}

function printSignature(name: string, parameters: Query['plan']['parameters']): string {
  const list = parameters.map((p) => `${p.name}${mayBeAbsent(p) ? '?' : ''}: ${printType(p.type)}`);
  return `Query ${name}(${list.join(', ')}).`;
}
