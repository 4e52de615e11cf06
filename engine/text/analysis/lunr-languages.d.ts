// The form of the plugins of lunr-languages that language.ts uses.
declare module 'lunr-languages/*' {
  const plugin: (library: Record<string, unknown>) => void;
  export default plugin;
}
