// The types of a user's program: a module that `trellis types` generates, with the declarations of the package,
// compiled by TypeScript under the strictest rules.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { printTypeScript } from '../../engine/contract/typescript.js';
import { compile } from '../../engine/lang/compile.js';
import { makeFolder, root } from '../support/project.js';

const source = `
N::Person { UNIQUE INDEX name: String, born: I32 }
N::Book { title: String, tags: [String] }
E::Wrote { From: Person, To: Book, Properties: { since: I32 } }
QUERY people() => people <- N<Person> RETURN people
QUERY person(name: String) => person <- N<Person>({ name: name })
  RETURN person::{ id, label, name, books: _::Out<Wrote>::{title}, count: _::Out<Wrote>::COUNT }
QUERY first() => first <- N<Person>::FIRST RETURN first
QUERY edges() => edges <- E<Wrote> RETURN edges
QUERY total() => total <- N<Person>::COUNT RETURN total
`;

const program = `
import { attach, open, type QueryCaller } from 'trellisdb';
import { connect } from 'trellisdb/client';
import { type Queries, queries } from './trellis.gen.js';

export type Plain = Awaited<ReturnType<typeof open>>;
export type Typed = Awaited<ReturnType<typeof open<Queries>>>;
export type Attached = Awaited<ReturnType<typeof attach<Queries>>>;

/** A variable of these types is callable. */
export async function plain(db: Plain): Promise<unknown> {
  const reply: Record<string, unknown> = await db.call('people');
  await queries(db).total();
  return reply.people;
}

export async function typed(db: Typed, attached: Attached): Promise<unknown[]> {
  const { people } = await db.call('people');
  const { person } = await attached.call('person', { name: 'Ada' });
  const { first } = await queries(db).first();
  const { edges } = await queries(connect({ url: 'http://localhost:6969' })).edges();
  const { total } = await db.call('total');
  await db.close();
  // These members always exist, so their types have no null.
  const ids: string[] = [...people, person, ...edges].map(({ id }) => id);
  const labels: ('Person' | 'Wrote')[] = [...people, ...edges].map(({ label }) => label);
  const ends: string[] = edges.flatMap(({ from_node, to_node }) => [from_node, to_node]);
  const numbers: number[] = [total, person.count, person.books.length];
  // @ts-expect-error A stored property can be unset.
  const name: string = person.name;
  // @ts-expect-error FIRST returns null if there is no element.
  const { born } = first;
  // @ts-expect-error The query takes a name.
  await db.call('person');
  // @ts-expect-error There is no such query.
  await db.call('persons');
  return [ids, labels, ends, numbers, name, born];
}

export const caller = (db: Typed): QueryCaller<Queries> => db;
`;

test.each([
  ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
])('a program with generated types compiles under %s', (_, module, moduleResolution) => {
  const compiled = compile([{ path: 'app.hx', text: source }], { compat: false });
  expect(compiled.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const options = { version: '1.0.0', files: 1, int64: 'number', dates: 'string' } as const;
  const folder = makeFolder();
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'trellis.gen.ts'), printTypeScript(compiled.program!, options));
  writeFileSync(join(folder, 'app.ts'), program);
  const types = (name: string): string[] => [join(root, 'dist/types', `${name}.d.ts`)];
  const faults = ts.getPreEmitDiagnostics(
    ts.createProgram([join(folder, 'app.ts')], {
      ...{ module, moduleResolution, strict: true, noEmit: true, skipLibCheck: false },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'] },
      ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
      paths: {
        trellisdb: types('engine/public'),
        'trellisdb/client': types('server/client/client'),
      },
    }),
  );
  expect(
    faults.map(({ file, start, messageText }) => {
      const line = file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
      return `${file?.fileName}:${line + 1} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  ).toEqual([]);
});
