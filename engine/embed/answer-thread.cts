// Entry of the thread that reads long answers of providers: CommonJS, for the reason that stands in
// ../database/lane/worker.cts.
export = import('./answer-task.js').then((module) => module.default);
