import type { NodeAPI } from 'node-red';

import type { AnomalyDef } from '../src/runtime/anomaly/keeper';
import { tableReader } from '../src/runtime/input/table-input';
import { anomalyNodes } from '../src/runtime/load';
import { handleMessages, oneByOne } from '../src/runtime/messages/message-handler';
import { nodeChanged } from '../src/runtime/model-changed';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';

/** tabular-anomaly: readings in; readings with what is unusual of them, and changes, out. */
module.exports = function (RED: NodeAPI): void {
  function TabularAnomaly(this: FlowNode, def: AnomalyDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const {
      AnomalyAnswers,
      AnomalyKeeper,
      MixedTopics,
      ReadMessages,
      anomalyRequest,
      keptAnomalies,
      showInSidebar,
      showKept,
    } = anomalyNodes();
    const table = tableReader(runtime, { allowMissing: true, readings: def.shape === 'auto' });
    const messages = new ReadMessages(runtime, table);
    const topics = new MixedTopics(runtime);
    const keeper = new AnomalyKeeper(runtime, (change) => {
      this.send([null, answers.changes([change])]);
      answers.showNow();
      nodeChanged(RED, this.id, true);
    });
    const answers = new AnomalyAnswers(runtime, keeper, messages);
    showKept(runtime, keeper, (opened) => keptAnomalies(RED, opened));
    showInSidebar(runtime, keeper);
    handleMessages(runtime, {
      ...oneByOne(keeper),
      // All of it one message after the other: a reading changes what is usual for the next one.
      read: async (msg, work) => {
        const request = await anomalyRequest(runtime, messages, msg);
        if (request.kind === 'reading' || request.kind === 'readings') {
          topics.look(request, msg);
        }
        return answers.answer(request, msg, work);
      },
    });
  }
  RED.nodes.registerType('tabular-anomaly', TabularAnomaly);
};
