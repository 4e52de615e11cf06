// What one reading thread has seen of a commit, no other one unsees: also while the commit is being
// published, when nobody has been told of it yet (linearizability, T25, at its narrowest place).
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { ControlBlock, createControlBuffer } from '../../engine/database/call/control-block.js';
import { SchemaGuard } from '../../engine/database/schema/schema-guard.js';
import { compile } from '../../engine/lang/compile.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import { makeFolder } from '../support/project.js';

const { program } = compile([{ path: 'a.hx', text: 'N::Item { n: I64 }' }], { compat: false });

/** A writer and three reading threads' views of one store, driven by hand. */
function open(): { writer: Storage; gate: ControlBlock; seen: (() => number)[] } {
  const folder = makeFolder();
  const buffer = createControlBuffer(1);
  const gate = new ControlBlock(buffer);
  const writer = openStorage(folder, { limits: defaultLimits, mode: 'create', visibility: gate });
  writer.applySchema(program!, { text: undefined, nowMs: 0 });
  const seen = [0, 1, 2].map(() => {
    const storage = openStorage(folder, { limits: defaultLimits, mode: 'read' });
    const guard = new SchemaGuard(new ControlBlock(buffer), storage);
    guard.configure(gate.schema());
    const label = storage.catalog.find('node', 'Item')!;
    return () => guard.run(gate.schema(), (view) => view.count(label.id));
  });
  return { writer, gate, seen };
}

function add(writer: Storage): void {
  const label = writer.catalog.find('node', 'Item')!;
  writer.commitGroup((group) => group.request(0, (view) => view.createNode(label, new Map())));
}

describe('between a commit and its announcement', () => {
  test('a reader that read before sees what another one has seen meanwhile', () => {
    const { writer, gate, seen } = open();
    for (let n = 0; n < 20; n++) {
      // These two have looked since the last announcement and hold their snapshots.
      expect(seen.slice(0, 2).map((read) => read())).toEqual([n, n]);
      add(writer);
      const news = seen[2]!();
      expect(news).toBe(n + 1);
      expect(seen.slice(0, 2).map((read) => read())).toEqual([news, news]);
      gate.publishCommit();
    }
  });

  test('during the commit itself every read takes a new snapshot, afterwards the first does', () => {
    const gate = new ControlBlock(createControlBuffer(1));
    gate.hasNewCommit();
    expect(gate.hasNewCommit()).toBe(false);
    gate.beginCommit();
    expect([gate.hasNewCommit(), gate.hasNewCommit()]).toEqual([true, true]);
    gate.endCommit();
    expect([gate.hasNewCommit(), gate.hasNewCommit()]).toEqual([true, false]);
    gate.endCommit();
    expect(gate.hasNewCommit()).toBe(false);
    gate.publishCommit();
    expect([gate.hasNewCommit(), gate.hasNewCommit()]).toEqual([true, false]);
  });
});
