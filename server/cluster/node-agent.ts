// Opens connections to other nodes. Each connection begins with a greeting, in which the other end proves
// that it is a node of this cluster at the dialled address. Invariant: a connection that is handed out has
// passed the greeting, or belongs to an older version while such nodes are still allowed. An address that
// fails receives no request.
import { readFileSync } from 'node:fs';
import { Agent as PlainAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { NodeProof, Peer, Welcome } from './node-auth.js';

/** Path at which a node answers greetings with challenges. */
export const helloPath = '/_admin/cluster-hello';

/** Milliseconds for connecting and for the answer to the greeting. */
const greetMs = 5_000;
/** Maximum bytes of the answer to a greeting. */
const welcomeMax = 4_096;

/** Thrown if no request was sent: the connection failed, or the other end is not trusted. */
export class UnreachedError extends Error {}

/** Target of a connection. */
export interface Dialled {
  address: string;
  headers: Record<string, string>;
}

export interface ProvedAgentOptions {
  secure: boolean;
  ca?: string;
  /** Proof of this node. Without it, no greeting is sent. */
  proof?: NodeProof | undefined;
  /** Called with the identity that the other end has just proved. */
  onPeer: (address: string, peer: Peer, takesEmbeddings: boolean) => void;
  /** Called if the other end did not prove its identity. No request is then sent to it. */
  onUnproved: (address: string, why: string) => void;
}

type Handed = (error: Error | null, socket?: Socket) => void;

/** Reads a response of at most `max` bytes. Fails if there are more. */
export async function boundedBody(response: IncomingMessage, max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > max) {
      response.destroy();
      throw new RangeError(`a node has answered more than the ${max} bytes that it was asked for`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns an agent for `request` of `node:http` or `node:https`, whose options include `dialled`.
 */
export function provedAgent(options: ProvedAgentOptions): PlainAgent | TlsAgent {
  const { secure, ca, proof } = options;
  // The values of Node's global agent. A server announces how long it keeps a connection.
  const shared = { keepAlive: true, timeout: 5000, maxSockets: 256 };
  const agent = secure
    ? new TlsAgent({ ...shared, ...(ca && { ca: readFileSync(ca) }) })
    : new PlainAgent(shared);
  if (proof === undefined) return agent;
  const dial = agent.createConnection.bind(agent) as (options: object) => Socket;
  const connect = (socketOptions: { dialled: Dialled }, handed: Handed): undefined => {
    const socket = dial(socketOptions);
    const late = setTimeout(
      () => socket.destroy(new UnreachedError('it does not answer')),
      greetMs,
    );
    const fail = (error: Error): void => {
      clearTimeout(late);
      socket.destroy();
      handed(new UnreachedError(error.message, { cause: error }));
    };
    socket.once('error', fail);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail);
      greetOver(socket, socketOptions.dialled, proof, options).then(() => {
        clearTimeout(late);
        handed(null, socket);
      }, fail);
    });
    return undefined;
  };
  return Object.assign(agent, { createConnection: connect });
}

/** Sends the greeting and checks the answer. Fails if the other end may receive no request. */
async function greetOver(
  socket: Socket,
  { address, headers }: Dialled,
  proof: NodeProof,
  { onPeer, onUnproved }: ProvedAgentOptions,
): Promise<void> {
  const greeting = proof.greet(address);
  const reply = await post(socket, { address, headers }, Buffer.from(JSON.stringify(greeting)));
  const welcome = welcomeIn(reply);
  const peer = proof.peerOf(greeting, welcome ?? { challenge: '' });
  if (!peer.isProved && (proof.isStrict() || welcome?.node !== undefined)) {
    const why =
      welcome?.node === undefined
        ? 'it does not prove that it is a node of this cluster'
        : `it is the node ${JSON.stringify(welcome.node)}, which knows none of our secrets or is reached at another address`;
    onUnproved(address, why);
    throw new UnreachedError(why);
  }
  if (welcome !== undefined) onPeer(address, peer, welcome.embeddings === true);
}

type WelcomeBody = Welcome & { embeddings?: boolean };

/** Reads the answer to a greeting. Returns undefined if no node would send it. */
export function welcomeIn(body: Buffer): WelcomeBody | undefined {
  try {
    const { challenge, node, key, proof, embeddings } = JSON.parse(body.toString()) as WelcomeBody;
    const isKnown = [node, key, proof].every((one) => one === undefined || typeof one === 'string');
    if (typeof challenge !== 'string' || !isKnown) return undefined;
    return {
      challenge,
      ...(node !== undefined && { node }),
      ...(key !== undefined && { key }),
      ...(proof !== undefined && { proof }),
      embeddings: embeddings === true,
    };
  } catch {
    return undefined;
  }
}

/**
 * Sends one request on a connection that no other request uses. The connection is free again when this
 * resolves.
 */
function post(socket: Socket, { address, headers }: Dialled, body: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = requestPlain({
      method: 'POST',
      path: helloPath,
      createConnection: () => socket,
      headers: {
        ...headers,
        Host: address,
        Connection: 'keep-alive',
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      },
    });
    let reply: Promise<Buffer> | undefined;
    request.once('response', (response) => {
      reply = boundedBody(response, welcomeMax);
      reply.catch(reject);
    });
    request.once('error', reject);
    // A node that closes the connection after its response leaves none for the request.
    socket.once('close', () => reject(new UnreachedError('it has closed the connection')));
    socket.once('free', () => reply?.then(resolve, reject));
    request.end(body);
  });
}
