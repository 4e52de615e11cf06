// A client process: sends one read after another on some connections, and prints how many were answered 200.
// Usage: node short-reads.mjs PORT KEY CONNECTIONS MILLISECONDS PATH BODY
import { connect } from 'node:net';

const [port, key, connections, ms, path, body] = process.argv.slice(2);
const head = [
  `POST /${path} HTTP/1.1`,
  'Host: 127.0.0.1',
  'Content-Type: application/json',
  `x-api-key: ${key}`,
  `Content-Length: ${body.length}`,
];
const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
const end = performance.now() + Number(ms);
let done = 0;

const drive = () =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    socket.on('connect', () => socket.write(request));
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1', 9, 12) === '200') done++;
      if (performance.now() < end) socket.write(request);
      else socket.destroy(resolve());
    });
  });

await Promise.all(Array.from({ length: Number(connections) }, drive));
process.stdout.write(String(done));
