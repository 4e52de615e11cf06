// `POST /_admin/reembed`: starts a job that makes the vectors of a type again, or says how far it is.
import { type Database, describeModel, fail } from '../../engine/internal.js';

/**
 * `type` and `from` start the job, or continue it. With `status`, the answer is the state of the last job. With
 * `keep`, the vectors count as those of the configured model.
 */
export async function reembedBody(
  { reembeds }: Database,
  parameters: URLSearchParams,
): Promise<unknown> {
  const type = parameters.get('type') || missing('type');
  if (parameters.get('keep') === 'true') return { model: describeModel(await reembeds.keep(type)) };
  if (parameters.get('status') === 'true') {
    const name = `of ${type}`;
    return reembeds.statusOf(type) ?? fail('NOT_FOUND', { kind: 'reembedding', name });
  }
  return reembeds.start(type, parameters.get('from') || missing('from')).status;
}

function missing(param: string): never {
  return fail('PARAM_MISSING', { owner: '_admin/reembed', param, type: 'String' });
}
