// In what order the runner takes test files: those of the first pattern, of the second, then all others, each
// as the runner would.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export const filesFirst = (first: readonly RegExp[]): typeof BaseSequencer =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const rank = ({ moduleId }: TestSpecification): number => {
        const place = first.findIndex((some) => some.test(moduleId));
        return place < 0 ? first.length : place;
      };
      return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    }
  };
