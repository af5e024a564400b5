import type { FlowNode, Red } from './node-red';

const TOPIC = 'tabular-prediction/changed';
/** Editors hear of changes at most this often, milliseconds. */
const EVERY = 1000;

/** What has changed since editors were told last. */
interface Untold {
  models: Set<string>;
  nodes: Set<string>;
  /** Whether the list of machines shows what has changed. */
  isListed: boolean;
  timer?: NodeJS.Timeout;
  last: number;
}

let revision = 0;
const untold = new WeakMap<Red, Untold>();

const listeners = new Set<(model: string) => void>();

/** Calls `listener` with the name of each model that changes, at once, until the node closes. */
export function onModelChanged(node: FlowNode, listener: (model: string) => void): void {
  listeners.add(listener);
  node.on('close', () => {
    listeners.delete(listener);
  });
}

/**
 * Tells nodes and open editors that a model has changed: fitted, renamed, rolled back, scored by a watch. The notice goes
 * to every editor, whatever its rights, so it holds no values: {model, models: true, revision}; `model` is left out where
 * several changed.
 */
export function modelChanged(red: Red, model: string): void {
  listeners.forEach((listener) => listener(model));
  changed(red).models.add(model);
}

/**
 * Tells open editors that what an anomaly node knows has changed: {node, machines: true, revision}, as `modelChanged` does.
 *
 * @param isListed whether the list of machines shows it: `machines` is left out where it does not
 */
export function nodeChanged(red: Red, id: string, isListed: boolean): void {
  const waiting = changed(red);
  waiting.nodes.add(id);
  waiting.isListed ||= isListed;
}

/** What is told soon. */
function changed(red: Red): Untold {
  const waiting = untold.get(red) ?? { ...nothing(), last: -Infinity };
  untold.set(red, waiting);
  waiting.timer ??= setTimeout(
    () => publish(red, waiting),
    Math.max(0, waiting.last + EVERY - performance.now()),
  ).unref();
  return waiting;
}

function nothing(): Omit<Untold, 'last'> {
  return { models: new Set(), nodes: new Set(), isListed: false };
}

function publish(red: Red, waiting: Untold): void {
  const isOne = waiting.models.size + waiting.nodes.size === 1;
  const [model] = isOne ? waiting.models : [];
  const [node] = isOne ? waiting.nodes : [];
  untold.set(red, { ...nothing(), last: performance.now() });
  revision++;
  const told = {
    ...(model !== undefined && { model }),
    ...(node !== undefined && { node }),
    ...(waiting.models.size > 0 && { models: true }),
    ...(waiting.isListed && { machines: true }),
  };
  red.comms.publish(TOPIC, { ...told, revision }, false);
}

/**
 * Whether a node that closes is in the flows that are deployed: one that is disabled is, and so is one of a subflow as
 * long as the subflow has it and the instance is there.
 */
export function isInFlow(red: Red, { id, z, _alias: alias }: FlowNode & { _alias?: string }): boolean {
  const ids = new Set<string>();
  red.nodes.eachNode((def) => ids.add(def.id));
  return ids.has(id) || (alias !== undefined && ids.has(alias) && ids.has(z));
}
