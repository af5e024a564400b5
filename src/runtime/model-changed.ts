import type { FlowNode, Red } from './node-red';

const TOPIC = 'tabular-prediction/changed';
/** Editors hear of changes at most this often, milliseconds. */
const EVERY = 1000;

let revision = 0;
let changed = new Set<string>();
let timer: NodeJS.Timeout | undefined;
let last = -Infinity;

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
  changed.add(model);
  timer ??= setTimeout(() => publish(red), Math.max(0, last + EVERY - Date.now())).unref();
}

function publish(red: Red): void {
  timer = undefined;
  last = Date.now();
  revision++;
  const [model] = changed.size === 1 ? changed : [];
  changed = new Set();
  red.comms.publish(TOPIC, model === undefined ? { revision } : { model, revision }, false);
}
