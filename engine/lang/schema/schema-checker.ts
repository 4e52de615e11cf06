// Checks declarations and builds the schema of one version.
import {
  type Default,
  type EdgeType,
  type ElementKind,
  type Property,
  type PropertyType,
  printType,
  type ScalarName,
  type Schema,
  type TypeRef,
} from '../../base/schema.js';
import type { Literal, Name } from '../syntax/ast-literal.js';
import type { Field, TypeDeclaration, TypeNode } from '../syntax/ast-schema.js';
import { foreignType } from '../syntax/dialect-hints.js';
import { literalAs } from '../type/load-conversion.js';
import type { Report } from '../syntax/diagnostic.js';
import { checkSearch } from './search-checker.js';
import { didYouMean } from '../../base/did-you-mean.js';

/** A declaration with the report function of its file. */
export interface Declared {
  declaration: TypeDeclaration;
  report: Report;
}

const scalars = new Map<string, ScalarName>(
  (
    [
      'String',
      'Boolean',
      'Date',
      'ID',
      'I8',
      'I16',
      'I32',
      'I64',
      'U8',
      'U16',
      'U32',
      'U64',
      'U128',
      'F32',
      'F64',
      'Json',
    ] as const
  ).map((name) => [name.toLowerCase(), name]),
);

/** Returns the scalar with this name. Ignores letter case, but warns if it differs. */
export function findScalar(name: Name, report: Report): ScalarName | undefined {
  const scalar = scalars.get(name.text.toLowerCase());
  if (scalar !== undefined && scalar !== name.text) {
    const message = `The type is spelt \`${scalar}\`.`;
    report('W103', name.span, message, `Write \`${scalar}\`.`);
  }
  return scalar;
}

/** Returns true for a name that no value may have. `Json` came later, so values may be called so. */
export const isReservedScalar = (text: string): boolean => text !== 'Json' && isScalarName(text);

export const isScalarName = (text: string): boolean => scalars.get(text.toLowerCase()) === text;

export const scalarNames = (): string[] => [...scalars.values()];

export interface SchemaOptions {
  /** Receives the names of invalid parts, which are reported and left out. */
  lose: (name: string) => void;
  compat: boolean;
}

/** Returns the schema of one version. */
export function buildSchema(
  version: number,
  declared: readonly Declared[],
  { lose, compat }: SchemaOptions,
): Schema {
  const schema: Schema = { version, nodes: [], edges: [], vectors: [] };
  const accepted = acceptNames(declared);
  const names = new Map<string, Set<ElementKind>>();
  for (const { declaration } of accepted) {
    const kinds = names.get(declaration.name.text) ?? new Set();
    names.set(declaration.name.text, kinds.add(declaration.kind));
  }
  for (const { declaration, report } of accepted) {
    const { kind, fields } = declaration;
    const name = declaration.name.text;
    const relation = (to: string) => relationHint(names, name, to);
    const properties = buildProperties(kind, fields, { report, compat, relation });
    for (const { name: field } of fields)
      if (!properties.some((property) => property.name === field.text)) lose(field.text);
    if (kind === 'node') schema.nodes.push({ kind, name, properties });
    else if (kind === 'vector') schema.vectors.push({ kind, name, properties });
    else {
      const edge = buildEdge(declaration, properties, names, report);
      if (edge !== undefined) schema.edges.push(edge);
      else lose(name);
    }
  }
  return schema;
}

/** Returns a hint for a property whose type is a declared type. */
function relationHint(
  names: ReadonlyMap<string, Set<ElementKind>>,
  from: string,
  to: string,
): string | undefined {
  const kinds = names.get(to);
  if (!kinds?.has('node') && !kinds?.has('vector')) return undefined;
  return `A relation is an edge: \`E::Name { From: ${from}, To: ${to} }\`.`;
}

/** Returns the declarations whose name is new within their kind; reports the others. */
function acceptNames(declared: readonly Declared[]): Declared[] {
  const kindsOf = new Map<string, Set<ElementKind>>();
  return declared.filter(({ declaration: { kind, name }, report }) => {
    const kinds = kindsOf.get(name.text) ?? new Set<ElementKind>();
    kindsOf.set(name.text, kinds);
    if (kinds.has(kind)) {
      report('E107', name.span, `\`${name.text}\` is declared twice.`, 'Remove one.');
      return false;
    }
    if (kinds.size > 0) {
      report('W104', name.span, `\`${name.text}\` names types of several kinds.`, 'Rename one.');
    }
    kinds.add(kind);
    return true;
  });
}

