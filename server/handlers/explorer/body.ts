// Reads the small JSON bodies of the explorer's routes: members by name and kind, with the usual errors.
import {
  type EdgeCursor,
  type JsonView,
  type Limits,
  describeJson,
  excerpt,
  fail,
  parseUuid,
  scanBody,
} from '../../../engine/internal.js';

export class ExploreBody {
  readonly #root: JsonView;

  constructor(
    body: Uint8Array,
    limits: Limits,
    private readonly owner: string,
    known: readonly string[],
  ) {
    this.#root = scanBody(body, limits);
    for (const member of this.#root.kind === 'object' ? this.#root.names() : []) {
      if (!known.includes(member)) fail('UNKNOWN_MEMBER', { owner, member: excerpt(member) });
    }
  }

  #member(param: string, kind: JsonView['kind'], type: string): JsonView | undefined {
    const view = this.#root.kind === 'object' ? this.#root.member(param) : undefined;
    if (view === undefined || view.kind === 'null') return undefined;
    if (view.kind === kind) return view;
    return fail('PARAM_TYPE', { param, type, got: describeJson(view) }, { path: `/${param}` });
  }

  #missing(param: string, type: string): never {
    return fail('PARAM_MISSING', { owner: this.owner, param, type }, { path: `/${param}` });
  }

  text(param: string): string | undefined {
    return this.#member(param, 'string', 'String')?.text();
  }

  requiredText(param: string): string {
    return this.text(param) ?? this.#missing(param, 'String');
  }

  /** Returns an integer within bounds, or `defaultValue` if it is absent. Fails PARAM_RANGE. */
  count(param: string, defaultValue: number, max: number, min = 0): number {
    const view = this.#member(param, 'number', 'I32');
    if (view === undefined) return defaultValue;
    const value = view.integral ? Number(view.token()) : Number.NaN;
    if (value >= min && value <= max) return value;
    const got = excerpt(view.token());
    return fail('PARAM_RANGE', { param, min, max, got }, { path: `/${param}` });
  }

  choice<T extends string>(param: string, defaultValue: T, allowed: readonly T[]): T {
    const text = this.text(param);
    if (text === undefined) return defaultValue;
    const found = allowed.find((one) => one === text);
    if (found !== undefined) return found;
    const args = { param, allowed: allowed.join(' or '), got: excerpt(JSON.stringify(text)) };
    return fail('PARAM_VALUE', args, { path: `/${param}` });
  }

  id(param: string): Uint8Array | undefined {
    const text = this.text(param);
    return text === undefined ? undefined : idOf(param, text, `/${param}`);
  }

  requiredId(param: string): Uint8Array {
    return this.id(param) ?? this.#missing(param, 'ID');
  }

  texts(param: string, max: number): string[] | undefined {
    const list = this.#member(param, 'array', '[String]');
    if (list === undefined) return undefined;
    if (list.length > max) {
      const args = { param, min: 0, max, got: `${list.length} items` };
      fail('PARAM_RANGE', args, { path: `/${param}` });
    }
    return Array.from({ length: list.length }, (_, at) => {
      const item = list.at(at);
      if (item.kind === 'string') return item.text();
      const args = { param, type: 'String', got: describeJson(item) };
      return fail('PARAM_TYPE', args, { path: item.path });
    });
  }

  ids(param: string, max: number): Uint8Array[] | undefined {
    return this.texts(param, max)?.map((text, at) => idOf(param, text, `/${param}/${at}`));
  }

  /**
   * Returns the position that a page of neighbours returned as `more`, or undefined if absent. Fails
   * PARAM_VALUE.
   */
  edgeCursor(param: string): EdgeCursor | undefined {
    const text = this.text(param);
    if (text === undefined) return undefined;
    const [, direction, label, id] = /^(out|in)\/(\w+)\/([0-9a-f-]{36})$/.exec(text) ?? [];
    const edge = id === undefined ? undefined : parseUuid(id);
    if (edge !== undefined) return { direction: direction as 'out' | 'in', label: label!, edge };
    const args = { param, allowed: 'what `more` was', got: excerpt(JSON.stringify(text)) };
    return fail('PARAM_VALUE', args, { path: `/${param}` });
  }
}

function idOf(param: string, text: string, path: string): Uint8Array {
  const args = { param, type: 'ID', got: excerpt(JSON.stringify(text)) };
  return parseUuid(text) ?? fail('PARAM_TYPE', args, { path });
}
