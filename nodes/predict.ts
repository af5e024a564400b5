import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { tableReader } from '../src/runtime/input/table-input';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import {
  answerPredict,
  answerUnpredicted,
  makePredictor,
  modelTaker,
  type PredictDef,
  predictRequests,
  replacedColumnWarning,
  takeRequest,
} from '../src/runtime/requests/predict';

/** tabular-predict: rows in, the same rows with their predictions out. */
module.exports = function (RED: NodeAPI): void {
  function TabularPredict(this: FlowNode, def: PredictDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const config = useConfig(runtime);
    const table = tableReader(runtime, { flat: true });
    const requestOf = predictRequests(runtime, table);
    const predictor = makePredictor(runtime, config);
    const takeModel = modelTaker(runtime, config);
    const warnIfReplaced = replacedColumnWarning(runtime, config);
    handleMessages(runtime, {
      secrets: () => config.secrets(),
      read: async (msg) => {
        if (predictor.control(msg)) {
          return undefined;
        }
        const take = takeRequest(def, msg);
        if (take !== undefined) {
          return take;
        }
        const request = await requestOf(msg);
        await predictor.awaitFit(request);
        return request;
      },
      run: async (request, msg, work) => {
        if (request === undefined) {
          return undefined;
        }
        if ('file' in request) {
          await takeModel(request, work.hooks);
          return undefined;
        }
        if (predictor.passes(request)) {
          work.status.show('waiting', 'noModel');
          return answerUnpredicted(msg);
        }
        const outcome = await predictor.predict(request, work.hooks);
        warnIfReplaced(request, outcome);
        return answerPredict(msg, table, outcome);
      },
      close: () => predictor.close(),
    });
  }
  RED.nodes.registerType('tabular-predict', TabularPredict);
};
