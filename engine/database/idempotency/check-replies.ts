// Checks the stored replies of a database at rest (I18): each reply is listed once under its number, and the
// byte counter is right. Changes nothing.
import type { ReadView } from '../../storage/table/view-types.js';
import { answerKey, storedReply, replyQueue, replyEntry } from './stored-reply.js';

const nextTag = (key: Uint8Array): Uint8Array => Uint8Array.of(key[0]!, key[1]! + 1);
const rangeOf = (key: Uint8Array): [Uint8Array, Uint8Array] => [key.subarray(0, 2), nextTag(key)];

/** Yields one sentence for each error. */
export function* checkReplies(view: ReadView): Generator<string> {
  const { first, next, bytes } = replyQueue.read(view.getDerived(answerKey.order));
  let [size, answers, listed] = [0, 0, 0];
  for (const { key, value } of view.scanDerived(...rangeOf(answerKey.numbered(0)))) {
    const number = answerKey.numberIn(key);
    const { name, when, bytes: noted } = replyEntry.read(value);
    const found = view.getDerived(answerKey.named(name));
    const answer = found && storedReply.read(found);
    listed++;
    if (number < first || number >= next) yield `kept answer ${number} is out of order`;
    if (answer?.number !== number || answer.when !== when || answer.body.length !== noted) {
      yield `kept answer ${number} is not what the order says`;
    }
  }
  for (const { value } of view.scanDerived(...rangeOf(answerKey.named(new Uint8Array(16))))) {
    answers++;
    size += storedReply.read(value).body.length;
  }
  if (answers !== listed) yield `${answers} answers are kept, ${listed} stand in the order`;
  if (size !== bytes) yield `the kept answers have ${size} bytes, ${bytes} are counted`;
}
