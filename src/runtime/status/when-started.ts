import type { FlowNode, Red } from '../node-red';

/** Runs a step once the flows have started and all nodes exist, unless the node closes first. */
export function whenStarted(red: Red, node: FlowNode, step: () => void): void {
  const started = (): void => {
    red.events.off('flows:started', started);
    step();
  };
  red.events.on('flows:started', started);
  node.on('close', () => {
    red.events.off('flows:started', started);
  });
}
