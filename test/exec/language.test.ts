// The worked examples of the language, compiled from source and run on real storage: exact JSON.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import type { Query } from '../../engine/plan/plan.js';
import type { Program } from '../../engine/plan/program.js';
import { mismatch } from '../support/reply-conforms.js';
import { toolMismatch } from '../support/tool-conforms.js';
import { Garden } from './support/garden-storage.js';
import { type Example, examples } from './support/language-case.js';

const source = readFileSync(new URL('support/garden.hx', import.meta.url), 'utf8');

function programOf(compat: boolean): Program {
  const { program, diagnostics } = compile([{ path: 'garden.hx', text: source }], { compat });
  expect(diagnostics.filter((each) => each.severity === 'error')).toEqual([]);
  return program!;
}

const conforms = (program: Program) => (query: Query, reply: string) => {
  const told = `${query.name}: ${reply}`;
  expect(mismatch(query.output, reply, program.schema), told).toBe(undefined);
  expect(toolMismatch(query, reply, program), `M06 ${told}`).toBe(undefined);
};

const programs = new Map<boolean, Program>();

function programFor(compat: boolean): Program {
  const program = programs.get(compat) ?? programOf(compat);
  programs.set(compat, program);
  return program;
}

/** Gardens by name: examples that only read share one. */
const servers = new Map<string, Garden>();
afterAll(() => {
  for (const server of servers.values()) server.close();
});

function serverFor({ name, compat = false, calls }: Example): Garden {
  const program = programFor(compat);
  const isWriting = calls.some(([query]) =>
    program.queries.some((each) => each.name === query && each.plan.writes),
  );
  const key = isWriting ? name : `reading ${compat}`;
  const server = servers.get(key) ?? new Garden(program, conforms(program));
  servers.set(key, server);
  return server;
}

describe('worked examples, as replies [P01] and as answers of tools [M06]', () => {
  it.each(examples)('$name', (example) => {
    const server = serverFor(example);
    for (const [name, body, answer] of example.calls) {
      const got = server.call(name, body);
      // An error is given by its code, or by code and message.
      const shown = /^[A-Z_]+$/.test(answer) ? got.split(' ')[0] : got;
      expect(shown, `${name} ${body}`).toBe(answer);
    }
  });
});
