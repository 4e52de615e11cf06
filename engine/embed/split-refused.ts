// Finds the texts that a provider refuses. A refused list is halved until each refused text is alone, so that
// one text costs few calls and the others get their vectors.
import { type ErrorData, TrellisError } from '../base/errors.js';

export type Embedding = Float64Array | ErrorData;

export interface Halving {
  ask: (texts: readonly string[]) => Promise<Float64Array[]>;
  /** Returns true for an error that concerns texts. Every other error ends the work. */
  isOfTexts: (error: TrellisError) => boolean;
  /** Called when both halves of a refused list were accepted: the list was too long for one call. */
  onHalved?: (error: TrellisError, half: readonly string[]) => void;
  /** Splits a list whose maximum length has become known meanwhile. */
  split?: (texts: readonly string[]) => (readonly string[])[];
}

/** After this many refused texts and no accepted one, lists are tried whole first. */
const refusedMax = 8;

/** A list that waits for its call. */
interface Part {
  from: number;
  texts: readonly string[];
  whole?: Whole | undefined;
}

/** A refused list. */
interface Whole {
  error: TrellisError;
  half: readonly string[];
  accepted: number;
}

/**
 * Returns the embedding of each text, or the error with which it is refused. Fails with the last refusal when
 * many texts are refused and no list is accepted: then the texts are not the reason.
 */
export async function embedEach(texts: readonly string[], halving: Halving): Promise<Embedding[]> {
  const found: Embedding[] = new Array(texts.length);
  const waiting: Part[] = [{ from: 0, texts }];
  let accepted = 0;
  let refused = 0;
  /** Lists that were refused while no text was accepted. */
  let doubtful: Part[] = [];
  while (waiting.length > 0) {
    const isDoubt = accepted === 0 && refused > refusedMax;
    const [part, ...rest] = partsOf(isDoubt ? waiting.pop()! : waiting.shift()!, halving);
    if (part === undefined) continue;
    waiting.unshift(...rest);
    const error = await refusalOf(part, halving, found);
    if (error === undefined) {
      accepted += part.texts.length;
      if (part.whole && ++part.whole.accepted === 2)
        halving.onHalved?.(part.whole.error, part.whole.half);
      waiting.unshift(...doubtful.flatMap(halvesOf));
      doubtful = [];
    } else if (part.texts.length === 1) {
      found[part.from] = error.data;
      refused++;
    } else if (isDoubt) doubtful.push({ ...part, whole: wholeOf(part, error) });
    else waiting.unshift(...halvesOf({ ...part, whole: wholeOf(part, error) }));
    const isHopeless = accepted === 0 && refused > refusedMax && waiting.length === 0;
    if (isHopeless && error !== undefined) throw error;
  }
  return found;
}

/** Returns the refusal of a list; undefined when its vectors are in `found`. */
async function refusalOf(
  { from, texts }: Part,
  { ask, isOfTexts }: Halving,
  found: Embedding[],
): Promise<TrellisError | undefined> {
  try {
    for (const [i, vector] of (await ask(texts)).entries()) found[from + i] = vector;
    return undefined;
  } catch (error) {
    if (error instanceof TrellisError && isOfTexts(error)) return error;
    throw error;
  }
}

const middle = ({ texts }: Part): number => (texts.length + 1) >> 1;

const wholeOf = (part: Part, error: TrellisError): Whole => ({
  error,
  half: part.texts.slice(0, middle(part)),
  accepted: 0,
});

function halvesOf(part: Part): Part[] {
  const at = middle(part);
  const { from, texts, whole } = part;
  return [
    { from, texts: texts.slice(0, at), whole },
    { from: from + at, texts: texts.slice(at), whole },
  ];
}

/** Splits a list by the limit that is known by now. */
function partsOf(part: Part, { split }: Halving): Part[] {
  const lists = split?.(part.texts) ?? [part.texts];
  if (lists.length <= 1) return part.texts.length === 0 ? [] : [part];
  let { from } = part;
  return lists.map((texts) => {
    const one = { from, texts };
    from += texts.length;
    return one;
  });
}
