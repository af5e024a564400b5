import type { FlowNode, Red } from '../node-red';

type Events = Red['events'];

/**
 * The steps that wait, by what emits. One listener serves all nodes: with one each, Node.js would warn of a leak from
 * the eleventh node of a flow on.
 */
const waiting = new WeakMap<Events, Set<() => void>>();

function stepsOf(events: Events): Set<() => void> {
  const known = waiting.get(events);
  if (known !== undefined) {
    return known;
  }
  const steps = new Set<() => void>();
  waiting.set(events, steps);
  events.on('flows:started', () => {
    const due = [...steps];
    steps.clear();
    for (const step of due) {
      step();
    }
  });
  return steps;
}

/** Runs a step once the flows have started and all nodes exist, unless the node closes first. */
export function whenStarted(red: Red, node: FlowNode, step: () => void): void {
  const steps = stepsOf(red.events);
  // Its own, so that two calls with one function are two steps.
  const own = (): void => step();
  steps.add(own);
  node.on('close', () => {
    steps.delete(own);
  });
}
