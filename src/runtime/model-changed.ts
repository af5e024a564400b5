import type { FlowNode, Red } from './node-red';

const TOPIC = 'tabular-prediction/changed';
/** Editors hear of changes at most this often, milliseconds. */
const EVERY = 1000;

/** What has changed since editors were told last. */
interface Untold {
  models: Set<string>;
  nodes: Set<string>;
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
 * to every editor, whatever its rights, so it holds no values: {model, revision}; `model` is left out where several changed.
 */
export function modelChanged(red: Red, model: string): void {
  listeners.forEach((listener) => listener(model));
  changed(red).models.add(model);
}

/** Tells open editors that what an anomaly node knows has changed: {node, revision}, as `modelChanged` does. */
export function nodeChanged(red: Red, id: string): void {
  changed(red).nodes.add(id);
}

/** What is told soon. */
function changed(red: Red): Untold {
  const waiting = untold.get(red) ?? { models: new Set(), nodes: new Set(), last: -Infinity };
  untold.set(red, waiting);
  waiting.timer ??= setTimeout(
    () => publish(red, waiting),
    Math.max(0, waiting.last + EVERY - Date.now()),
  ).unref();
  return waiting;
}

function publish(red: Red, waiting: Untold): void {
  const isOne = waiting.models.size + waiting.nodes.size === 1;
  const [model] = isOne ? waiting.models : [];
  const [node] = isOne ? waiting.nodes : [];
  untold.set(red, { models: new Set(), nodes: new Set(), last: Date.now() });
  revision++;
  const named = { ...(model !== undefined && { model }), ...(node !== undefined && { node }) };
  red.comms.publish(TOPIC, { ...named, revision }, false);
}
