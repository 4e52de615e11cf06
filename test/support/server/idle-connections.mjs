// Connections that do nothing, in a process of their own: what their client has to keep in mind is no part of what
// another client of the server measures. Told a port and how many; says 'open', and at 'closed?' how many the
// server has closed by then. Ends with its channel.
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
let closed = 0;

const openOne = () =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', resolve).on('error', reject).resume();
    socket.on('close', () => closed++);
  });

for (let open = 0; open < count; open += 100)
  await Promise.all(Array.from({ length: Math.min(100, count - open) }, openOne));
process.on('message', () => process.send(closed));
process.on('disconnect', () => process.exit());
process.send('open');
