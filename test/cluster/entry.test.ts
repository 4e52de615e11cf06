// K05, K06: entries of the replicated log. Golden bytes hold the drawing still; properties show that
// every entry comes back as it was, and that no changed, lost, repeated or foreign message ever does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { EntryDecoder, type Entry } from '../../engine/cluster/entry/decode-entry.js';
import { eachChange, ChangeWriter } from '../../engine/cluster/entry/changes.js';
import { logStart, type Position } from '../../engine/cluster/entry/chain.js';
import { entryKind } from '../../engine/cluster/entry/kind.js';
import {
  type EntrySource,
  partBytes,
  type SealedEntry,
  encodeEntry,
} from '../../engine/cluster/entry/encode-entry.js';
import { root } from '../support/project.js';

type Message = { seq: number; bytes: Uint8Array };

const long = process.env.TRELLIS_TEST_LONG === '1';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

const source = (kind: number, epoch: number, number: number, body: Uint8Array): EntrySource => ({
  kind,
  epoch,
  id: new Uint8Array(16).fill(number),
  time: 1_700_000_000_000 + number,
  body,
});

/** A log that is written entry by entry, as a leader writes it. */
class Book {
  position: Position = logStart;
  readonly messages: Message[] = [];
  readonly sources: EntrySource[] = [];

  /** Appends the first `parts` of an entry; it counts only with all of them. */
  append(one: EntrySource, parts = Number.POSITIVE_INFINITY): SealedEntry {
    const sealed = encodeEntry(this.position, this.messages.length, one);
    for (const { bytes } of sealed.parts.slice(0, parts))
      this.messages.push({ seq: this.messages.length + 1, bytes });
    if (parts >= sealed.parts.length) {
      this.position = sealed.position;
      this.sources.push(one);
    }
    return sealed;
  }
}

/** What a reader gets of messages, and the code of the error that ended it. */
function follow(messages: readonly Message[], from = logStart): { got: Entry[]; code?: string } {
  const assembler = new EntryDecoder(from);
  const got: Entry[] = [];
  try {
    for (const message of messages) {
      const entry = assembler.push(message);
      if (entry !== undefined) got.push(entry);
    }
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return { got, code: error.code };
  }
  return { got };
}

