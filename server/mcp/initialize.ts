// Handles discovery, and the handshake of older revisions. Both describe the server in the same way, in every
// state of the server.
import { agreedVersion, servedVersions } from './message/protocol-version.js';
import { type Answer, type MethodCall, membersOf, type Methods } from './message/method.js';
import { textParameter } from './message/json-rpc.js';

/** `prefix`: beginning of the names of all tools. */
const instructionsWith = (prefix: string): string =>
  'A graph and vector database. Tools are its stored queries, and tools that walk the graph: start ' +
  `with ${prefix}n_from_type or a search, go on with ${prefix}out_step and ${prefix}in_step, ` +
  `read with ${prefix}collect. The resource trellis://schema.md says what there is.`;

/** Notifications come by `subscriptions/listen`, which older revisions do not know. */
const legacyCapabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
};

/** `prefix`: beginning of the names of all tools. */
export function greetings(version: string, prefix: string): Methods {
  const instructions = instructionsWith(prefix);
  return [
    ['server/discover', { era: 'modern', answer: () => discovery(instructions) }],
    ['initialize', { era: 'legacy', answer: (call) => handshake(call, version, instructions) }],
    ['ping', { era: 'legacy', answer: () => ({ members: '' }) }],
  ];
}

function discovery(instructions: string): Answer {
  const found = { supportedVersions: servedVersions, capabilities, instructions };
  return { members: membersOf(found), keep: 'always' };
}

function handshake({ frame }: MethodCall, version: string, instructions: string): Answer {
  const protocolVersion = agreedVersion(textParameter(frame, 'protocolVersion'));
  const serverInfo = { name: 'trellisdb', version };
  const greeting = { protocolVersion, capabilities: legacyCapabilities, serverInfo, instructions };
  return { members: membersOf(greeting) };
}
