// Encodes elements in the address in a short form: their ids, and the positions of some. Invalid parts of an
// address are ignored. Pure.
import type { Position } from './graph-model.js';

/** Decodes positions, in the order of their ids: `12_-40.5_3_0`. */
export const packPositions = (positions: readonly Position[]): string =>
  positions.flatMap(({ x, y }) => [Number(x.toFixed(1)), Number(y.toFixed(1))]).join('_');

/** Elements without a position in the address are left out. */
export function unpackPositions(ids: readonly string[], text: string): Map<string, Position> {
  const numbers = text.split('_').map((one) => (one === '' ? Number.NaN : Number(one)));
  const positions = ids.map((id, at): [string, Position] => {
    return [id, { x: numbers[2 * at]!, y: numbers[2 * at + 1]! }];
  });
  return new Map(positions.filter(([, { x, y }]) => Number.isFinite(x) && Number.isFinite(y)));
}

/** Encodes ids in 22 characters each instead of 36. */
export function packIds(ids: readonly string[]): string {
  return ids
    .map((id) => {
      const bytes = id
        .replaceAll('-', '')
        .match(/../g)!
        .map((hex) => Number.parseInt(hex, 16));
      const text = btoa(String.fromCharCode(...bytes));
      return text.replaceAll('+', '-').replaceAll('/', '_').slice(0, 22);
    })
    .join('');
}

export function unpackIds(text: string): string[] {
  return (text.match(/[\w-]{22}/g) ?? []).flatMap((packed) => {
    try {
      const bytes = atob(`${packed.replaceAll('-', '+').replaceAll('_', '/')}==`);
      const hex = [...bytes].map((one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join('');
      return [hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')];
    } catch {
      return [];
    }
  });
}
