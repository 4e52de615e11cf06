// The kernels against plain loops, for every small dimension and some large ones, through the
// memory layout itself; and the promise that the module carries no state of its own.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as at from '../../wasm/layout.js';
import { gaussianFrom } from '../vector/random.js';

const bytes = readFileSync(new URL('../../dist/wasm/hnsw.wasm', import.meta.url));

type Call = (...args: number[]) => number;

/** A formatted segment of metric l2 with one lane. */
function segment(dimension: number, layout = at.HAS_GRAPH | at.HAS_EDGE_CODES) {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const module = new WebAssembly.Module(bytes);
  const kernel = new WebAssembly.Instance(module, { env: { memory } }).exports as Record<
    string,
    Call
  >;
  kernel.format!(at.METRIC_L2, layout, dimension, 2 ** 28, 16, 300, 40);
  const lane = kernel.openScratch!();
  const word = (address: number) => new DataView(memory.buffer).getUint32(address, true);
  const float = (address: number) => new DataView(memory.buffer).getFloat32(address, true);
  const floats = (address: number, n: number) => new Float32Array(memory.buffer, address, n);
  const padded = word(at.H_PADDED);
  const put = (id: number, vector: number[]) => {
    floats(word(lane + at.L_QUERY), padded).fill(0);
    floats(word(lane + at.L_QUERY), dimension).set(vector);
    kernel.put!(lane, id);
  };
  /** The exact vector of a slot, which stays after the graph is complete. */
  const staged = (slot: number) => {
    const shift = word(at.H_CHUNK_SHIFT);
    const chunk = word(word(at.H_STAGED) + (slot >> shift) * 4);
    return floats(chunk + (slot & ((1 << shift) - 1)) * padded * 4, padded);
  };
  return { memory, kernel, lane, word, float, floats, padded, put, staged };
}

const dimensions = [...Array(70).keys()].map((i) => i + 1).concat([100, 255, 384, 768, 1536, 4000]);
const draw = (n: number, seed: number): number[] => Array.from({ length: n }, gaussianFrom(seed));
const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, x, i) => sum + x * b[i]!, 0);

describe('kernels', () => {
  test.each(dimensions)('dimension %i: rotation, distances', (dimension) => {
    const { kernel, lane, word, floats, padded } = segment(dimension, at.KEEP_VECTORS);
    const a = draw(dimension, dimension);
    const b = draw(dimension, dimension + 1);
    const query = floats(word(lane + at.L_QUERY), padded);
    const target = floats(word(lane + at.L_ROTATED), padded);
    query.set(b);
    kernel.prepare!(lane, 0);
    const rotatedB = Array.from(target);
    query.fill(0);
    query.set(a);
    kernel.prepare!(lane, 0);
    const rotatedA = Array.from(target);
    const size = Math.sqrt(dot(a, a) * dot(b, b));
    expect(Math.abs(dot(rotatedA, rotatedB) - dot(a, b))).toBeLessThan(1e-4 * size);
    query.set(rotatedB);
    const [x, y] = [word(lane + at.L_ROTATED), word(lane + at.L_QUERY)];
    expect(Math.abs(kernel.dotFloats!(x, y) - dot(a, b))).toBeLessThan(1e-4 * size);
    const square = a.reduce((sum, v, i) => sum + (v - b[i]!) ** 2, 0);
    expect(kernel.squareFloats!(x, y) / square).toBeCloseTo(1, 4);
  });

  test.each([3, 31, 64, 100, 768, 1030, 1536, 2050])(
    'dimension %i: codes and scan',
    (dimension) => {
      const s = segment(dimension);
      const vectors = Array.from({ length: 45 }, (_, i) => draw(dimension, i + 1));
      for (const [i, vector] of vectors.entries()) s.put(i + 1, vector);
      while (s.word(at.H_LINKED) !== 0) s.kernel.maintain!(s.lane, 1);
      const nodes = vectors.map((_, i) => s.kernel.nodeAt!(i) >>> 0);
      const mean = Array.from(s.floats(s.word(at.H_MEAN), s.padded));
      const centred = nodes.map((_, slot) => Array.from(s.staged(slot), (v, d) => v - mean[d]!));
      const decoded = nodes.map((node, i) => decode(s, node, centred[i]!));
      for (let i = 1; i < 20; i++) {
        const naive = squareOf(decoded[0]!, decoded[i]!) - errorOf(decoded, centred, 0, i);
        expect(s.kernel.nodeDistance!(nodes[0]!, nodes[i]!) / naive).toBeCloseTo(1, 4);
      }
      checkQuery(s, nodes, centred);
      checkScan(s, nodes[5]!, centred, dimension);
    },
  );
});

describe('codes of 4 bits', () => {
  test.each([3, 31, 64, 100, 384, 768, 1030, 2050])('dimension %i', (dimension) => {
    const s = segment(dimension, at.HAS_GRAPH | at.HALF_CODES);
    const vectors = Array.from({ length: 45 }, (_, i) => draw(dimension, i + 1));
    for (const [i, vector] of vectors.entries()) s.put(i + 1, vector);
    while (s.word(at.H_LINKED) !== 0) s.kernel.maintain!(s.lane, 1);
    const mean = Array.from(s.floats(s.word(at.H_MEAN), s.padded));
    const centred = vectors.map((_, i) => Array.from(s.staged(i), (v, d) => v - mean[d]!));
    const nodes = vectors.map((_, i) => s.kernel.nodeAt!(i) >>> 0);
    const decoded = nodes.map((node, i) => decodeHalf(s, node, centred[i]!));
    for (let i = 1; i < 20; i++) {
      const naive = squareOf(decoded[0]!, decoded[i]!) - errorOf(decoded, centred, 0, i);
      const size = squareOf(decoded[0]!, decoded[i]!);
      expect((s.kernel.nodeDistance!(nodes[0]!, nodes[i]!) - naive) / size).toBeCloseTo(0, 4);
    }
    checkQuery(s, nodes, centred, false);
    expect(s.word(at.H_STRIDE)).toBeLessThanOrEqual(64 + s.padded / 2 + 128 + 63 + 63);
  });
});

