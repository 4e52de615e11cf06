// Connections to other nodes. Each is greeted before anything else travels on it: who is at its other end proves to be
// a node of this cluster, at the address that was dialled, or hears nothing. Invariant: what is handed out has proved
// itself, or is of a version that cannot while such nodes are still there; whoever fails was told no request.
import { readFileSync } from 'node:fs';
import { Agent as PlainAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { NodeProof, Peer, Welcome } from './node-auth.js';

/** Where a node gives challenges. */
export const helloPath = '/_admin/cluster-hello';

/** How long a connection may take, and the answer to its greeting. */
const greetMs = 5_000;
/** What a node may say to a greeting. */
const welcomeMost = 4_096;

/** Nothing was asked: there is no connection, or nobody at its end who may be told anything. */
export class UnreachedError extends Error {}

/** Of what it is a connection. */
export interface Dialled {
  address: string;
  headers: Record<string, string>;
}

export interface ProvedAgentOptions {
  secure: boolean;
  ca?: string;
  /** Of this node; without one nobody is greeted. */
  proof?: NodeProof | undefined;
  /** Who is at the other end, as it has answered just now. */
  onPeer: (address: string, peer: Peer, takesEmbeddings: boolean) => void;
  /** Somebody did not prove anything, and is told nothing. */
  onUnproved: (address: string, why: string) => void;
}

type Handed = (error: Error | null, socket?: Socket) => void;

/** Reads at most `most` bytes of an answer; fails where there is more. */
export async function boundedBody(response: IncomingMessage, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response) {
    size += (piece as Buffer).length;
    if (size > most) {
      response.destroy();
      throw new RangeError(`a node has answered more than the ${most} bytes that it was asked for`);
    }
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** An agent for `request` of `node:http` or `node:https`, whose options say `dialled`. */
export function provedAgent(options: ProvedAgentOptions): PlainAgent | TlsAgent {
  const { secure, ca, proof } = options;
  // As Node's own; a server tells how long it keeps a connection.
  const shared = { keepAlive: true, timeout: 5000, maxSockets: 256 };
  const agent = secure
    ? new TlsAgent({ ...shared, ...(ca && { ca: readFileSync(ca) }) })
    : new PlainAgent(shared);
  if (proof === undefined) return agent;
  const dial = agent.createConnection.bind(agent) as (options: object) => Socket;
  const connect = (given: { dialled: Dialled }, handed: Handed): undefined => {
    const socket = dial(given);
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
      greetOver(socket, given.dialled, proof, options).then(() => {
        clearTimeout(late);
        handed(null, socket);
      }, fail);
    });
    return undefined;
  };
  return Object.assign(agent, { createConnection: connect });
}

/** Fails where whoever is there may be told nothing. */
async function greetOver(
  socket: Socket,
  { address, headers }: Dialled,
  proof: NodeProof,
  { onPeer, onUnproved }: ProvedAgentOptions,
): Promise<void> {
  const greeting = proof.greet(address);
  const said = await post(socket, { address, headers }, Buffer.from(JSON.stringify(greeting)));
  const welcome = welcomeIn(said);
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

type Told = Welcome & { embeddings?: boolean };

/** Undefined: no node says that. */
export function welcomeIn(body: Buffer): Told | undefined {
  try {
    const { challenge, node, key, proof, embeddings } = JSON.parse(body.toString()) as Told;
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

/** One request on a connection that nobody else has yet, and that is free again when this resolves. */
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
    let told: Promise<Buffer> | undefined;
    request.once('response', (response) => {
      told = boundedBody(response, welcomeMost);
      told.catch(reject);
    });
    request.once('error', reject);
    // Whoever closes it behind its answer leaves none to ask.
    socket.once('close', () => reject(new UnreachedError('it has closed the connection')));
    socket.once('free', () => told?.then(resolve, reject));
    request.end(body);
  });
}
