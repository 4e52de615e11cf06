// A proxy that mounts a server under a path, as people put it behind one they have.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `path` begins and ends with a slash; `origin` is that of the mounted server, without the last slash. */
export async function mount(
  port: number,
  path: string,
): Promise<{ origin: string; close: () => void }> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(path)) {
      outgoing.writeHead(404).end();
      return;
    }
    const to = { port, method, path: url.slice(path.length - 1), headers };
    const passed = request({ ...to, headers: { ...headers, host: `127.0.0.1:${port}` } });
    passed.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    // The browser names the proxy as the origin of its requests; a proxy speaks for it.
    passed.removeHeader('origin');
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port: own } = proxy.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${own}${path.slice(0, -1)}`,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
