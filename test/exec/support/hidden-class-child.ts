// Runs each worked example again and again, for a process whose V8 logs the hidden classes that it makes.
// Objects with a member of a telling name stand in that log between one call and the next.
import { readFileSync } from 'node:fs';
import { compile } from '../../../engine/lang/compile.js';
import { Garden } from './garden-storage.js';
import { examples } from './language-case.js';

const [path, times] = [process.argv[2]!, Number(process.argv[3])];
const source = readFileSync(path, 'utf8');

const mark = (name: string): void => void Object.assign({}, { [`mark ${name}`]: 0 });

function repeat(name: string, work: () => unknown): void {
  for (const part of ['warm', 'run']) {
    mark(`${part} ${name}`);
    for (let i = 0; i < times; i++) work();
  }
  mark(`end ${name}`);
}

for (const { name, compat = false, calls } of examples) {
  const { program } = compile([{ path: 'garden.hx', text: source }], { compat });
  const garden = new Garden(program!);
  for (const [i, [query, body]] of calls.entries())
    repeat(`${name} ${i} ${query}`, () => garden.call(query, body));
  garden.close();
}

repeat('canary', () => {
  const rows = {
    *open() {
      yield 1;
    },
  };
  return [...rows.open()];
});
