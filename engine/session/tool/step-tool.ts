// The four steps: determines the edge, the direction and the reached kind.
import { excerpt, fail } from '../../base/errors.js';
import type { Step } from '../../plan/expression.js';
import { type Arguments, find, missing, optional } from '../argument/tool-argument.js';
import { readText } from '../argument/argument-value.js';
import { unknownType, type Vocabulary } from '../argument/vocabulary.js';

export const stepTools = ['out_step', 'in_step', 'out_e_step', 'in_e_step'] as const;

export type StepTool = (typeof stepTools)[number];
type FarKind = 'node' | 'vector';

export function isStepTool(tool: string): tool is StepTool {
  return (stepTools as readonly string[]).includes(tool);
}

const kindWords = new Map<string, FarKind>([
  ['node', 'node'],
  ['nodes', 'node'],
  ['vec', 'vector'],
  ['vector', 'vector'],
  ['vectors', 'vector'],
]);

const kindOf = (word: string | undefined): FarKind | undefined =>
  word === undefined ? undefined : kindWords.get(word.toLowerCase());

/** Returns the step of a tool call or a traversal filter. */
export function parseStep(tool: StepTool, args: Arguments, vocabulary: Vocabulary): Step {
  const direction = tool === 'out_step' || tool === 'out_e_step' ? 'out' : 'in';
  if (tool === 'out_e_step' || tool === 'in_e_step')
    return { kind: 'edges', direction, edges: [parseEdge(args, vocabulary)], turn: true };
  const { edge, farKind } = parseEdgeAndKind(args, vocabulary);
  const step: Step = { kind: 'neighbours', direction, edges: [edge] };
  // Without a kind the schema decides, and every far end has the one kind that it allows.
  if (farKind !== undefined) step.farKind = farKind;
  return step;
}

function readWord(args: Arguments, name: string): string | undefined {
  const view = optional(args, name);
  return view === undefined ? undefined : readText(view, name);
}

/** Accepts both orders of `edge_label` and `edge_type`, distinguished by their values. */
function parseEdgeAndKind(
  args: Arguments,
  { edges }: Vocabulary,
): { edge: string; farKind: FarKind | undefined } {
  const label = readWord(args, 'edge_label');
  const type = readWord(args, 'edge_type');
  const isEdge = (word: string | undefined): word is string =>
    word !== undefined && edges.has(word);
  const isKind = (word: string | undefined) => word === undefined || kindOf(word) !== undefined;
  if (isEdge(label) && isKind(type)) return { edge: label, farKind: kindOf(type) };
  if (isEdge(type) && isKind(label)) return { edge: type, farKind: kindOf(label) };
  if (isEdge(label) && isEdge(type)) {
    if (label === type) return { edge: label, farKind: undefined };
    const allowed = `\`node\`, \`vec\` or \`${label}\``;
    const path = find(args, 'edge_type')!.path;
    fail('PARAM_VALUE', { param: 'edge_type', allowed, got: excerpt(type) }, { path });
  }
  for (const [name, word] of [
    ['edge_label', label],
    ['edge_type', type],
  ] as const) {
    if (word !== undefined && !isEdge(word) && !isKind(word))
      unknownType('edge', word, edges.keys(), find(args, name)!.path);
  }
  missing(args, 'edge_label', 'an edge type');
}

/** Returns `edge_label`, or an `edge_type` that names the edge instead. */
function parseEdge(args: Arguments, { edges }: Vocabulary): string {
  const label = readWord(args, 'edge_label');
  if (label !== undefined && edges.has(label)) return label;
  const type = readWord(args, 'edge_type');
  if (type !== undefined && edges.has(type)) return type;
  const useType = label === undefined || (type !== undefined && kindOf(label) !== undefined);
  const [name, word] = useType ? (['edge_type', type] as const) : (['edge_label', label] as const);
  if (word === undefined) missing(args, 'edge_label', 'an edge type');
  unknownType('edge', word, edges.keys(), find(args, name)!.path);
}
