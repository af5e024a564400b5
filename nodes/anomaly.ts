import type { NodeAPI } from 'node-red';

import { anomalyNodes } from '../src/runtime/anomaly/load';
import type { AnomalyDef } from '../src/runtime/anomaly/types';
import { forgetColumns } from '../src/runtime/input/columns-seen';
import { tableReader } from '../src/runtime/input/table-input';
import { handleMessages } from '../src/runtime/messages/message-handler';
import { nodeChanged } from '../src/runtime/model-changed';
import type { FlowNode } from '../src/runtime/node-red';

/** tabular-anomaly: readings in; readings with what is unusual of them, and changes, out. */
module.exports = function (RED: NodeAPI): void {
  function TabularAnomaly(this: FlowNode, def: AnomalyDef): void {
    RED.nodes.createNode(this, def);
    const {
      AnomalyAnswers,
      AnomalyKeeper,
      ReadMessages,
      anomalyRequest,
      keptAnomalies,
      showInSidebar,
      showKept,
    } = anomalyNodes();
    const table = tableReader(RED, this, def, { allowMissing: true });
    const messages = new ReadMessages(RED, this, def);
    const keeper = new AnomalyKeeper(RED, this, def, (change) => {
      this.send([null, answers.changes([change])]);
      answers.showNow();
      nodeChanged(RED, this.id, true);
    });
    const answers = new AnomalyAnswers(RED, this, def, keeper, table, messages);
    showKept(RED, this, keeper, (opened) => keptAnomalies(RED, opened));
    showInSidebar(RED, this, keeper);
    handleMessages(this, RED, {
      // All of it one message after the other: a reading changes what is usual for the next one.
      read: async (msg, work) => {
        const request = await anomalyRequest(RED, this, def, table, messages, msg);
        return answers.answer(request, msg, work);
      },
      run: (output) => output,
      refuses: (underWay) => keeper.refuses(underWay),
      close: async (removed) => {
        await keeper.close();
        if (removed) {
          forgetColumns(this.id);
          messages.forget();
        }
      },
    });
  }
  RED.nodes.registerType('tabular-anomaly', TabularAnomaly);
};
