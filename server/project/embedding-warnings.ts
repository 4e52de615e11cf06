// Checks at the start of the server whether the queries of a project can embed their texts, and which host
// gets which credential. Without this check, the first call would report the problem.
import { type Program, modelDestination, checkModel } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { counted } from '../terminal/format.js';

/** Returns one line for each reason why queries cannot embed. */
export function modelWarnings(config: Config, { queries }: Program): string[] {
  const byReason = new Map<string, Set<string>>();
  for (const { name, model } of modelsOf(config, queries)) {
    const reason = checkModel(model, config);
    if (reason === undefined) continue;
    byReason.set(reason, (byReason.get(reason) ?? new Set()).add(name));
  }
  return [...byReason].map(([reason, names]) => {
    const some = [...names].slice(0, 3).join(', ') + (names.size > 3 ? ', …' : '');
    const who = counted(names.size, 'query', 'queries');
    return `${who} (${some}) cannot embed: ${reason} Set embedding.model in trellis.toml ("hash" works offline).`;
  });
}

/** Returns the model of each text that a query embeds. */
function modelsOf(config: Config, queries: Program['queries']) {
  return queries.flatMap(({ name, plan }) =>
    plan.embeds.map(({ type }) => {
      const ofType = type && config.vectorTypes[type]?.embedding_model;
      return { name, model: plan.model ?? (ofType || config.embedding.model) };
    }),
  );
}

/**
 * Returns one line with the name and the source of each credential, and the host that gets it. Returns
 * undefined without credentials.
 */
export function credentialLine(config: Config, { queries }: Program): string | undefined {
  const { settings, cluster } = config;
  const lines = new Set<string>();
  const warn = (host: string, name: string): void => {
    lines.add(`${host} gets ${name} (${settings.get(name)?.source})`);
  };
  for (const { model } of modelsOf(config, queries)) {
    const to = modelDestination(model, config);
    if (to !== undefined) warn(to.host, to.variable);
  }
  if (cluster.log !== '' && cluster.token_file !== '')
    warn(logHost(cluster.log), 'cluster.token_file');
  return lines.size === 0 ? undefined : `credentials: ${[...lines].join('; ')}`;
}

/** Returns the servers of a log, or the host of its object store. */
function logHost(url: string): string {
  const [host = '', query] = url.replace(/^\w+:\/\//, '').split('?', 2);
  const endpoint = new URLSearchParams(query).get('endpoint');
  return endpoint !== null && URL.canParse(endpoint) ? new URL(endpoint).host : host;
}
