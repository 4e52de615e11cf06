// Every diagnostic of `trellis check`: the cases of test/corpus/language that have `diagnostics`
// instead of steps.
import { describe, expect, test } from 'vitest';
import { type Case, caseFiles, readCases } from '../support/corpus/case.js';
import { diagnose, diagnosticFault, fileNameOf } from '../support/diagnose.js';

function groups(cases: Case[]): Case[][] {
  const found = new Map<string, Case[]>();
  for (const one of cases) {
    const key = JSON.stringify([one.schema, one.shared, one.config, one.fresh && one.id]);
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  return [...found.values()];
}

for (const path of caseFiles('language')) {
  const cases = readCases(path).filter((one) => one.diagnostics !== undefined);
  describe.skipIf(cases.length === 0)(path.split('/').at(-1)!, () => {
    for (const group of groups(cases)) {
      let found: ReturnType<typeof diagnose> | undefined;
      for (const one of group)
        test(`${one.id} [${one.rows.join(' ')}]`, async () => {
          found ??= diagnose(group);
          const got = (await found).get(fileNameOf(one)) ?? [];
          expect(diagnosticFault(one, got)).toBeUndefined();
        });
    }
  });
}
