// The operations that `embedded` and `crud` time in this process, and the people that every contender holds:
// 10,000 with a unique name, and 1,000 of them with 20 friends.
// Invariant: a task returns its rows as JavaScript values, so that no contender leaves out the conversion.
import type { Task } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';

export const people = 10_000;
export const hubs = 1_000;
const friends = 20;

interface Person {
  name: string;
  age: number;
  city: string;
}

export interface PeopleData {
  persons: readonly Person[];
  /** Positions of the friends of the first `hubs` persons. */
  friends: readonly (readonly number[])[];
}

export const operations = [
  'point read by id',
  'point read by unique name',
  'hop, 20 whole rows',
  'hop, 20 rows of 2 members',
  'hop, count only',
  'scan of 20 rows',
  'durable create',
  'durable update',
  'durable delete',
] as const;

export type Operation = (typeof operations)[number];

export interface EmbeddedContender {
  name: string;
  /** Whether a write is on the disk when its call returns. */
  isDurable: boolean;
  tasks: Record<Operation, Task>;
  /** The friends of a hub by name, and the number of persons: what the tasks must find. */
  check(hub: number): Promise<{ friends: string[]; count: number }>;
  close(): unknown;
}

export function makePeople(): PeopleData {
  const random = randomOf(5);
  return {
    persons: Array.from({ length: people }, (_, i) => ({
      name: `person ${i}`,
      age: i % 100,
      city: `city ${i % 50}`,
    })),
    friends: Array.from({ length: hubs }, () => {
      const found = new Set<number>();
      while (found.size < friends) found.add(Math.floor(random() * people));
      return [...found];
    }),
  };
}
