// Finds the names in sources, the symbol of each and which occurrence is the declaration. Walks the syntax
// tree with the results of the checker.
// Invariant: occurrences do not overlap; unreadable source text has none.
import type { ElementKind } from '../../base/schema.js';
import type { Chain, Expr, ProjectionItem, Step } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { QueryDeclaration, SourceTree, Statement } from '../syntax/ast-query.js';
import type { Field, TypeNode } from '../syntax/ast-schema.js';
import type { SourceFile, Span } from '../syntax/source-file.js';
import type { SemanticModel } from '../type/semantic-model.js';
import { isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import type { ItemType } from '../type/type.js';
import { propertyKey, typeKey, typesMeant } from './symbol-key.js';

export type Role =
  | 'type'
  | 'property'
  | 'variable'
  | 'parameter'
  | 'query'
  | 'step'
  | 'function'
  | 'macro';

export interface Occurrence {
  file: string;
  span: Span;
  name: string;
  role: Role;
  /** Keys of the symbol; several if an item may be of several types. */
  targets: string[];
  declares: boolean;
  /** Its type as text. */
  detail: string;
  /** In `({name})` the variable also names a member: keys of the properties that it may be. */
  member?: string[];
}

/** Returns the type of a value as text. */
export function printValueType(typed: TypedExpr): string {
  const text = printItemType(typed.type);
  if (isList(typed)) return `[${text}]`;
  return typed.cardinality === 'opt' ? `${text}?` : text;
}

type Local = { target: string; role: 'variable' | 'parameter'; detail: string };
type Locals = { names: Map<string, Local>; parent?: Locals };

const inside = (parent: Locals): Locals => ({ names: new Map(), parent });

export class OccurrenceWalk {
  readonly found: Occurrence[] = [];

  constructor(
    private readonly file: SourceFile,
    private readonly facts: SemanticModel,
    /** Keys of all declared types. */
    private readonly declared: ReadonlySet<string>,
  ) {}

  run({ types, queries }: SourceTree): Occurrence[] {
    for (const { declaration } of types) {
      const { kind, name, from, to, fields } = declaration;
      this.#add(name, 'type', [typeKey(kind, name.text)], `${kind} type`, true);
      for (const end of [from, to]) if (end !== undefined) this.#end(end);
      this.#fields(fields, (field) => [propertyKey({ kind, name: name.text }, field)]);
    }
    for (const query of queries) this.#query(query);
    return this.found.sort((a, b) => a.span.start - b.span.start);
  }

  #add(name: Name, role: Role, targets: string[], detail = '', declares = false): void {
    const { text, span } = name;
    if (span.end <= span.start) return;
    this.found.push({ file: this.file.path, span, name: text, role, targets, declares, detail });
  }

  #end(name: Name): void {
    this.#type(name, ['node', 'vector']);
  }

  #type(name: Name, kinds: readonly ElementKind[]): void {
    const keys = kinds.map((kind) => typeKey(kind, name.text));
    this.#add(name, 'type', keys.filter((key) => this.declared.has(key)).slice(0, 1));
  }

  #fields(fields: readonly Field[], targets: (field: string) => string[]): void {
    for (const { name, type } of fields) {
      const detail = this.file.text.slice(type.span.start, type.span.end);
      this.#add(name, 'property', targets(name.text), detail, true);
      this.#typeNode(type);
    }
  }

  #typeNode(type: TypeNode): void {
    if (type.kind === 'list') this.#typeNode(type.of);
    else if (type.kind === 'object') this.#fields(type.fields, () => []);
    else this.#add(type.name, 'type', []);
  }

  #query(query: QueryDeclaration): void {
    const { name, macros, parameters, statements, returns } = query;
    for (const macro of macros) this.#add(macro.name, 'macro', []);
    this.#add(name, 'query', [`query ${name.text}`], '', true);
    const locals: Locals = { names: new Map() };
    for (const { name: parameter, type } of parameters) {
      const detail = this.file.text.slice(type.span.start, type.span.end);
      this.#bind(parameter, 'parameter', detail, locals);
      this.#typeNode(type);
    }
    this.#statements(statements, locals);
    for (const value of returns ?? []) this.#value(value, locals);
  }

  #bind(name: Name, role: Local['role'], detail: string, locals: Locals): void {
    const target = `local ${this.file.path} ${name.span.start}`;
    locals.names.set(name.text, { target, role, detail });
    this.#add(name, role, [target], detail, true);
  }

  #use(name: Name, locals: Locals, typed: TypedExpr | undefined): void {
    let at: Locals | undefined = locals;
    while (at !== undefined && !at.names.has(name.text)) at = at.parent;
    const local = at?.names.get(name.text);
    const detail = typed === undefined ? (local?.detail ?? '') : printValueType(typed);
    this.#add(name, local?.role ?? 'variable', local === undefined ? [] : [local.target], detail);
  }

  #statements(statements: readonly Statement[], locals: Locals): void {
    for (const statement of statements) {
      if (statement.kind !== 'for') {
        this.#value(statement.value, locals);
        if (statement.kind !== 'bind') continue;
        const known = this.facts.values.get(statement.value);
        this.#bind(statement.name, 'variable', known ? printValueType(known.typed) : '', locals);
        continue;
      }
      this.#value(statement.in, locals);
      const inner = inside(locals);
      const list = this.facts.values.get(statement.in)?.typed;
      for (const name of statement.names) {
        const detail =
          list && !statement.destructured ? printItemType(itemOf(list.type, list)) : '';
        this.#bind(name, 'variable', detail, inner);
      }
      this.#statements(statement.body, inner);
    }
  }

  #value(expr: Expr, locals: Locals): void {
    switch (expr.kind) {
      case 'not':
      case 'drop':
        return this.#value(expr.of, locals);
      case 'array':
        for (const item of expr.items) this.#value(item, locals);
        return;
      case 'object':
        return this.#object(expr, locals, []);
      case 'chain':
        return this.#chain(expr, locals);
      default:
    }
  }

  /** `owners` are the types that declare the members. */
  #object(
    expr: Extract<Expr, { kind: 'object' }>,
    locals: Locals,
    owners: readonly { kind: ElementKind; name: string }[],
  ): void {
    for (const { name, value } of expr.members) {
      const targets = owners.map((owner) => propertyKey(owner, name.text));
      // `{name}` reads the variable of that name.
      const isShort = value.kind === 'chain' && value.span.start === name.span.start;
      if (!isShort) this.#add(name, 'property', targets);
      this.#value(value, locals);
      if (isShort) this.found.at(-1)!.member = targets;
    }
  }

  #chain({ head, steps }: Chain, locals: Locals): void {
    const typed = this.facts.heads.get(head);
    if (head.kind === 'call') this.#call(head, locals, 'function', undefined);
    else if (head.kind === 'path') {
      const [first, ...members] = head.names;
      this.#use(first, locals, members.length === 0 ? typed : undefined);
      for (const member of members) this.#add(member, 'property', []);
    } else for (const member of head.members) this.#add(member, 'property', []);
    for (const step of steps) this.#step(step, locals);
  }

  #step(step: Step, locals: Locals): void {
    const known = this.facts.steps.get(step);
    const owners = findOwners(known?.input);
    if (step.kind === 'call') {
      const isProperty = owners.some((owner) => this.declared.has(typeKey(owner.kind, owner.name)));
      const bare = step.types === undefined && step.args === undefined;
      if (bare && isProperty && !/^[A-Z_]+[A-Z]$|^(Out|In|To|From)/.test(step.name.text)) {
        const keys = owners.map((owner) => propertyKey(owner, step.name.text));
        this.#add(step.name, 'property', keys, known ? printValueType(known.output) : '');
      } else this.#call(step, locals, 'step', known?.output);
    } else if (step.kind === 'exclusion') {
      for (const name of step.names) this.#property(name, owners);
    } else this.#items(step.items, locals, owners, step.closure, known?.input);
  }

  #property(name: Name, owners: readonly { kind: ElementKind; name: string }[]): void {
    this.#add(
      name,
      'property',
      owners.map((owner) => propertyKey(owner, name.text)),
    );
  }

  #items(
    items: readonly ProjectionItem[],
    locals: Locals,
    owners: readonly { kind: ElementKind; name: string }[],
    closure?: Name,
    input?: TypedExpr,
  ): void {
    const inner = closure === undefined ? locals : inside(locals);
    if (closure !== undefined) {
      this.#bind(closure, 'variable', input ? printItemType(input.type) : '', inner);
    }
    for (const item of items) {
      if (item.kind === 'spread') continue;
      const { name, value } = item;
      if (value === undefined) this.#property(name, owners);
      else {
        this.#add(name, 'property', []);
        if (value.kind === 'nested') this.#items(value.items, inner, []);
        else this.#value(value, inner);
      }
    }
  }

  #call(
    call: Extract<Step, { kind: 'call' }>,
    locals: Locals,
    role: 'step' | 'function',
    output: TypedExpr | undefined,
  ): void {
    const { name, types = [], args = [], hops } = call;
    this.#add(name, role, [], output ? printValueType(output) : '');
    const kinds = typesMeant(name.text);
    if (name.text !== 'ORDER') for (const type of types) this.#type(type, kinds);
    const owners = types.flatMap((type) =>
      kinds
        .filter((kind) => this.declared.has(typeKey(kind, type.text)))
        .map((kind) => ({ kind, name: type.text })),
    );
    for (const { value } of args) {
      if (value.kind === 'object') this.#object(value, locals, owners.slice(0, 1));
      else this.#value(value, locals);
    }
    if (hops === undefined) return;
    this.#value(hops.low, locals);
    if (hops.high !== undefined && hops.high.kind !== 'any') this.#value(hops.high, locals);
  }
}

const itemOf = (type: ItemType, list: TypedExpr): ItemType =>
  !isList(list) && type.kind === 'list' ? type.of : type;

function findOwners(input: TypedExpr | undefined): readonly { kind: ElementKind; name: string }[] {
  return input?.type.kind === 'element' ? input.type.types : [];
}
