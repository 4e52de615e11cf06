// Actions of operators and nodes on the membership and the retention of the log: `POST
// /_admin/cluster-<word>`. Invariant: a node that has left returns only by joining without data.
import {
  type ClusterNode,
  type JsonView,
  type Limits,
  excerpt,
  fail,
  scanBody,
} from '../../../engine/internal.js';
import type { Action } from '../../handlers/admin-handler.js';
import type { NodeCopies } from './node-copies.js';
import type { ConsistencyChecks } from './consistency-check.js';
import type { Roster, Self } from './known-nodes.js';
import { type ClusterSettings, readSettings } from './settings.js';

export interface MembershipActionsOptions {
  node: () => ClusterNode | undefined;
  settings: ClusterSettings;
  copies: NodeCopies;
  checks: ConsistencyChecks;
  roster: Roster;
  /** Address at which the other nodes reach this one. */
  address: string;
  limits: Limits;
}

const nameMax = 300;
/** Maximum number of secrets that a node may report. Real nodes have fewer. */
const keysMax = 100;

export function membershipActions(options: MembershipActionsOptions): [string, Action][] {
  const { settings, copies, checks, roster, limits, address, node: nodeOf } = options;
  const node = (): ClusterNode => nodeOf() ?? fail('FEATURE_DISABLED', { feature: 'A cluster' });
  const hasLeft = (name: string): boolean => (readSettings(node()).left ?? []).includes(name);
  return [
    ['cluster-leave', (params) => settings.leave(nameIn(params, 'node'))],
    ['cluster-forget', (params) => settings.unmark(nameIn(params, 'backup'))],
    [
      'cluster-mark',
      (_, body) => {
        const view = scanBody(body, limits);
        const [backup, seq] = [textOf(view, 'backup'), numberOf(view, 'seq')];
        const epoch = view.member('epoch') === undefined ? 0 : numberOf(view, 'epoch');
        return settings.mark({ backup, seq, epoch });
      },
    ],
    ['cluster-self', () => ({ node: node().node, boot: roster.boot })],
    ['cluster-check', () => checks.run(node(), readSettings(node()).left ?? [])],
    [
      'cluster-checked',
      (_, body) => {
        const view = scanBody(body, limits);
        checks.note(textOf(view, 'check'), textOf(view, 'node'), textOf(view, 'tables'));
      },
    ],
    [
      'cluster-claim',
      async (_, body) => {
        const view = scanBody(body, limits);
        const name = textOf(view, 'node');
        if (hasLeft(name)) fail('NODE_LEFT', { node: name });
        const seq = numberOf(view, 'seq');
        const self = selfIn(view);
        if (self !== undefined) await roster.checkName(self, { node: node().node, address });
        node().claim(name, seq, keysIn(view));
        if (self !== undefined) roster.checkAlike(self);
      },
    ],
    [
      'cluster-copy',
      async (_, body) => {
        const view = scanBody(body, limits);
        const name = view.member('node') === undefined ? '' : textOf(view, 'node');
        const joins = view.member('joins')?.boolean() === true;
        const self = selfIn(view);
        if (self !== undefined) await roster.checkName(self, { node: node().node, address });
        if (self !== undefined && joins) roster.checkAlike(self);
        if (name !== '' && hasLeft(name)) {
          if (!joins) fail('NODE_LEFT', { node: name });
          await settings.rejoin(name);
        }
        return copies.begin();
      },
    ],
  ];
}

function nameIn(params: URLSearchParams, param: string): string {
  const name = params.get(param) ?? '';
  if (name === '') fail('PARAM_MISSING', { owner: 'cluster', param, type: 'String' });
  if (name.length > nameMax)
    fail('PARAM_VALUE', { param, allowed: `of at most ${nameMax} characters`, got: excerpt(name) });
  return name;
}

/** Returns the ids of the secrets that a node has. Older versions report none. */
function keysIn(view: JsonView): number[] {
  const list = view.member('keys');
  if (list?.kind !== 'array') return [];
  const max = Math.min(list.length, keysMax);
  return Array.from({ length: max }, (_, i) => list.at(i)).flatMap((value) =>
    value.kind === 'number' && value.integral ? [Number(value.token())] : [],
  );
}

function textOf(view: JsonView, param: string): string {
  const value = view.member(param);
  if (value?.kind === 'string') return value.text();
  return fail('PARAM_MISSING', { owner: 'cluster', param, type: 'String' });
}

function numberOf(view: JsonView, param: string): number {
  const value = view.member(param);
  if (value?.kind === 'number' && value.integral) return Number(value.token());
  return fail('PARAM_MISSING', { owner: 'cluster', param, type: 'I64' });
}

/** Returns the identity in a request, or undefined for a version that does not report it. */
function selfIn(view: JsonView): Self | undefined {
  const alikeView = view.member('alike');
  if (alikeView?.kind !== 'object') return undefined;
  const alike = Object.fromEntries(alikeView.names().map((key) => [key, textOf(alikeView, key)]));
  const [node, address, boot] = ['node', 'address', 'boot'].map((name) => textOf(view, name));
  return { node: node!, address: address!, boot: boot!, alike };
}
