// The page's entry: draws the shell and begins to ask the server.
import { render } from 'preact';
import { App, fetchFirst } from './app.js';
import { startPolling } from './state/server.js';

startPolling();
fetchFirst();
render(<App />, document.getElementById('app')!);
