// As much of a TextMate engine as the grammar uses: rules by line, the earliest match first, `begin` and `end`
// over lines, captures. Its patterns keep to what Oniguruma and JavaScript read alike.

interface Rule {
  include?: string;
  name?: string;
  match?: string;
  begin?: string;
  end?: string;
  captures?: Record<string, { name: string }>;
  patterns?: Rule[];
}
export interface Grammar extends Rule {
  repository: Record<string, Rule>;
}
interface Scoped {
  start: number;
  end: number;
  scope: string;
}
type Found = { match: RegExpExecArray; rule: Rule; isEnd: boolean };

/** The innermost named scope of each stretch of a text, in order. */
export function scopesOf(grammar: Grammar, text: string): Scoped[] {
  const scopes: Scoped[] = [];
  const stack: Rule[] = [];
  const rulesOf = (rules: readonly Rule[]): Rule[] =>
    rules.flatMap((rule) => {
      if (rule.include === undefined) {
        const isGroup = rule.match === undefined && rule.begin === undefined;
        return isGroup ? rulesOf(rule.patterns ?? []) : [rule];
      }
      return rulesOf([grammar.repository[rule.include.slice(1)]!]);
    });
  const first = (line: string, at: number): Found | undefined => {
    const top = stack.at(-1);
    let best: Found | undefined;
    const offer = (pattern: string, rule: Rule, isEnd: boolean): void => {
      const regex = regexOf(pattern);
      regex.lastIndex = at;
      const match = regex.exec(line);
      if (match !== null && (best === undefined || match.index < best.match.index))
        best = { match, rule, isEnd };
    };
    if (top !== undefined) offer(top.end!, top, true);
    for (const rule of rulesOf(top === undefined ? grammar.patterns! : (top.patterns ?? [])))
      offer((rule.match ?? rule.begin)!, rule, false);
    return best;
  };
  let offset = 0;
  const add = (start: number, end: number, scope: string | undefined): void => {
    if (scope !== undefined && end > start)
      scopes.push({ start: offset + start, end: offset + end, scope });
  };
  for (const line of text.split(/(?<=\n)/)) {
    for (let at = 0; at <= line.length; ) {
      const found = first(line, at);
      const next = found?.match.index ?? line.length;
      add(at, next, stack.at(-1)?.name);
      if (found === undefined) break;
      const { match, rule, isEnd } = found;
      const end = match.index + match[0].length;
      add(match.index, end, rule.name);
      if (rule.captures !== undefined) addCaptures(match, rule, (...given) => add(...given));
      if (isEnd) stack.pop();
      else if (rule.begin !== undefined) stack.push(rule);
      if (end === at && found.rule.match !== undefined) throw new Error(`nothing matches: ${line}`);
      at = end;
    }
    offset += line.length;
  }
  return scopes;
}

const known = new Map<string, RegExp>();
function regexOf(pattern: string): RegExp {
  const regex = known.get(pattern) ?? new RegExp(pattern, 'gmd');
  known.set(pattern, regex);
  return regex;
}

function addCaptures(
  match: RegExpExecArray,
  { captures }: Rule,
  add: (start: number, end: number, scope: string) => void,
): void {
  for (const [group, { name }] of Object.entries(captures!)) {
    const place = match.indices![Number(group)];
    if (place !== undefined) add(place[0], place[1], name);
  }
}
