// The languages whose stop words and stems keyword search knows. Schemas and the configuration name them.

export const languageNames = [
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'italian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'spanish',
  'swedish',
  'turkish',
  'none',
] as const;

/** `none`: neither stop words nor stems. */
export type LanguageName = (typeof languageNames)[number];

export const isLanguageName = (name: string): name is LanguageName =>
  (languageNames as readonly string[]).includes(name);
