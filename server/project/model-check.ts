// Whether the queries of a project can embed what they want to: said when the server starts, not by
// the first call that fails.
import { type Program, modelFault } from '../../engine/index.js';
import type { Config } from '../config/config.js';
import { counted } from '../terminal/wording.js';

/** One line for each reason why queries cannot embed. */
export function modelWarnings(config: Config, { queries }: Program): string[] {
  const byFault = new Map<string, Set<string>>();
  for (const { name, plan } of queries) {
    for (const site of plan.embeds) {
      const ofType = site.type && config.vectorTypes[site.type]?.embedding_model;
      const model = plan.model ?? (ofType || config.embedding.model);
      const fault = modelFault(model, config.environment);
      if (fault === undefined) continue;
      byFault.set(fault, (byFault.get(fault) ?? new Set()).add(name));
    }
  }
  return [...byFault].map(([fault, names]) => {
    const some = [...names].slice(0, 3).join(', ') + (names.size > 3 ? ', …' : '');
    const who = counted(names.size, 'query', 'queries');
    return `${who} (${some}) cannot embed: ${fault} Set embedding.model in trellis.toml ("hash" works offline).`;
  });
}
