// Compares data with what is believed of them: every unit with its keywords, its vector and its
// edges, seen through scans, edges, indexes and searches. What was uncertain is certain afterwards.
import type { Answering } from '../crash/oracle.js';
import type { Random } from '../../support/random.js';
import { type UnitState, vectorOf, wordOf } from './world.js';
import type { World } from './world-load.js';

interface Unit {
  key: string;
  n: number;
  words: string;
  era: number | null;
  faces: { key: string; n: number }[];
  marks: string[];
}

interface Face {
  key: string;
  n: number;
  units: string[];
}

const stateOf = ({ n, marks }: Unit): UnitState => ({
  n,
  marks: [...marks].sort(),
});

/** Faults of a unit in itself; `version` is that of the schema. */
function faultsOfUnit({ key, n, words, era, faces }: Unit, version: number): string[] {
  const faults: string[] = [];
  if (words !== `plain ${wordOf(key, n)} words`) faults.push(`${key}: n is ${n}, words ${words}`);
  if (faces.length !== 1 || faces[0]!.key !== key || faces[0]!.n !== n) {
    faults.push(`${key}: n is ${n}, shows ${JSON.stringify(faces)}`);
  }
  if (era !== null && era !== version) faults.push(`${key} is of version ${era}, not ${version}`);
  return faults;
}

export async function checkWorld(
  world: World,
  { client }: Answering,
  random: Random,
  samples: number,
): Promise<string[]> {
  const units = (await client.post('units')).u as Unit[];
  const faces = (await client.post('faces')).f as Face[];
  const marks = (await client.post('marks')).m as { units: string[] }[];
  const found = new Map(units.map((unit) => [unit.key, unit]));
  const faults = units.flatMap((unit) => faultsOfUnit(unit, world.version));
  if (found.size !== units.length) faults.push('a key is there twice');
  for (const [key, belief] of world.beliefs) {
    const unit = found.get(key);
    const state = unit && stateOf(unit);
    const allowed = [belief.state, ...(belief.maybe ? [belief.maybe.state] : [])];
    if (!allowed.some((one) => JSON.stringify(one) === JSON.stringify(state))) {
      const believed = allowed.map((one) => JSON.stringify(one) ?? 'none').join(' or ');
      faults.push(`${key} is ${JSON.stringify(state) ?? 'none'}, believed ${believed}`);
    }
    belief.state = state;
    delete belief.maybe;
    if (state === undefined && random.chance(0.9)) world.beliefs.delete(key);
  }
  for (const { key } of units) if (!world.beliefs.has(key)) faults.push(`${key} is not known`);
  if (faces.length !== units.length) {
    faults.push(`${faces.length} vectors for ${units.length} units`);
  }
  for (const { key, n, units: own } of faces) {
    if (own.length !== 1 || own[0] !== key)
      faults.push(`vector ${key} ${n} has ${own.length} units`);
  }
  const marked = units.reduce((sum, unit) => sum + unit.marks.length, 0);
  const markings = marks.reduce((sum, mark) => sum + mark.units.length, 0);
  if (marked !== markings) faults.push(`${marked} edges to marks, ${markings} from units`);
  return [...faults, ...(await checkSearches(units, { client }, random, samples))];
}

async function checkSearches(
  units: readonly Unit[],
  { client }: Answering,
  random: Random,
  samples: number,
): Promise<string[]> {
  const faults: string[] = [];
  // Half of the samples are the newest: those that a crash could lose.
  const picked = Array.from({ length: Math.min(samples, units.length) }, (_, i) =>
    i % 2 === 0 ? units.at(-1 - (i >> 1))! : random.pick(units),
  );
  for (const { key, n } of picked) {
    const words = (await client.post('find', { word: wordOf(key, n) })).u as { key: string }[];
    if (words.map((hit) => hit.key).join() !== key) {
      faults.push(`the keyword of ${key} ${n} finds [${words.map((hit) => hit.key)}]`);
    }
    if (n > 0) {
      const old = (await client.post('find', { word: wordOf(key, n - 1) })).u as unknown[];
      if (old.length > 0) faults.push(`the former keyword of ${key} ${n} finds something`);
    }
    const [near] = (await client.post('near', { vec: vectorOf(key, n) })).f as Face[];
    if (near?.key !== key || near.n !== n) {
      faults.push(`the vector of ${key} ${n} finds ${near?.key} ${near?.n}`);
    }
    const counted = (await client.post('counted', { n })).c as number;
    const expected = units.filter((unit) => unit.n === n).length;
    if (counted !== expected)
      faults.push(`${counted} units with n ${n} by index, ${expected} by scan`);
  }
  return faults;
}
