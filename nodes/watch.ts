import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { tableReader } from '../src/runtime/input/table-input';
import { watchNodes } from '../src/runtime/load';
import { handleMessages, oneByOne } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import type { WatchDef } from '../src/runtime/watch/request';

/** tabular-watch: predictions and their outcomes in; predictions with honest bands, and changes, out. */
module.exports = function (RED: NodeAPI): void {
  function TabularWatch(this: FlowNode, def: WatchDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const { WatchKeeper, followModel, showKeptWatch, watchAnswer, watchRequest } = watchNodes();
    const config = useConfig(runtime);
    const table = tableReader(runtime, { source: 'value', allowMissing: true });
    const keeper = new WatchKeeper(runtime, config);
    showKeptWatch(runtime, keeper);
    followModel(runtime, keeper);
    handleMessages(runtime, {
      ...oneByOne(keeper),
      secrets: () => config.secrets(),
      // All of it one message after the other: an outcome changes the bands of the next prediction.
      read: async (msg, work) => {
        await keeper.hear({ timezone: msg.timezone });
        const request = await watchRequest(runtime, table, msg);
        return watchAnswer({ runtime, keeper, table }, request, msg, work);
      },
    });
  }
  RED.nodes.registerType('tabular-watch', TabularWatch);
};
