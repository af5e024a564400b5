import type { Node, NodeAPI, NodeDef, NodeMessageInFlow } from 'node-red';

/** Node-RED's own types under the names the house uses. Nothing below runtime knows them. */
export type Red = NodeAPI;
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- as @types/node-red bounds it
export type FlowNode<Credentials extends {} = {}> = Node<Credentials>;
export type FlowNodeDef = NodeDef;
export type Message = NodeMessageInFlow;

/** Namespace of the catalogue that all six nodes share (it belongs to the config node's set). */
export const SHARED_CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config';

/** A text of the shared catalogue in the runtime's language. */
export function text(red: Red, key: string, values?: Record<string, string | number>): string {
  return red._(`${SHARED_CATALOGUE}:${key}`, values);
}
