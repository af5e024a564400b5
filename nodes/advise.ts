import type { NodeAPI } from 'node-red';

import type { AdviseDef } from '../src/runtime/advise';
import { useConfig } from '../src/runtime/config/config-state';
import { tableReader } from '../src/runtime/input/table-input';
import { adviseNodes } from '../src/runtime/load';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';

/** tabular-advise: a row in; which setting to change, and by how much, out. */
module.exports = function (RED: NodeAPI): void {
  function TabularAdvise(this: FlowNode, def: AdviseDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const { AdviceAnswers, adviseRequest } = adviseNodes();
    const config = useConfig(runtime);
    const table = tableReader(runtime, { source: 'value', flat: true });
    const answers = new AdviceAnswers(runtime, config, table);
    handleMessages(runtime, {
      secrets: () => config.secrets(),
      read: (msg) => adviseRequest(runtime, table, msg),
      run: (request, msg, work) => answers.answer(request, msg, work),
      close: () => answers.close(),
    });
  }
  RED.nodes.registerType('tabular-advise', TabularAdvise);
};
