// Entry point of the page: draws the application and starts the polling of the server.
import { render } from 'preact';
import { App, fetchFirst } from './app.js';
import { startPolling } from './state/server.js';

startPolling();
fetchFirst();
render(<App />, document.getElementById('app')!);
