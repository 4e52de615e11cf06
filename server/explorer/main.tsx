// The page's entry: draws the shell and begins to ask the server.
import { render } from 'preact';
import { App } from './app.js';
import { startPolling } from './state/server.js';

startPolling();
render(<App />, document.getElementById('app')!);
