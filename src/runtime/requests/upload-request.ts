import type { UploadRequest } from '../../models/types';
import { type FlowProperties, UPLOAD } from '../../settings';
import { settingsReader } from '../fields/settings-reader';
import type { TableCollector } from '../input/table-collector';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';
import { readCleaning, requiredModel } from './common';
import { targetMissing } from './target';

/** The upload node as it stands in a flow file. */
export type UploadDef = FlowNodeDef & FlowProperties<typeof UPLOAD>;

/** What a message asks of the upload node; undefined until its sequence is complete. */
export async function uploadRequest(
  red: Red,
  node: FlowNode,
  def: UploadDef,
  tables: TableCollector,
  msg: Message,
): Promise<UploadRequest | undefined> {
  const table = await tables.read(msg);
  if (table === undefined) {
    return undefined;
  }
  const read = settingsReader(red, node, UPLOAD, def, msg);
  const common = {
    table,
    ignore: read('ignore'),
    types: read('types'),
    format: read('format'),
    description: read('description'),
    forceReupload: read('forceReupload'),
    chunks: read('chunks'),
    ...readCleaning(read),
    missingTarget: read('missingTarget'),
  };
  if (read('set') === 'test') {
    return { set: 'test', ...common, ...requiredModel(read('model') ?? '', msg) };
  }
  const target = read('target');
  if (target === undefined) {
    throw targetMissing();
  }
  return { set: 'train', ...common, target };
}
