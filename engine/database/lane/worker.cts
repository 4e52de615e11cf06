// Entry of every pool thread. CommonJS, because Piscina takes its handler by `require`, and a thread
// that is ended while `require` links ES modules aborts the whole process (Node 20.19 to 24:
// v8::Module::IsGraphAsync); one that is ended while it awaits `import` just ends.
// .ci/setup.mjs builds the same entry for the bundles.
export = import('./safe-exit.js').then(async ({ beginLoading, endLoading }) => {
  beginLoading();
  try {
    return (await import('./thread-main.js')).default;
  } finally {
    endLoading();
  }
});