/** A log of genesis, epoch, small and large entries, some deflated, some never finished. */
const books = fc
  .array(
    fc.record({
      size: fc.constantFrom(0, 1, 2, 100, 1000, 5000, 9000, partBytes + 1),
      deflate: fc.boolean(),
      keep: fc.constantFrom(1, 2, 9),
      seed: fc.nat(250),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((entries) => {
    const book = new Book();
    book.append(source(entryKind.genesis, 0, 1, Buffer.from('{}')));
    let epoch = 1;
    book.append(source(entryKind.epoch, epoch, 2, Buffer.from('{"node":"a"}')));
    entries.forEach(({ size, deflate, keep, seed }, i) => {
      const body = new Uint8Array(size).fill(seed);
      const one = { ...source(entryKind.changes, epoch, 10 + 2 * i, body), deflate };
      const before = book.sources.length;
      book.append(one, keep);
      if (book.sources.length > before) return;
      epoch++;
      book.append(source(entryKind.epoch, epoch, 11 + 2 * i, Buffer.from('{"node":"b"}')));
    });
    return book;
  });

const runs = { numRuns: long ? 400 : 25 };

describe('K05 entries', () => {
  const golden = JSON.parse(
    readFileSync(join(root, 'test/corpus/golden/entries.json'), 'utf8'),
  ) as {
    name: string;
    kind: number;
    epoch: number;
    id: string;
    time: number;
    deflate: boolean;
    body: string;
    position: { seq: number; chain: string };
    messages: string[];
  }[];

  test('golden bytes', () => {
    const book = new Book();
    for (const { kind, epoch, id, time, deflate, body, position, messages } of golden) {
      const start = book.messages.length;
      book.append({ kind, epoch, id: bytesOf(id), time, deflate, body: bytesOf(body) });
      // How zlib deflates is its own; what it deflated must be read for ever.
      const stored = messages.map((text, i) => ({ seq: start + i + 1, bytes: bytesOf(text) }));
      if (!deflate)
        expect(book.messages.slice(start).map(({ bytes }) => hex(bytes))).toEqual(messages);
      book.messages.splice(start, messages.length, ...stored);
      expect(book.position.seq).toBe(position.seq);
      book.position = { epoch, seq: position.seq, chain: BigInt(position.chain) };
    }
    const { got, code } = follow(book.messages);
    expect(code).toBeUndefined();
    expect(got.map(({ kind, body }) => [kind, hex(body)])).toEqual(
      golden.map(({ kind, body }) => [kind, body]),
    );
    expect(got.map(({ position }) => position.chain)).toEqual(
      golden.map(({ position }) => BigInt(position.chain)),
    );
  });

  test('every entry is read back, from any position on', () => {
    fc.assert(
      fc.property(books, fc.nat(), (book, at) => {
        const all = follow(book.messages);
        expect(all.code).toBeUndefined();
        expect(all.got.map(({ kind, time, body }) => [kind, time, hex(body)])).toEqual(
          book.sources.map(({ kind, time, body }) => [kind, time, hex(body)]),
        );
        const from = all.got[at % all.got.length]!.position;
        const rest = follow(book.messages.slice(from.seq), from);
        expect(rest.code).toBeUndefined();
        expect(rest.got.map(({ position }) => position)).toEqual(
          all.got.filter(({ position }) => position.seq > from.seq).map(({ position }) => position),
        );
      }),
      runs,
    );
  });

  test('a body is cut where a part is full', () => {
    const book = new Book();
    book.append(source(entryKind.genesis, 0, 1, new Uint8Array(0)));
    for (const [i, size] of [partBytes - 1, partBytes, partBytes + 1, 2 * partBytes].entries()) {
      const body = new Uint8Array(size).fill(i);
      const { parts } = book.append(source(entryKind.changes, 0, i, body));
      expect(parts.length).toBe(Math.ceil(size / partBytes));
    }
    const { got, code } = follow(book.messages);
    expect([code, got.length]).toEqual([undefined, 5]);
    for (const [i, { body }] of got.slice(1).entries())
      expect(Buffer.compare(body, book.sources[i + 1]!.body)).toBe(0);
  });

  test('K06 parts that another entry follows are void', () => {
    const book = new Book();
    book.append(source(entryKind.genesis, 0, 1, new Uint8Array(0)));
    book.append(source(entryKind.epoch, 1, 2, new Uint8Array(0)));
    book.append(source(entryKind.changes, 1, 3, new Uint8Array(3 * partBytes)), 2);
    const assembler = new EntryDecoder(logStart);
    for (const message of book.messages) assembler.push(message);
    expect([assembler.position.seq, assembler.end, assembler.voided]).toEqual([2, 4, 0]);
    book.append(source(entryKind.epoch, 2, 4, new Uint8Array(0)));
    const entry = assembler.push(book.messages[4]!);
    expect([entry?.first, entry?.position.seq, assembler.voided]).toEqual([5, 5, 2]);
  });

  test('no change of a message is ever read as data', () => {
    fc.assert(
      fc.property(
        books,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (book, m, b, bits) => {
          const messages = [...book.messages];
          const at = m % messages.length;
          const bytes = messages[at]!.bytes.slice();
          // Heads are short and bodies long: half of the time a byte of the head.
          bytes[b % (b % 2 === 0 ? 64 : bytes.length)]! ^= bits;
          messages[at] = { seq: at + 1, bytes };
          const { got, code } = follow(messages);
          expect(['LOG_LOST', 'FORMAT_TOO_NEW']).toContain(code);
          expect(got.every(({ position }) => position.seq <= at)).toBe(true);
        },
      ),
      { numRuns: long ? 5000 : 60 },
    );
  });

  test('neither a lost, a repeated nor an exchanged message', () => {
    fc.assert(
      fc.property(books, fc.nat(), fc.constantFrom('lost', 'twice', 'swap'), (book, m, how) => {
        const at = 1 + (m % (book.messages.length - 1));
        const bytes = book.messages.map((message) => message.bytes);
        if (how === 'lost') bytes.splice(at - 1, 1);
        if (how === 'twice') bytes.splice(at, 0, bytes[at]!);
        if (how === 'swap') bytes.splice(at - 1, 2, bytes[at]!, bytes[at - 1]!);
        expect(follow(bytes.map((it, i) => ({ seq: i + 1, bytes: it }))).code).toBe('LOG_LOST');
        // Also where the log numbers its gap.
        const gap = book.messages.filter((_, i) => i !== at - 1);
        expect(follow(gap).code).toBe('LOG_LOST');
      }),
      runs,
    );
  });

  test('an entry of another log, of an older leader, or with a wrong body', () => {
    const [one, other] = [new Book(), new Book()];
    for (const [number, book] of [one, other].entries()) {
      book.append(source(entryKind.genesis, 0, 1, Uint8Array.of(number)));
      book.append(source(entryKind.epoch, 3, 2, new Uint8Array(0)));
      book.append(source(entryKind.changes, 3, 3, Uint8Array.of(1)));
    }
    expect(follow([one.messages[0]!, ...other.messages.slice(1)]).code).toBe('LOG_LOST');
    const old = encodeEntry(one.position, 3, source(entryKind.changes, 2, 4, Uint8Array.of(2)));
    expect(follow([...one.messages, { seq: 4, bytes: old.parts[0]!.bytes }]).code).toBe('LOG_LOST');
    const bad = encodeEntry(one.position, 3, source(entryKind.changes, 3, 4, Uint8Array.of(2)));
    bad.parts[0]!.bytes[5] = 1;
    expect(follow([...one.messages, { seq: 4, bytes: bad.parts[0]!.bytes }]).code).toBe('LOG_LOST');
    expect(follow([{ seq: 1, bytes: Buffer.from('not ours') }]).code).toBe('LOG_LOST');
  });
});

describe('changes', () => {
  const changes = fc.array(
    fc.record({
      table: fc.nat(255),
      key: fc.uint8Array({ maxLength: 40 }),
      value: fc.option(fc.uint8Array({ maxLength: 90 }), { nil: undefined }),
    }),
    { maxLength: 12 },
  );
  type Change = { table: number; key: Uint8Array; value: Uint8Array | undefined };
  const read = (body: Uint8Array): Change[] => {
    const got: Change[] = [];
    eachChange(body, (table, key, value) => got.push({ table, key, value }));
    return got;
  };
  const text = (list: Change[]): string[] =>
    list.map(({ table, key, value }) => `${table} ${hex(key)} ${value && hex(value)}`);
  const write = (list: Change[]): Uint8Array => {
    const writer = new ChangeWriter();
    for (const { table, key, value } of list) writer.put(table, key, value);
    return writer.take();
  };

  test('are read back in their order; truncated ones fail', () => {
    fc.assert(
      fc.property(changes, fc.nat(), (list, cut) => {
        const body = write(list);
        expect(text(read(body))).toEqual(text(list));
        if (body.length === 0) return;
        const short = body.subarray(0, cut % body.length);
        const whole = list.findIndex((_, i) => write(list.slice(0, i + 1)).length > short.length);
        if (write(list.slice(0, whole)).length === short.length) return;
        expect(() => read(short)).toThrow('a change ends beyond its entry');
      }),
      runs,
    );
  });
});
