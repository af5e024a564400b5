import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { tableReader } from '../src/runtime/input/table-input';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import { type CostDef, costRequest } from '../src/runtime/requests/cost';

/** tabular-cost: what an operation would cost, before any data is sent. */
module.exports = function (RED: NodeAPI): void {
  function TabularCost(this: FlowNode, def: CostDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const config = useConfig(runtime);
    const table = tableReader(runtime, { allowMissing: true });
    handleMessages(runtime, {
      secrets: () => config.secrets(),
      read: (msg) => costRequest(runtime, table, msg),
      run: async (request, msg, work) => {
        msg.estimated_cost = await config.connection().estimateCost(request, work.hooks);
        work.status.show('ready', 'cost', { tokens: String(msg.estimated_cost) });
        return msg;
      },
    });
  }
  RED.nodes.registerType('tabular-cost', TabularCost);
};
