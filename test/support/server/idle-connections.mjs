// Opens idle connections in a separate process, so that their client does not affect the measurements of
// another client. It receives a port and a number, prints 'open', and at 'closed?' the number of connections
// that the server has closed by then. It ends with its channel.
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
