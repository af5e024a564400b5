import type { UploadRequest } from '../../models/types';
import type { FlowProperties } from '../../settings/kinds';
import { UPLOAD } from '../../settings/nodes';
import { ServiceError } from '../../wire/service-error';
import type { UsedConfig } from '../config/config-state';
import { columnsSeen, offerColumns } from '../input/columns-seen';
import type { TableCollector } from '../input/table-collector';
import type { FlowNodeDef, InFlow, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { emptyVariable, readCleaning, requiredModel } from './common';

/** The upload node as it stands in a flow file. */
export type UploadDef = FlowNodeDef & FlowProperties<typeof UPLOAD>;

/** What a message asks of the upload node; undefined until its sequence is complete. */
export async function uploadRequest(
  runtime: NodeRuntime<UploadDef>,
  tables: TableCollector,
  msg: Message,
): Promise<UploadRequest | undefined> {
  const table = await tables.read(msg);
  if (table === undefined) {
    return undefined;
  }
  const read = runtime.settings(UPLOAD, msg);
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
    return { set: 'test', ...common, ...requiredModel(runtime, read('model') ?? '', msg) };
  }
  const target = read('target');
  if (target === undefined) {
    throw targetMissing(runtime);
  }
  return { set: 'train', ...common, target };
}

/** Once the flows have started: offers the dialog the columns of the newest train set with the node's target. */
export function offerKeptUpload(runtime: NodeRuntime<{ target?: unknown }>, config: UsedConfig): void {
  const { id, def } = runtime;
  runtime.whenStarted(() => {
    const { target } = def;
    if (typeof target !== 'string' || target === '' || columnsSeen(id).length > 0) {
      return;
    }
    const card = config.cards()?.newestTrainSet(target);
    offerColumns(id, card === undefined ? [] : [...card.columns.map(({ name }) => name), target]);
  });
}

export function targetMissing(place: InFlow): ServiceError {
  return new ServiceError(
    'target.missing',
    emptyVariable(place, 'target', 'No target is named', 'msg.target') ??
      'No target is named: fill in the column to predict, or set msg.target.',
  );
}
