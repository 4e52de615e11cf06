// Prints types as one TypeScript module: an interface per type, the queries by name, and functions bound to a
// caller. Uses only plain interfaces and literal unions, which editors check fast.
// Invariant: the same program and options give the same bytes; every name is an identifier or quoted.
import { createHash } from 'node:crypto';
import type { ParameterType, ScalarName, Schema, TypeRef } from '../base/schema.js';
import type { OutputMember, OutputType, ReplyType } from '../plan/output-type.js';
import { mayBeAbsent } from '../plan/default-text.js';
import type { Parameter, Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import { computeContract } from './contract-hash.js';
import { type DecodePath, findDecodePaths } from './decode-path.js';
import { parseDocText } from './doc-text.js';
import { type ElementForm, elementMembers } from './element-shape.js';
import { formName } from './json-schema.js';
import { TypeNames } from './type-name.js';
import { isWideInteger } from './wide-integer.js';

export interface TypeScriptOptions {
  version: string;
  files: number;
  int64: 'number' | 'bigint' | 'string';
  dates: 'string' | 'date';
}

/** Returns a short, stable hash of everything that callers see of a program. */
export function programHash({ schema, queries }: Program): string {
  const seen = queries.map(({ name, plan, output }) => [
    name,
    plan.parameters,
    output,
    plan.writes,
  ]);
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
  const text = JSON.stringify([schema, seen], plain);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

export function printTypeScript(program: Program, options: TypeScriptOptions): string {
  return new ModulePrinter(program, options).print();
}

/** One file of a module that consists of several. */
export interface ModuleFile {
  /** Path below the folder of the parts; empty for the module itself, which is next to the folder. */
  name: string;
  text: string;
}

/**
 * Prints the module as several files: one for the types of elements, one for each `.hx` file with queries.
 * Only the module itself imports the parts, which are in the folder `folder`.
 */
export function printSplitTypeScript(
  program: Program,
  options: TypeScriptOptions,
  folder: string,
): ModuleFile[] {
  return new ModulePrinter(program, options).printSplit(folder);
}

/** Names of types that the module itself uses. */
const spoken: readonly string[] =
  'CallOptions Caller Session Queries Client Walk Date Record Promise Float32Array Float64Array'.split(
    ' ',
  );

/** The text of one query in a module. */
interface Part {
  /** Source file of the query. */
  file: string;
  exported: readonly string[];
  /** Interfaces of elements that the query uses. */
  mentioned: readonly string[];
  interfaces: string;
  entry: string;
  method: string;
  shape: string;
}

/** The part that has the interfaces of elements. */
const elementsName = 'elements';

const counted = (files: number): string => `${files} ${files === 1 ? 'file' : 'files'}`;

const printImport = (names: readonly string[], from: string): string =>
  `import type { ${names.join(', ')} } from '${from}';`;

const printExport = (names: readonly string[], from: string): string[] =>
  names.length === 0 ? [] : [`export type { ${names.join(', ')} } from '${from}';`];

/** Returns the names of the parts, derived from their sources. No two are equal if letter case is ignored. */
function partNames(files: readonly string[]): Map<string, string> {
  const taken = new Set([elementsName]);
  return new Map(
    files.map((file) => {
      const words = file.replace(/\.hx$/, '').split(/[^\w-]+/);
      let name = words.filter((word) => word !== '').join('.') || 'queries';
      while (taken.has(name.toLowerCase())) name += '_';
      taken.add(name.toLowerCase());
      return [file, name];
    }),
  );
}

/** Prints the parts of a module. `declare` is the line that declares the shapes. */
function printBody(parts: readonly Part[], declare: string): string[] {
  return [
    ...parts.map(({ interfaces }) => interfaces).filter((text) => text !== ''),
    'export interface Queries {',
    ...parts.map(({ entry }) => entry),
    '}',
    '',
    'export interface Client {',
    ...parts.map(({ method }) => method),
    '}',
    '',
    '/** What decoding has to know: which queries write, and the places of 64-bit integers and dates. */',
    `${declare} shapes = {`,
    ...parts.map(({ shape }) => shape),
    '} as const;',
    '',
  ];
}

class ModulePrinter {
  readonly #names: TypeNames;
  /** Interfaces of element forms, in order of first use. */
  readonly #interfaces = new Map<string, string>();
  /** Names of those interfaces, by kind and form. */
  readonly #interfaceNames = new Map<string, string>();
  /** Names in use, element types first. */
  readonly #taken = new Set(spoken);
  /** Interfaces that were referenced since this was last cleared. */
  #mentioned = new Set<string>();

  constructor(
    private readonly program: Program,
    private readonly options: TypeScriptOptions,
  ) {
    this.#names = new TypeNames(program.schema);
  }

  print(): string {
    const parts = this.#parts();
    return [
      this.#head(counted(this.options.files)),
      "import { type CallOptions, type Caller, type Session, bind } from 'trellisdb/client';",
      '',
      ...this.#interfaces.values(),
      ...printBody(parts, 'const'),
      ...this.#tail(),
    ].join('\n');
  }

  printSplit(folder: string): ModuleFile[] {
    const parts = this.#parts();
    const byFile = new Map<string, Part[]>();
    for (const part of parts) byFile.set(part.file, [...(byFile.get(part.file) ?? []), part]);
    const names = partNames([...byFile.keys()]);
    const files = [...byFile].map(([file, own]): ModuleFile => {
      const mentioned = [...new Set(own.flatMap((part) => part.mentioned))];
      const lines = [
        this.#head(file),
        "import type { CallOptions } from 'trellisdb/client';",
        ...(mentioned.length === 0 ? [] : [printImport(mentioned, `./${elementsName}.js`)]),
        '',
        ...printBody(own, 'export const'),
      ];
      return { name: `${names.get(file)}.ts`, text: lines.join('\n') };
    });
    const elements = [this.#head('the schema'), '', ...this.#interfaces.values()];
    if (this.#interfaces.size === 0) elements.push('export {};', '');
    const main = { name: '', text: this.#joining(byFile, names, folder) };
    return [main, { name: `${elementsName}.ts`, text: elements.join('\n') }, ...files];
  }

  /** Returns the module that combines the parts. */
  #joining(
    byFile: ReadonlyMap<string, Part[]>,
    names: ReadonlyMap<string, string>,
    folder: string,
  ): string {
    const files = [...byFile].map(([file, own], at) => {
      return { at, own, from: `./${folder}/${names.get(file)}.js` };
    });
    const all = (what: string): string => files.map(({ at }) => `${what}${at}`).join(', ');
    const extended = (what: string): string[] => {
      const base = files.length === 0 ? '' : ` extends ${all(what)}`;
      return [`export interface ${what}${base} {}`, ''];
    };
    return [
      this.#head(counted(this.options.files)),
      "import { type Caller, type Session, bind } from 'trellisdb/client';",
      ...files.map(({ at, from }) => {
        const own = `type Client as Client${at}, type Queries as Queries${at}, shapes as shapes${at}`;
        return `import { ${own} } from '${from}';`;
      }),
      '',
      ...printExport([...this.#interfaces.keys()], `./${folder}/${elementsName}.js`),
      ...files.flatMap(({ own, from }) =>
        printExport(
          own.flatMap(({ exported }) => exported),
          from,
        ),
      ),
      '',
      ...extended('Queries'),
      ...extended('Client'),
      `const shapes = { ${files.map(({ at }) => `...shapes${at}`).join(', ')} };`,
      '',
      ...this.#tail(),
    ].join('\n');
  }

  #head(source: string): string {
    const { version } = this.options;
    const hash = programHash(this.program);
    return `// Generated by trellis types ${version} from ${source}, schema ${hash}. Do not edit.`;
  }

  /** Returns each query, and the interfaces of all elements. */
  #parts(): Part[] {
    const { queries, schema } = this.program;
    for (const ref of eachRef(schema)) this.#interface(ref, { hit: 'none', data: false });
    return queries.map((query) => this.#query(query));
  }

  /** Returns the text that occurs once in a module, after `shapes`. */
  #tail(): string[] {
    return [
      '/** What this file relies on; `check()` of a caller says what of it no longer holds. */',
      'const contract = {',
      ...Object.entries(computeContract(this.program)).map(
        ([name, facts]) => `  ${key(name)}: '${facts}',`,
      ),
      '} as const;',
      '',
      'export const queries = (caller: Caller): Client => bind(caller, shapes, contract);',
      '',
      '/** A walk through this schema: `const walk: Walk = await caller.session()`. */',
      `export type Walk = ${this.#walk()};`,
      '',
    ];
  }

  #walk(): string {
    const { nodes, edges, vectors } = this.program.schema;
    const named = [nodes, edges, vectors].map((types) => {
      return types.map(({ name }) => JSON.stringify(name)).join(' | ') || 'never';
    });
    return `Session<${named.join(', ')}>`;
  }

  #decodePath(output: ReplyType): DecodePath {
    const { int64, dates } = this.options;
    return findDecodePaths(this.program.schema, output, { int64, dates: dates === 'date' });
  }

  #query(query: Query): Part {
    const { name, file, plan, output } = query;
    this.#mentioned = new Set();
    const pascal = name.charAt(0).toUpperCase() + name.slice(1);
    const doc = comment(`${parseDocText(query).text}\n${plan.writes ? 'Writes.' : 'Reads.'}`, '  ');
    const params = this.#free(`${pascal}Params`);
    const result = this.#free(`${pascal}Result`);
    const lines: string[] = [];
    const hasParams = plan.parameters.length > 0;
    if (hasParams)
      lines.push(`export interface ${params} ${this.#parameters(plan.parameters)}`, '');
    if ('bare' in output) lines.push(`export type ${result} = ${this.#type(output.bare)};`, '');
    else lines.push(`export interface ${result} ${this.#object(output.members)}`, '');
    const argsType = hasParams ? params : 'Record<string, never>';
    const isFree = plan.parameters.every(mayBeAbsent);
    const path = JSON.stringify(this.#decodePath(output)).replaceAll(
      /"([A-Za-z_$][\w$]*)":/g,
      '$1: ',
    );
    return {
      file,
      exported: hasParams ? [params, result] : [result],
      mentioned: [...this.#mentioned],
      interfaces: lines.join('\n'),
      shape: `  ${key(name)}: { writes: ${plan.writes}, at: ${path} },`,
      entry: `${doc}  ${key(name)}: { params: ${argsType}; result: ${result} };`,
      method:
        `${doc}  ${key(name)}(params${isFree ? '?' : ''}: ${argsType}, ` +
        `options?: CallOptions): Promise<${result}>;`,
    };
  }

  #parameters(parameters: readonly Parameter[]): string {
    const members = parameters.map((parameter) => {
      const { name, type, vector } = parameter;
      const text = vector ? 'readonly number[] | Float32Array | Float64Array' : inputType(type);
      const absent = mayBeAbsent(parameter);
      return absent ? `  ${key(name)}?: ${text} | null;` : `  ${key(name)}: ${text};`;
    });
    return `{\n${members.join('\n')}\n}`;
  }

  /** Returns an unused name. */
  #free(name: string): string {
    let free = name;
    while (this.#taken.has(free)) free += '_';
    this.#taken.add(free);
    return free;
  }

  #interface(ref: TypeRef, form: ElementForm): string {
    const plain = formName(this.#names.of(ref), ref, form);
    // The name of a form may collide with that of another type.
    const id = `${ref.kind} ${ref.name} ${plain}`;
    const known = this.#interfaceNames.get(id);
    if (known !== undefined) {
      this.#mentioned.add(known);
      return known;
    }
    const base = plain.replaceAll(/_(\w)/g, (_, c: string) => c.toUpperCase());
    const name = this.#free(base);
    this.#interfaceNames.set(id, name);
    this.#mentioned.add(name);
    const body = this.#object(elementMembers(this.program.schema, ref, form));
    const letter = ref.kind === 'node' ? 'N' : ref.kind === 'edge' ? 'E' : 'V';
    this.#interfaces.set(name, `/** ${letter}::${ref.name} */\nexport interface ${name} ${body}\n`);
    return name;
  }
  #object(members: readonly OutputMember[]): string {
    if (members.length === 0) return '{}';
    const lines = members.map(({ name, type, optional }) => {
      return `  ${key(name)}${optional ? '?' : ''}: ${this.#type(type)};`;
    });
    return `{\n${lines.join('\n')}\n}`;
  }

  #inline(members: readonly OutputMember[]): string {
    const parts = members.map(({ name, type, optional }) => {
      return `${key(name)}${optional ? '?' : ''}: ${this.#type(type)}`;
    });
    return parts.length === 0 ? 'Record<string, never>' : `{ ${parts.join('; ')} }`;
  }

  #type(type: OutputType): string {
    switch (type.kind) {
      case 'unknown':
        return 'unknown';
      case 'literal':
        return typeof type.value === 'string' ? JSON.stringify(type.value) : String(type.value);
      case 'nullable':
        return `${this.#type(type.of)} | null`;
      case 'list': {
        const of = this.#type(type.of);
        return / \| /.test(of) && !/^\{.*\}$/.test(of) ? `(${of})[]` : `${of}[]`;
      }
      case 'map':
        return `Record<string, ${this.#type(type.of)}>`;
      case 'union':
        return type.of.map((one) => this.#type(one)).join(' | ');
      case 'record':
        return this.#inline(type.members);
      case 'element':
        return type.types.map((ref) => this.#interface(ref, type)).join(' | ') || 'never';
      case 'scalar':
        return this.#scalar(type.name);
    }
  }

  #scalar(name: ScalarName | 'Integer'): string {
    if (isWideInteger(name)) return this.options.int64;
    if (name === 'Date') return this.options.dates === 'date' ? 'Date' : 'string';
    if (name === 'Boolean') return 'boolean';
    if (name === 'Json') return 'unknown';
    return name === 'String' || name === 'ID' ? 'string' : 'number';
  }
}

function* eachRef(schema: Schema): Generator<TypeRef> {
  for (const { kind, name } of [...schema.nodes, ...schema.edges, ...schema.vectors]) {
    yield { kind, name };
  }
}

/** Returns the type of a value that is sent. */
function inputType(type: ParameterType): string {
  if (type.kind === 'list') {
    const of = inputType(type.of);
    return / \| |^readonly /.test(of) ? `readonly (${of})[]` : `readonly ${of}[]`;
  }
  if (type.kind === 'object') {
    const members = type.members.map((member) => {
      const absent = mayBeAbsent(member);
      return `${key(member.name)}${absent ? '?' : ''}: ${inputType(member.type)}${absent ? ' | null' : ''}`;
    });
    return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('; ')} }`;
  }
  const { name } = type;
  if (isWideInteger(name)) return 'number | bigint | string';
  if (name === 'Date') return 'Date | string | number';
  if (name === 'Boolean') return 'boolean';
  if (name === 'Json') return '{} | null';
  return name === 'String' || name === 'ID' ? 'string' : 'number';
}

const key = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

function comment(text: string, indent: string): string {
  const lines = text.replaceAll('*/', '* /').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
