// Connects the embedding models of a database with its data: which model has made the vectors of a type, and
// the jobs that make them again. Runs on the main thread.
import { fail } from '../base/errors.js';
import type { ClusterNode } from '../cluster/node.js';
import type { ModelRecord } from './vectors/model-record.js';
import type { ReadView } from '../storage/table/view-types.js';
import type { DatabaseOptions } from './call/options.js';
import { ReembedJobs } from './reembed/reembed-jobs.js';
import type { ReembedCommand } from './reembed/reembed-writer.js';
import { TypeModels } from './reembed/type-models.js';
import { type ModelChoice, embedRows, identityOf, modelChoiceOf } from './text-embedding.js';

export interface ModelServicesParts {
  view: <T>(read: (view: ReadView) => T) => T;
  execute: (command: ReembedCommand) => Promise<unknown>;
  /** The node of the database in a cluster. */
  node: () => ClusterNode | undefined;
}

/** Milliseconds in which a batch of a job must be embedded. */
const batchMs = 120_000;

export class ModelServices {
  readonly choice: ModelChoice;
  readonly jobs: ReembedJobs;
  readonly #typeModels: TypeModels;

  constructor(
    private readonly options: DatabaseOptions,
    private readonly parts: ModelServicesParts,
  ) {
    const { view, execute } = parts;
    const canWrite = () => this.#canWrite;
    const choice = modelChoiceOf(options);
    this.#typeModels = new TypeModels({
      view,
      canWrite,
      record: async (type, model) =>
        (await execute({ step: 'record', type, model })) as ModelRecord,
      log: (message, fields) => options.log('info', message, fields),
    });
    this.choice = { ...choice, typeModels: this.#typeModels };
    this.jobs = new ReembedJobs({
      view,
      execute: (command) => {
        if (options.cluster === undefined || command.step === 'record') return execute(command);
        const hint = 'Load a dump into a new cluster with the new model, or keep the model.';
        return fail('FEATURE_DISABLED', { feature: 'Reembedding in a cluster' }, { hint });
      },
      // The job replaces the vectors, so that those of another model are no obstacle.
      embed: (type, texts) =>
        embedRows(
          choice,
          texts.map((text) => ({ type, text })),
          batchMs,
        ),
      log: options.log,
      modelOf: (type) => identityOf(choice, type),
    });
  }

  /** Records models of vectors from earlier versions, and continues jobs that were cut off. */
  begin(): void {
    if (!this.#canWrite || this.options.cluster !== undefined) return;
    const types = this.parts.view((view) =>
      view.catalog.labels().flatMap(({ kind, name }) => (kind === 'vector' ? [name] : [])),
    );
    for (const type of types) {
      const model = identityOf(this.choice, type);
      if (model)
        this.#typeModels
          .recordUnknown(type, model)
          .catch((error: Error) => this.#warn(type, error));
    }
    this.jobs.resume();
  }

  get #canWrite(): boolean {
    const role = this.parts.node()?.role ?? 'leader';
    return !this.options.readOnly && role === 'leader';
  }

  #warn(type: string, { message: reason }: Error): void {
    this.options.log('warn', 'the model of a vector type cannot be recorded', { type, reason });
  }
}
