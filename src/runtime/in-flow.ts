import type { FlowNode, Red } from './node-red';

/**
 * Whether a node that closes is in the flows that are deployed: one that is disabled is, and so is one of a subflow as
 * long as the subflow has it and the instance is there.
 */
export function isInFlow(red: Red, { id, z, _alias: alias }: FlowNode & { _alias?: string }): boolean {
  const ids = new Set<string>();
  red.nodes.eachNode((def) => ids.add(def.id));
  return ids.has(id) || (alias !== undefined && ids.has(alias) && ids.has(z));
}