const squareOf = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, x, d) => sum + (x - b[d]!) ** 2, 0);

/** What coding adds to the squared distance of two vectors. */
const errorOf = (decoded: number[][], centred: number[][], a: number, b: number): number =>
  squareOf(decoded[a]!, centred[a]!) + squareOf(decoded[b]!, centred[b]!);

/** What the code of a node stands for: nowhere more than half a step off. */
function decode(s: ReturnType<typeof segment>, node: number, centred: number[]): number[] {
  const step = s.float(node + at.N_STEP);
  const bytes = new Uint8Array(s.memory.buffer, node + at.N_CODE, s.padded);
  const values = Array.from(bytes, (byte) => (byte - 128) * step);
  const off = values.map((value, d) => Math.abs(value - centred[d]!) / step);
  expect(Math.max(...off)).toBeLessThan(0.502);
  expect(s.word(node + at.N_CODE_SUM)).toBe(bytes.reduce((sum, byte) => sum + byte, 0));
  return values;
}

/** The same of 4 bits: two of 32 dimensions that are 16 apart share a byte. */
function decodeHalf(s: ReturnType<typeof segment>, node: number, centred: number[]): number[] {
  const step = s.float(node + at.N_STEP);
  const bytes = new Uint8Array(s.memory.buffer, node + at.N_CODE, s.padded / 2);
  const codes = centred.map((_, d) => {
    const byte = bytes[(d >> 5) * 16 + (d & 15)]!;
    return (d & 16) === 0 ? byte & 15 : byte >> 4;
  });
  const values = codes.map((code) => (code - 8) * step);
  const off = values.map((value, d) => Math.abs(value - centred[d]!) / step);
  expect(Math.max(...off)).toBeLessThan(0.502);
  expect(s.word(node + at.N_CODE_SUM)).toBe(codes.reduce((sum, code) => sum + code, 0));
  return values;
}

/** Distances of a query by codes are as near to the true ones as they are said to be. */
function checkQuery(
  s: ReturnType<typeof segment>,
  nodes: number[],
  centred: number[][],
  hasFiner = true,
): void {
  const query = draw(s.word(at.H_DIMENSION), 998);
  s.floats(s.word(s.lane + at.L_QUERY), s.padded).fill(0);
  s.floats(s.word(s.lane + at.L_QUERY), query.length).set(query);
  s.kernel.beginQuery!(s.lane);
  const q = Array.from(s.floats(s.word(s.lane + at.L_CENTRED), s.padded));
  for (const [i, node] of nodes.entries()) {
    const naive = squareOf(q, centred[i]!);
    const noise = s.kernel.codeNoise!(s.lane, node, naive);
    expect(Math.abs(s.kernel.codeDistance!(s.lane, node) - naive)).toBeLessThan(6 * noise);
    if (hasFiner) expect(s.kernel.fineDistance!(s.lane, node) / naive).toBeCloseTo(1, 3);
  }
}

/** The estimates of one block against the formula, evaluated plainly. */
function checkScan(
  s: ReturnType<typeof segment>,
  node: number,
  centred: number[][],
  dimension: number,
): void {
  const query = draw(dimension, 999);
  s.floats(s.word(s.lane + at.L_QUERY), s.padded).fill(0);
  s.floats(s.word(s.lane + at.L_QUERY), dimension).set(query);
  s.kernel.beginQuery!(s.lane);
  s.kernel.buildTable!(s.lane);
  const q = Array.from(s.floats(s.word(s.lane + at.L_CENTRED), s.padded));
  const owner = centred[5]!;
  const toOwner = q.reduce((sum, x, d) => sum + (x - owner[d]!) ** 2, 0);
  const used = s.word(node + at.N_USED);
  const mask = s.kernel.scanEdges!(s.lane, node + s.word(at.H_EDGE_CODES), toOwner, Infinity);
  expect(mask >>> 0).toBe(used);
  const estimates = s.floats(s.word(s.lane + at.L_ESTIMATES), 32);
  for (let e = 0; e < 32; e++) {
    if (((used >>> e) & 1) === 0) continue;
    const x = centred[s.word(node + s.word(at.H_NEIGHBOUR) + e * 4)]!;
    const r = x.map((v, d) => v - owner[d]!);
    const squares = dot(r, r);
    const scale = (2 * squares) / r.reduce((sum, v) => sum + Math.abs(v), 0);
    const inner = r.reduce((sum, v, d) => sum + (v >= 0 ? 1 : -1) * (q[d]! - owner[d]!), 0);
    const naive = toOwner + squares - scale * inner;
    expect(Math.abs(estimates[e]! - naive)).toBeLessThan(0.03 * (toOwner + squares));
  }
}

describe('the module', () => {
  test('has no data, globals, start function or tables of its own', () => {
    const sections = new Set<number>();
    let offset = 8;
    while (offset < bytes.length) {
      sections.add(bytes[offset++]!);
      let length = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[offset++]!;
        length |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      offset += length;
    }
    // 4 table, 6 global, 8 start, 9 element, 11 data.
    for (const section of [4, 6, 8, 9, 11]) expect(sections.has(section)).toBe(false);
  });

  test('instances over one memory see one segment', () => {
    const s = segment(8, at.KEEP_VECTORS);
    s.put(5, draw(8, 1));
    const other = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory: s.memory },
    }).exports as Record<string, Call>;
    expect(other.slotOf!(5)).toBe(1);
  });
});
