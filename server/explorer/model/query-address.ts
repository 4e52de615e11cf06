// A call in the address: each parameter under its own name, except for the few names that the page reserves.
// Pure.
import { type Member, type Typed, typedFrom, typedText } from './value-form.js';

const reserved = new Set(['view', 'run', 'body', 'part', 'filter']);

const nameInAddress = (name: string): string => (reserved.has(name) ? `$${name}` : name);

export function typedOf(members: Member[], params: URLSearchParams): Record<string, Typed> {
  const typed: Record<string, Typed> = {};
  for (const { name, field } of members) {
    const text = params.get(nameInAddress(name));
    if (text !== null) typed[name] = typedFrom(field, text);
  }
  return typed;
}

/** Returns the changes of the address for the typed text. Undefined removes a parameter. */
export function addressOf(
  members: Member[],
  typed: Record<string, Typed>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    members.map(({ name }) => [nameInAddress(name), typedText(typed[name]) || undefined]),
  );
}
