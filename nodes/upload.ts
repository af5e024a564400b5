import type { NodeAPI } from 'node-red';
import { attach } from '../src/runtime/attach';
import { forgetColumns } from '../src/runtime/columns-seen';
import { hooks } from '../src/runtime/follow';
import type { FlowNode } from '../src/runtime/node-red';
import { tableCollector } from '../src/runtime/table-collector';
import { type UploadDef, uploadRequest } from '../src/runtime/upload-request';
import { useConfig } from '../src/runtime/use-config';

/** tabular-upload: a table in, the id of an uploaded train or test set out. */
module.exports = function (RED: NodeAPI): void {
  function TabularUpload(this: FlowNode, def: UploadDef): void {
    RED.nodes.createNode(this, def);
    const config = useConfig(RED, def.config);
    const tables = tableCollector(RED, this, def);
    attach(this, RED, {
      secrets: () => config.secrets(),
      read: (msg) => uploadRequest(RED, this, def, tables, msg),
      run: async (request, msg, work) => {
        if (request === undefined) {
          return undefined;
        }
        const card = await config.connection().upload(request, hooks(this, work));
        tables.finish(msg);
        delete msg.force_reupload;
        msg[card.set === 'train' ? 'train_set_upload_id' : 'test_set_upload_id'] = card.id;
        msg.upload = card;
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
