/* What the benches of streams need of a real Node-RED. */
import type { FlowNode, RealNodeRed } from '../../test/helpers/node-red';

/** A function node of the tab `z` with one wire. */
export function functionNode(z: string, id: string, func: string, next: string): FlowNode {
  return { id, type: 'function', z, func, outputs: 1, libs: [], wires: [[next]] };
}

/** CPU time that Node-RED has taken so far, all its threads together. */
export async function cpuMs(red: RealNodeRed): Promise<number> {
  return ((await (await fetch(`${red.url}/stream/process`)).json()) as { cpuMs: number }).cpuMs;
}
