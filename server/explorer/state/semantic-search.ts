// Finds vectors by a typed text: by its embedding if the server has a model, else by words. Owns the session
// of the search, one for each tab.
import { effect } from '@preact/signals';
import type { Item } from '../model/item.js';
import { ApiError, ask, explore } from './api.js';
import { keyRequest } from './key.js';

let connection: string | undefined;

// A session belongs to the key that opened it.
effect(() => {
  if (keyRequest.value !== undefined) connection = undefined;
});

const hitsMax = 20;

async function byMeaning(type: string, query: string): Promise<Item[]> {
  connection ??= (await ask<string>('mcp/init', { body: '{}' })).value;
  const data = { query, label: type, k: hitsMax };
  const body = JSON.stringify({ connection_id: connection, data });
  return (await ask<Item[]>('mcp/search_vector_text', { body })).value;
}

export interface Found {
  items: Item[];
  by: 'meaning' | 'words';
}

export async function findVectors(type: string, text: string): Promise<Found> {
  try {
    return { items: await byMeaning(type, text), by: 'meaning' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The session may have ended; the next search opens another.
    connection = undefined;
    const request = { text, types: [type], limit: hitsMax };
    const { items } = await explore<{ items: { item: Item }[] }>('search', request);
    return { items: items.map(({ item }) => item), by: 'words' };
  }
}
