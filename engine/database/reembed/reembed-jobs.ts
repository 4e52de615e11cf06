// The jobs that make vectors again: at most one for each type. A start continues those that were cut off.
import { type ErrorData, errorMessage, fail, toErrorData } from '../../base/errors.js';
import { type ModelIdentity, isSameModel } from '../../embed/model-identity.js';
import { ReembedJob, type ReembedParts } from './reembed-job.js';
import { readState } from './reembed-state.js';

export interface ReembedStatus {
  type: string;
  from: string;
  state: 'running' | 'done' | 'failed';
  done: number;
  total: number;
  error?: ErrorData;
}

interface Run {
  job: ReembedJob;
  state: ReembedStatus['state'];
  error?: ErrorData;
  finished: Promise<void>;
}

export interface ReembedJobsParts extends ReembedParts {
  /** The model that is configured for a type, if there is one. */
  modelOf: (type: string) => ModelIdentity | undefined;
}

export class ReembedJobs {
  readonly #runs = new Map<string, Run>();

  constructor(private readonly parts: ReembedJobsParts) {}

  /** Starts a job, or returns the one that runs. Fails EMBEDDING_NOT_CONFIGURED. */
  start(type: string, from: string): { status: ReembedStatus; finished: Promise<void> } {
    const known = this.#runs.get(type);
    if (known?.state === 'running') {
      const { request } = known.job;
      if (request.from === from) return { status: statusOf(known), finished: known.finished };
      const what = `${type} is being embedded from \`${request.from}\`.`;
      fail('CONFIG_INVALID', { what }, { hint: 'Wait until that has finished.' });
    }
    const model = this.parts.modelOf(type);
    if (model === undefined)
      return fail('EMBEDDING_NOT_CONFIGURED', { what: 'no model is configured' });
    const job = new ReembedJob({ type, from, model }, this.parts);
    const run: Run = { job, state: 'running', finished: Promise.resolve() };
    this.#runs.set(type, run);
    run.finished = this.#run(run);
    return { status: statusOf(run), finished: run.finished };
  }

  async #run(run: Run): Promise<void> {
    const { type, from } = run.job.request;
    const started = performance.now();
    try {
      await run.job.run();
      run.state = 'done';
      const ms = Math.round(performance.now() - started);
      const vectors = run.job.progress.total;
      this.parts.log('info', 'the vectors of a type are made again', { type, from, vectors, ms });
    } catch (error) {
      run.state = 'failed';
      run.error = toErrorData(error).error;
      const reason = errorMessage(run.error);
      this.parts.log('warn', 'making the vectors of a type again has stopped', { type, reason });
    }
  }

  /** Returns the last job of a type, or undefined. */
  statusOf(type: string): ReembedStatus | undefined {
    const run = this.#runs.get(type);
    return run && statusOf(run);
  }

  /** Says that the vectors of a type agree with the configured model. Returns it. */
  async keep(type: string): Promise<ModelIdentity> {
    const model = this.parts.modelOf(type);
    if (model === undefined)
      return fail('EMBEDDING_NOT_CONFIGURED', { what: 'no model is configured' });
    await this.parts.execute({ step: 'record', type, model, isForced: true });
    return model;
  }

  /** Continues what a crash or a shutdown has cut off. */
  resume(): void {
    const states = this.parts.view((view) =>
      view.catalog.labels().flatMap((label) => {
        const state = label.kind === 'vector' ? readState(view, label.id) : undefined;
        return state ? [{ type: label.name, ...state }] : [];
      }),
    );
    for (const { type, from, model } of states) {
      const configured = this.parts.modelOf(type);
      if (configured && isSameModel(model, configured, 0, false)) this.start(type, from);
    }
  }
}

const statusOf = ({ job, state, error }: Run): ReembedStatus => {
  const { type, from } = job.request;
  return { type, from, state, ...job.progress, ...(error && { error }) };
};
