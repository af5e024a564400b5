import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { tableReader } from '../src/runtime/input/table-input';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import { limitsCheck, type LimitsDef, usedTokens } from '../src/runtime/requests/cost';

/** tabular-limits: the service's limits, and which of them a table goes beyond. */
module.exports = function (RED: NodeAPI): void {
  function TabularLimits(this: FlowNode, def: LimitsDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const config = useConfig(runtime);
    const table = tableReader(runtime, { flat: true });
    handleMessages(runtime, {
      secrets: () => config.secrets(),
      read: (msg) => limitsCheck(runtime, table, msg),
      run: async (check, msg, work) => {
        const connection = config.connection();
        const limits = await connection.limits(work.hooks);
        const allowance = await connection.allowance(work.hooks);
        msg.limits = { ...limits, ...allowance };
        delete msg.limits_exceeded;
        const exceeded = check === undefined ? [] : await connection.checkLimits(check, work.hooks);
        if (exceeded.length === 0) {
          const used = check === undefined ? usedTokens(allowance.usage) : undefined;
          if (used !== undefined) {
            work.status.show('ready', used.key, used.values);
          } else if (Object.keys(limits).length === 0) {
            // A wrong API name looks like this too.
            work.status.show('doubtful', 'limits.none');
          } else {
            work.status.show('ready', check === undefined ? 'limits.known' : 'limits.within');
          }
          return [msg, null];
        }
        msg.limits_exceeded = exceeded;
        work.status.show('waiting', 'limits.exceeded', { count: exceeded.length });
        return [null, msg];
      },
    });
  }
  RED.nodes.registerType('tabular-limits', TabularLimits);
};
