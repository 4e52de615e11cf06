// Generates chains of session calls over a world of the oracle. The tools create the plans, the engine and
// the oracle run them over the traversal, and both must return and keep the same.
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { ItemList } from '../../../engine/exec/runtime/execute.js';
import { scanBody } from '../../../engine/json/decode.js';
import { prepare, createToolbox } from '../../../engine/session/tool/prepare.js';
import type { Traversal } from '../../../engine/session/session.js';
import type { Work } from '../../../engine/session/tool-context.js';
import { propertyTypes, strayIds, valueTexts, vectorTexts } from './oracle-schema.js';
import { Item } from './oracle-value.js';
import type { World } from './oracle-world.js';

const operators = ['==', '!=', '>', '>=', '<', '<='];
const implicit = ['id', 'label', 'score', 'from_node'];

/** A chain of `count` calls; the first disagreement, if any. */
export function playSession(world: World, count: number): string | undefined {
  const toolbox = createToolbox(world.program, {
    limits: defaultLimits,
    textEnabled: true,
    schemaFormat: 'object',
  });
  let traversal: Traversal = { items: undefined, cursor: 0 } as Traversal;
  const done: string[] = [];
  for (let i = 0; i < count; i++) {
    const [tool, body] = randomCall(world, i === 0);
    done.push(`${tool} ${body}`);
    const work = attempt(() =>
      prepare(tool, scanBody(Buffer.from(body), defaultLimits), { id: 'c', traversal }, toolbox),
    );
    if (work === undefined || work.kind !== 'run' || work.embed !== undefined) continue;
    const list: ItemList = traversal.items ?? { ids: new Uint32Array(0) };
    const rows = Array.from(list.ids, (id, at) => itemOf(world, list, id, at)).filter(isItem);
    const wrong = world.compare(work.plan, work.plan, work.args, { list, rows });
    if (wrong !== undefined) return `${done.join('\n')}\n${wrong}`;
    traversal = { items: next(world, work, list, traversal.items), cursor: 0 } as Traversal;
  }
  return undefined;
}

const isItem = (item: Item | undefined): item is Item => item !== undefined;

function attempt(work: () => Work): Work | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof TrellisError) return undefined;
    throw error;
  }
}

function itemOf(world: World, { scores }: ItemList, id: number, at: number): Item | undefined {
  const element = world.graph.find(world.engine.uuidOf(id));
  if (element === undefined) return undefined;
  const [score, distance] = scores ? [scores[2 * at]!, scores[2 * at + 1]!] : [];
  const given = (value: number | undefined) =>
    Number.isNaN(value ?? Number.NaN) ? undefined : value;
  return new Item(element, given(score), given(distance));
}

/** The traversal after a call that succeeded, or the one before it. */
function next(
  world: World,
  work: Extract<Work, { kind: 'run' }>,
  list: ItemList,
  before: ItemList | undefined,
) {
  if (work.after === 'keep') return before;
  if (work.after === 'blank') return undefined;
  try {
    return world.engine.read({ plan: work.plan, args: work.args, items: list }).items ?? before;
  } catch (error) {
    if (error instanceof TrellisError) return before;
    throw error;
  }
}

function randomCall({ random, types }: World, isFirst: boolean): [tool: string, body: string] {
  const named = (kind: string) =>
    types.filter((type) => type.kind === kind).map(({ name }) => name);
  const edge = JSON.stringify(random.pick(named('E')));
  const node = JSON.stringify(random.pick(named('N')));
  if (isFirst || random.chance(0.1)) {
    return random.pick<[string, string]>([
      ['n_from_type', `{"data":{"node_type":${node}}}`],
      ['e_from_type', `{"data":{"edge_type":${edge}}}`],
      ['search_vector', `{"data":{"vector":${random.pick(vectorTexts)},"k":3,"min_score":-1}}`],
      ['search_keyword', `{"data":{"query":"fern","label":${node},"limit":3}}`],
    ]);
  }
  const reach = random.pick(['', '', ',"edge_type":"node"', ',"edge_type":"vec"']);
  const keys = random.some([...Object.keys(propertyTypes), ...implicit], 0.1);
  return random.pick<() => [string, string]>([
    () => [random.pick(['out_step', 'in_step']), `{"data":{"edge_label":${edge}${reach}}}`],
    () => [random.pick(['out_step', 'in_step']), `{"data":{"edge_label":${edge}}}`],
    () => [random.pick(['out_e_step', 'in_e_step']), `{"data":{"edge_label":${edge}}}`],
    () => ['filter_items', `{"data":{"filter":${layer(random, edge, 2)}}}`],
    () => ['filter_items', `{"data":{"filter":${layer(random, edge, 1)}}}`],
    () => [
      'order_by',
      JSON.stringify({ data: { properties: keys, order: random.pick(['asc', 'desc']) } }),
    ],
    () => [random.pick(['group_by', 'aggregate_by']), JSON.stringify({ properties: keys })],
    () => ['search_vector', `{"data":{"vector":${random.pick(vectorTexts)},"k":2}}`],
    () => [
      'collect',
      `{"range":{"start":${random.below(3)},"end":${random.pick([-1, 2, 9])}},"drop":false}`,
    ],
  ])();
}

function layer(random: World['random'], edge: string, depth: number): string {
  const group = () =>
    `[${Array.from({ length: 1 + random.below(2) }, () => filter(random)).join()}]`;
  const properties = `"properties":[${random.pick([group(), `${group()},${group()}`])}]`;
  if (depth === 0 || random.chance(0.6)) return `{${properties}}`;
  const tool = random.pick(['out_step', 'in_step', 'out_e_step', 'in_e_step']);
  const inner = random.chance(0.6) ? `,"filter":${layer(random, edge, depth - 1)}` : '';
  const traversal = `{"tool_name":"${tool}","args":{"edge_label":${edge}${inner}}}`;
  return `{${random.chance(0.5) ? `${properties},` : ''}"filter_traversals":[${traversal}]}`;
}

function filter(random: World['random']): string {
  const key = random.pick([...Object.keys(propertyTypes), ...implicit]);
  const type = (propertyTypes[key] ?? 'ID').replace(/[[\]]/g, '');
  const texts = [
    ...valueTexts[type]!,
    'null',
    ...(type === 'ID' ? [JSON.stringify(strayIds[0])] : []),
  ];
  if (/^[IUF]/.test(type)) texts.push('"2.5"', '1e3', '"-7"', '9007199254740993', '1');
  const value = random.chance(0.3) ? `[${random.some(texts, 0.3).join()}]` : random.pick(texts);
  return `{"key":"${key}","operator":"${random.pick(operators)}","value":${value}}`;
}
