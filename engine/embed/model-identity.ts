// What decides whether the vectors of two texts can be compared: the model, the requested dimensions, and the
// task and the prefix of stored texts.

export interface ModelIdentity {
  /** Provider and name, without a task. */
  model: string;
  /** Dimensions that the provider was asked for; absent: those of the model. */
  dimensions?: number;
  /** The provider's own name of the task of documents. */
  task?: string;
  /** Put before each document. */
  prefix?: string;
}

/**
 * Returns true if vectors of both can be compared. `actual` is the number of dimensions of the stored
 * vectors. `ignoresTask`: a query has named its own model, whose task may be that of queries.
 */
export function isSameModel(
  a: ModelIdentity,
  b: ModelIdentity,
  actual: number,
  ignoresTask: boolean,
): boolean {
  const dimensionsOf = ({ dimensions }: ModelIdentity): number => dimensions ?? actual;
  if (a.model !== b.model || dimensionsOf(a) !== dimensionsOf(b)) return false;
  return ignoresTask || (a.task === b.task && (a.prefix ?? '') === (b.prefix ?? ''));
}

/** Describes a model for people, such as `openai:m (512 dimensions)`. */
export function describeModel({ model, dimensions, task, prefix }: ModelIdentity): string {
  const parts = [
    ...(dimensions === undefined ? [] : [`${dimensions} dimensions`]),
    ...(task === undefined ? [] : [`task ${task}`]),
    ...(prefix ? [`prefix ${JSON.stringify(prefix)}`] : []),
  ];
  return parts.length === 0 ? model : `${model} (${parts.join(', ')})`;
}
