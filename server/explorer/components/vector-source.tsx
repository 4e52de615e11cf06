// Fills a field of numbers with the vector of an element, or with the embedding of a text by the model of the
// server.
import { useState } from 'preact/hooks';
import { isId } from '../model/item.js';
import { explore, messageOf } from '../state/api.js';
import { isScoped } from '../state/server.js';

interface VectorSourceProps {
  label: string;
  pick: (json: string) => void;
}

export function VectorSource({ label, pick }: VectorSourceProps) {
  const [text, setText] = useState('');
  const [message, showMessage] = useState('');
  const wanted = text.trim();
  const isElement = isId(wanted);
  if (isScoped.value) return null;
  const fill = async (): Promise<void> => {
    if (wanted === '') return;
    try {
      const request = isElement ? { id: wanted } : { text: wanted };
      const { vector } = await explore<{ vector: number[] }>('vector', request);
      pick(JSON.stringify(vector));
      showMessage(`${vector.length} numbers`);
    } catch (error) {
      showMessage(messageOf(error));
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void fill();
  };
  return (
    <div class="vector-source">
      <div class="beside">
        <input
          type="text"
          placeholder="or the id of an element, or a text"
          aria-label={`Element or text of ${label}`}
          value={text}
          onKeyDown={onKey}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" disabled={wanted === ''} onClick={() => void fill()}>
          {isElement ? 'of element' : 'embed text'}
        </button>
      </div>
      <p class="hint" role="status">
        {message}
      </p>
    </div>
  );
}
