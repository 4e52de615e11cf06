// `text.enabled` switched off and on again over the same data: the keyword index is complete
// whenever keyword search is on, and gone while it is off.
import { expect, it } from 'vitest';
import { commandHere } from '../support/server/command-here.js';
import { startServer } from '../support/server/server.js';

const source = `
N::Item { key: String, note: String }
QUERY add(key: String, note: String) => i <- AddN<Item>({ key, note }) RETURN i::ID
QUERY change(key: String, note: String) => i <- N<Item>({ key: key })::UPDATE({ note }) RETURN i::ID
QUERY drop(key: String) => DROP N<Item>({ key: key }) RETURN NONE
QUERY find(words: String) => i <- SearchBM25<Item>(words, 9) RETURN i::{key}
`;

it('TX06: another `text.language` rebuilds the keyword index', async () => {
  const server = await startServer({ sources: { 'main.hx': source } });
  const call = async (name: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${server.port}/${name}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as { i?: { key: string }[] };
  };
  const found = async (words: string) => (await call('find', { words })).i?.map(({ key }) => key);
  await call('add', { key: 'a', note: 'die Häuser der Stadt' });
  expect(await found('Haus')).toEqual([]);
  await server.restart({ env: { TRELLIS_TEXT_LANGUAGE: 'german' } });
  expect(await found('Haus')).toEqual(['a']);
  await call('change', { key: 'a', note: 'viele Bäume' });
  expect(await found('Baum')).toEqual(['a']);
  await server.stop();
  const { code, stdout } = await commandHere(['verify', server.data, '--deep'], server.folder);
  expect(`${code} ${stdout}`).toMatch(/^0 .*clean/s);
});

it('rebuilds the keyword index when keyword search is turned on again', async () => {
  const server = await startServer({ sources: { 'main.hx': source } });
  const call = async (name: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${server.port}/${name}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as { code?: string; i?: { key: string }[] };
  };
  const found = async (words: string) => (await call('find', { words })).i?.map(({ key }) => key);
  const verify = async () => {
    const argv = ['verify', server.data, '--deep'];
    const { code, stdout } = await commandHere(argv, server.folder);
    return `${code} ${stdout}`;
  };
  for (const key of ['a', 'b', 'c']) await call('add', { key, note: `heron ${key}` });
  expect(await found('heron')).toEqual(['a', 'b', 'c']);

  await server.restart({ env: { TRELLIS_TEXT_ENABLED: 'false' } });
  await call('add', { key: 'd', note: 'heron d' });
  await call('change', { key: 'a', note: 'stork' });
  await call('drop', { key: 'b' });
  expect((await call('find', { words: 'heron' })).code).toBe('FEATURE_DISABLED');
  await server.stop();
  expect(await verify()).toMatch(/^0 .*clean/s);

  await server.start();
  expect(await found('heron')).toEqual(['c', 'd']);
  expect(await found('stork')).toEqual(['a']);
  await call('change', { key: 'c', note: 'crane' });
  expect(await found('heron')).toEqual(['d']);
  await server.stop();
  expect(await verify()).toMatch(/^0 .*clean/s);
});
