// Entry of the thread that compiles beside those that serve: CommonJS, for the reason that stands
// in ../lane/worker.cts.
export = import('./compile-task.js').then((module) => module.default);
