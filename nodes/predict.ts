import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import { type PredictDef, PredictNode } from '../src/runtime/requests/predict';

/** tabular-predict: rows in, the same rows with their predictions out. */
module.exports = function (RED: NodeAPI): void {
  function TabularPredict(this: FlowNode, def: PredictDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    handleMessages(runtime, new PredictNode(runtime, useConfig(runtime)));
  }
  RED.nodes.registerType('tabular-predict', TabularPredict);
};
