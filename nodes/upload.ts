import type { NodeAPI } from 'node-red';

import { useConfig } from '../src/runtime/config/config-state';
import { forgetColumns, rememberTypes } from '../src/runtime/input/columns-seen';
import { tableCollector } from '../src/runtime/input/table-collector';
import { handleMessages } from '../src/runtime/messages/message-handler';
import { hooks } from '../src/runtime/messages/progress';
import type { FlowNode } from '../src/runtime/node-red';
import { offerKeptUpload, type UploadDef, uploadRequest } from '../src/runtime/requests/upload';

/** tabular-upload: a table in, the id of an uploaded train or test set out. */
module.exports = function (RED: NodeAPI): void {
  function TabularUpload(this: FlowNode, def: UploadDef): void {
    RED.nodes.createNode(this, def);
    const config = useConfig(RED, this, def.config);
    const tables = tableCollector(RED, this, def);
    offerKeptUpload(RED, this, def, config);
    handleMessages(this, RED, {
      secrets: () => config.secrets(),
      read: (msg) => uploadRequest(RED, this, def, tables, msg),
      run: async (request, msg, work) => {
        if (request === undefined) {
          return undefined;
        }
        const card = await config.connection().upload(request, hooks(this, work));
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
