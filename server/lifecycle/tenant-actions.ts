// `POST /_admin/tenants`: lists, adds and drops the tenants of a running server.
import { describeJson, fail, scanBody } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import type { TenantState, Tenants } from '../database/tenant/tenant-databases.js';

/** Reply of the action, after the change if there is one. */
export interface TenantList {
  tenants: TenantState[];
}

/**
 * Handles `{"add": NAME}`, `{"drop": NAME}` or `{}`. Fails FEATURE_DISABLED for a change on a node of a
 * cluster, where every tenant needs a log first.
 */
export async function changeTenants(
  { cluster, limits }: Config,
  tenants: Tenants | undefined,
  body: Uint8Array,
): Promise<TenantList> {
  const input = scanBody(body, limits);
  for (const change of ['add', 'drop'] as const) {
    const name = input.member(change);
    if (name === undefined) continue;
    if (name.kind !== 'string') {
      const args = { param: change, type: 'String', got: describeJson(name) };
      fail('PARAM_TYPE', args, { path: `/${change}` });
    }
    if (tenants === undefined || cluster.log !== '') {
      const hint =
        'Add it to the configuration of every node, and run `trellis cluster init --tenant`.';
      fail('FEATURE_DISABLED', { feature: 'A change of tenants at run time' }, { hint });
    }
    await tenants[change](name.text());
  }
  return { tenants: tenants?.list() ?? [] };
}
