import type { NodeAPI } from 'node-red';

import { tableReader } from '../src/runtime/input/table-input';
import { seriesNodes } from '../src/runtime/load';
import { handleMessages, oneByOne } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import type { SeriesDef } from '../src/runtime/series/read-messages';

/** tabular-series: readings in; rows, outcomes and train sets out. */
module.exports = function (RED: NodeAPI): void {
  function TabularSeries(this: FlowNode, def: SeriesDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const {
      MixedTopics,
      PastSender,
      ReadMessages,
      SeriesKeeper,
      keptSeries,
      seriesAnswer,
      seriesRequest,
      showKept,
    } = seriesNodes();
    const table = tableReader(runtime, { allowMissing: true, readings: def.shape === 'auto' });
    const keeper = new SeriesKeeper(runtime);
    const sender = new PastSender(runtime, table);
    const topics = new MixedTopics(runtime);
    const messages = new ReadMessages(runtime, table);
    const parts = { runtime, keeper, sender, messages };
    showKept(runtime, keeper, (series) => keptSeries(series, keeper.isUnchosen));
    handleMessages(runtime, {
      ...oneByOne(keeper),
      // All of it one message after the other: a reading changes what the next one makes.
      read: async (msg, work) => {
        const request = await seriesRequest(runtime, messages, msg);
        topics.look(request, msg);
        return seriesAnswer(parts, request, msg, work);
      },
    });
  }
  RED.nodes.registerType('tabular-series', TabularSeries);
};
