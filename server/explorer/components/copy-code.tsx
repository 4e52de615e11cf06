// Copies the current call as a command or a program, or the address of the view.
import { useState } from 'preact/hooks';
import { hereLink } from '../state/router.js';
import { asCurl, asPython, asTypeScript } from '../model/code-sample.js';

const feedbackMs = 1_500;

export function CopyCode({ path, body, hasKey }: { path: string; body: string; hasKey: boolean }) {
  const origin = new URL('.', location.href).href.replace(/\/$/, '');
  const call = { origin, path, body, hasKey };
  return (
    <p class="copies">
      <span class="hint">copy</span>
      <CopyButton name="curl" text={() => asCurl(call)} />
      <CopyButton name="TypeScript" text={() => asTypeScript(call)} />
      <CopyButton name="Python" text={() => asPython(call)} />
      <CopyButton name="link" text={() => new URL(hereLink(), location.href).href} />
    </p>
  );
}

export function CopyButton({ name, text }: { name: string; text: () => string }) {
  const [feedback, setFeedback] = useState('');
  const copy = async (): Promise<void> => {
    setFeedback((await copyText(text())) ? 'copied' : 'not copied');
    setTimeout(() => setFeedback(''), feedbackMs);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {feedback || name}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Without a secure context, the clipboard is only accessible through a selection. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return isDone;
}
