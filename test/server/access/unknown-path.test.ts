// The error for a path without a route: which query its hint names, however many unknown names clients send.
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../server/auth/keys.js';
import { type Endpoint, Routes } from '../../../server/pipeline/router.js';

const endpoint = {} as Endpoint;
const tools = { find: () => undefined, failUnknown: () => expect.unreachable() };

function routesOf(...queries: string[]): Routes {
  const routes = new Routes(new Map(), tools, new Map());
  routes.replaceQueries(new Map(queries.map((name) => [name, endpoint])));
  return routes;
}

const hintOf = (routes: Routes, path: string, caller?: Caller) =>
  routes.unknownError(path, caller).hint;

describe('the error for an unknown path', () => {
  it('names the unknown query, and the nearest known one', () => {
    const routes = routesOf('friends', 'people');
    const error = { code: 'NOT_FOUND', args: { name: 'frends', kind: 'Query' } };
    for (let i = 0; i < 2; i++) {
      const hint = 'Did you mean `friends`?';
      expect(routes.unknownError('//frends/', undefined)).toEqual({ ...error, hint });
      expect(hintOf(routes, '/nothing')).toBeUndefined();
    }
  });

  it('names only queries that the key may call', () => {
    const routes = routesOf('friends', 'friendly');
    const caller = { keyId: 'a', role: 'read', queries: ['friendly'] } as unknown as Caller;
    expect(hintOf(routes, '/friend')).toBe('Did you mean `friends`?');
    expect(hintOf(routes, '/friend', caller)).toBe('Did you mean `friendly`?');
    expect(hintOf(routes, '/friend')).toBe('Did you mean `friends`?');
  });

  it('follows a new program', () => {
    const routes = routesOf('friends');
    expect(hintOf(routes, '/frends')).toBe('Did you mean `friends`?');
    routes.replaceQueries(new Map([['trends', endpoint]]));
    expect(hintOf(routes, '/frends')).toBe('Did you mean `trends`?');
  });

  it('stays the same among many other names, short and long', () => {
    const routes = routesOf('friends');
    for (let i = 0; i < 2_000; i++) {
      expect(hintOf(routes, `/friend${'x'.repeat(i % 2)}`)).toBe('Did you mean `friends`?');
      expect(hintOf(routes, `/${'x'.repeat(i % 100)}${i}`)).toBeUndefined();
    }
  });
});
