// The login form. The API key is kept in memory, or in the session storage of the tab if the box is checked.
import { useState } from 'preact/hooks';
import { keyRequest, useKey } from '../state/key.js';
import { pollNow } from '../state/server.js';

export function Login() {
  const [text, setText] = useState('');
  const [keep, setKeep] = useState(false);
  const enter = (event: Event): void => {
    event.preventDefault();
    if (text === '') return;
    useKey(text.trim(), keep);
    void pollNow();
  };
  return (
    <main class="login">
      <form class="card" onSubmit={enter}>
        <p class="brand">
          <span class="mark" aria-hidden="true" />
          TrellisDB
        </p>
        <h1>This server needs an API key</h1>
        <label>
          API key
          <input
            type="password"
            autoFocus
            autocomplete="off"
            spellcheck={false}
            value={text}
            aria-describedby="key-fault"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p id="key-fault" class="fault" role="alert">
          {keyRequest.value}
        </p>
        <label class="check">
          <input
            type="checkbox"
            checked={keep}
            onChange={(event) => setKeep(event.currentTarget.checked)}
          />
          Keep it until this tab is closed
        </label>
        <button type="submit" class="primary">
          Open
        </button>
        <p class="hint">
          Create one with <code>trellis keys add NAME --role read</code>.
        </p>
      </form>
    </main>
  );
}