function buildEdge(
  declaration: TypeDeclaration,
  properties: Property[],
  names: ReadonlyMap<string, Set<ElementKind>>,
  report: Report,
): EdgeType | undefined {
  const end = (name: Name | undefined): TypeRef | undefined => {
    if (name === undefined) return undefined;
    const kinds = names.get(name.text);
    if (kinds?.has('node')) return { kind: 'node', name: name.text };
    if (kinds?.has('vector')) return { kind: 'vector', name: name.text };
    const ends = [...names].flatMap(([n, of]) => (of.has('node') || of.has('vector') ? [n] : []));
    const hint = didYouMean(name.text, ends, 'Declare it.');
    report('E106', name.span, `\`${name.text}\` is not a node or vector type.`, hint);
    return undefined;
  };
  const from = end(declaration.from);
  const to = end(declaration.to);
  if (from === undefined || to === undefined) return undefined;
  const { unique, name } = declaration;
  return { kind: 'edge', name: name.text, from, to, unique, properties };
}

const reserved: Record<ElementKind, Set<string>> = {
  node: new Set(['id', 'label', 'type', 'version']),
  edge: new Set(['id', 'label', 'type', 'version', 'from_node', 'to_node']),
  vector: new Set(['id', 'label', 'type', 'version', 'data', 'score']),
};

interface PropertyChecking {
  report: Report;
  compat: boolean;
  /** Returns the hint for a property that names a declared type. */
  relation: (to: string) => string | undefined;
}

function buildProperties(
  kind: ElementKind,
  fields: Field[],
  checking: PropertyChecking,
): Property[] {
  const { report, compat } = checking;
  const properties: Property[] = [];
  const seen = new Set<string>();
  for (const field of fields) {
    const { text, span } = field.name;
    const folded = text.toLowerCase();
    if (seen.has(folded)) {
      report('E109', span, `Property \`${text}\` is declared twice.`, 'Rename one.');
      continue;
    }
    seen.add(folded);
    if (reserved[kind].has(folded)) {
      report('E204', span, `\`${text}\` is reserved.`, 'Rename the property.');
      continue;
    }
    const hides = kind === 'vector' ? 'distance' : kind === 'node' ? 'score' : undefined;
    if (text === hides) {
      report('W105', span, `\`${text}\` hides what searches report under this name.`);
    } else if (text === 'hops' && kind !== 'edge') {
      report('W105', span, '`hops` hides what repeated steps report under this name.');
    }
    const type = propertyType(field.type, checking);
    if (type === undefined) continue;
    if (field.index !== 'none' && printType(type).includes('Json')) {
      const hint = 'Index a separate property.';
      report('E733', span, `\`${text}\` is a Json, which has no index.`, hint);
      continue;
    }
    const property: Property = { name: text, type, index: field.index };
    const search = field.search && checkSearch(field.search, kind, type, report);
    if (search !== undefined) property.search = search;
    const value = checkPropertyDefault(field, type, report, compat);
    if (value !== undefined) property.default = value;
    properties.push(property);
  }
  return properties;
}

const knownTypes = `There are ${scalarNames().join(', ')}.`;

/** Returns scalars and lists of them; undefined after a report. */
function propertyType(node: TypeNode, checking: PropertyChecking): PropertyType | undefined {
  const { report, relation } = checking;
  if (node.kind === 'list') {
    const of = propertyType(node.of, checking);
    return of && { kind: 'list', of };
  }
  if (node.kind === 'object') {
    const hint = 'Write its members as properties, or a type of its own and an edge to it.';
    report('E209', node.span, 'Properties are scalars or lists of scalars, not objects.', hint);
    return undefined;
  }
  const name = findScalar(node.name, report);
  if (name !== undefined) return { kind: 'scalar', name };
  const { text } = node.name;
  const hint = relation(text) ?? foreignType(text) ?? didYouMean(text, scalarNames(), knownTypes);
  report('E209', node.span, `\`${node.name.text}\` is no type of a property.`, hint);
  return undefined;
}

function checkPropertyDefault(
  field: Field,
  type: PropertyType,
  report: Report,
  compat: boolean,
): Default | undefined {
  const literal = field.default;
  if (literal === undefined || literal.kind === 'faulty') return undefined;
  if (compat && literal.value.kind === 'now' && printType(type) === 'I64') {
    const message = '`NOW` is a date; here it is the seconds since 1970.';
    report('W117', literal.span, message, 'Declare the property as `Date`.');
    return { kind: 'now' };
  }
  return defaultValue(literal, type, report);
}

export function defaultValue(
  literal: Literal,
  type: PropertyType,
  report: Report,
): Default | undefined {
  const isDate = type.kind === 'scalar' && type.name === 'Date';
  if (type.kind === 'scalar' && type.name === 'Json' && literal.value.kind !== 'none') {
    report('E205', literal.span, 'A property of type Json has no `DEFAULT`.', 'Leave it out.');
    return undefined;
  }
  if (literal.value.kind === 'now' && isDate) return { kind: 'now' };
  const value = literalAs(literal.value, type, literal.span, report);
  return value === undefined || value === null ? undefined : { kind: 'literal', value };
}
