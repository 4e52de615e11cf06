// Entry of the thread that parses long responses of providers. CommonJS, for the reason given in
// ../database/lane/worker.cts.
export = import('./answer-task.js').then((module) => module.default);
