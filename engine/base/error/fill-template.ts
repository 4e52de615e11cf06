// Puts the arguments of an error into its message or its hint.
type Values = Readonly<Record<string, string | number | boolean | bigint | null>>;

/** Replaces each `{name}` of a template by the argument of that name, if there is one. */
export function fill(template: string, args: Values): string {
  let text = '';
  let end = 0;
  for (;;) {
    const first = template.indexOf('{', end);
    const close = first < 0 ? -1 : template.indexOf('}', first);
    if (close < 0) return end === 0 ? template : text + template.slice(end);
    const open = template.lastIndexOf('{', close);
    const value = args[template.slice(open + 1, close)];
    text += template.slice(end, open);
    text += value === undefined || value === null ? template.slice(open, close + 1) : String(value);
    end = close + 1;
  }
}
