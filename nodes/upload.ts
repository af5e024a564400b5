import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { forgetColumns, rememberTypes } from '../src/runtime/input/columns-seen';
import { tableCollector } from '../src/runtime/input/table-collector';
import { handleMessages } from '../src/runtime/messages/message-handler';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import { offerKeptUpload, type UploadDef, uploadRequest } from '../src/runtime/requests/upload';

/** tabular-upload: a table in, the id of an uploaded train or test set out. */
module.exports = function (RED: NodeAPI): void {
  function TabularUpload(this: FlowNode, def: UploadDef): void {
    RED.nodes.createNode(this, def);
    const runtime = new NodeRuntime(RED, this, def);
    const config = useConfig(runtime);
    const tables = tableCollector(runtime);
    offerKeptUpload(runtime, config);
    handleMessages(runtime, {
      secrets: () => config.secrets(),
      read: (msg) => uploadRequest(runtime, tables, msg),
      run: async (request, msg, work) => {
        if (request === undefined) {
          return undefined;
        }
        const card = await config.connection().upload(request, work.hooks);
        tables.finish(msg);
        rememberTypes(this.id, card.cleaned?.types);
        delete msg.force_reupload;
        msg[card.set === 'train' ? 'train_set_upload_id' : 'test_set_upload_id'] = card.id;
        msg.upload = card;
        if (card.cleaned === undefined) {
          delete msg.cleaned;
        } else {
          msg.cleaned = card.cleaned;
        }
        work.status.show('ready', card.reused ? 'uploaded.reused' : 'uploaded.sent', { rows: card.rows });
        return msg;
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
  RED.nodes.registerType('tabular-upload', TabularUpload);
};
