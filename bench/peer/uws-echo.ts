// The least that a request can cost on uWebSockets.js: a process that reads a body and sends a reply it was given,
// and does nothing else. Usage: node uws-echo.js MODULE REPLY; prints its port.
import { pathToFileURL } from 'node:url';

interface Response {
  onAborted(handler: () => void): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  cork(work: () => void): void;
  writeHeader(name: string, value: string): void;
  end(body: string): void;
}

interface App {
  any(path: string, handler: (response: Response) => void): App;
  listen(host: string, port: number, listening: (socket: unknown) => void): App;
}

interface Uws {
  App(): App;
  us_socket_local_port(socket: unknown): number;
}

const [module, reply] = process.argv.slice(2) as [string, string];
const loaded = (await import(pathToFileURL(module).href)) as Uws & { default?: Uws };
const uws = loaded.default ?? loaded;
uws
  .App()
  .any('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (!isLast) return;
      response.cork(() => {
        response.writeHeader('Content-Type', 'application/json');
        response.end(reply);
      });
    });
  })
  .listen('127.0.0.1', 0, (socket) => console.log(`port ${uws.us_socket_local_port(socket)}`));
