import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { forgetColumns, rememberTypes } from '../src/runtime/input/columns-seen';
import { tableCollector } from '../src/runtime/input/table-collector';
import { handleMessages } from '../src/runtime/messages/message-handler';
import { modelChanged } from '../src/runtime/model-changed';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import {
  answerFit,
  type FitDef,
  type FitMessage,
  fitMessage,
  modelReport,
  modelSender,
  showKeptFit,
} from '../src/runtime/requests/fit';
import { showFitted, showStays, showVersion } from '../src/runtime/status/status-line';

/** tabular-fit: a train set in, a model out. */
module.exports = function (RED: NodeAPI): void {
  function TabularFit(this: FlowNode, def: FitDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const config = useConfig(runtime);
    const tables = tableCollector(runtime, true);
    const models = modelSender(runtime, config);
    const shows = showKeptFit(runtime, config, (card) => models.sendChanged(card));
    handleMessages<FitMessage | undefined>(runtime, {
      secrets: () => config.secrets(),
      // A predict that comes together with it waits for its model.
      taken: () => {
        try {
          return config.connection().cards.fits.expect();
        } catch {
          // `run` says why.
          return () => undefined;
        }
      },
      read: (msg) => fitMessage(runtime, tables, msg),
      run: async (asked, msg, work) => {
        if (asked === undefined) {
          return undefined;
        }
        const connection = config.connection();
        if (asked.kind === 'sendAgain') {
          const card = connection.cards.get(asked.model);
          if (card === undefined) {
            delete msg.send_model;
            return undefined;
          }
          msg.send_model = 'on';
          await models.addTo(msg, card);
          return answerFit(msg, { card });
        }
        if (asked.kind === 'rollBack') {
          const card = await connection.rollBack(asked.model, asked.to, work.hooks);
          showVersion(work.status, card);
          shows(card);
          modelChanged(RED, card.name);
          await models.addTo(msg, card);
          return answerFit(msg, { card });
        }
        const result = await connection.train(asked.request, work.hooks);
        if (def.modelReport === true) {
          msg.model_report = await modelReport(connection.cards, result.card);
        }
        tables.finish(msg);
        rememberTypes(this.id, result.card.cleaned?.types);
        if (result.aside === undefined) {
          showFitted(work.status, result.card, result.taskFound, result.challenger);
        } else {
          showStays(work.status, result.card, result.aside);
        }
        shows(result.card);
        modelChanged(RED, result.card.name);
        await models.addTo(msg, result.card);
        return answerFit(msg, result);
      },
      settled: (msg) => tables.release(msg),
      close: (removed) => {
        tables.close();
        if (removed) {
          forgetColumns(this.id);
        }
      },
    });
  }
  RED.nodes.registerType('tabular-fit', TabularFit);
};
