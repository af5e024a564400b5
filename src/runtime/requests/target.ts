import { ServiceError } from '../../wire/service-error';
import type { UsedConfig } from '../config/config-state';
import { columnsSeen, offerColumns } from '../input/columns-seen';
import type { FlowNode, Red } from '../node-red';
import { whenStarted } from '../status/status-line';

/** Once the flows have started: offers the dialog the columns of the newest train set with the node's target. */
export function offerKeptUpload(
  red: Red,
  node: FlowNode,
  def: { target?: unknown },
  config: UsedConfig,
): void {
  whenStarted(red, node, () => {
    const { target } = def;
    if (typeof target !== 'string' || target === '' || columnsSeen(node.id).length > 0) {
      return;
    }
    const card = config.cards()?.newestTrainSet(target);
    offerColumns(node.id, card === undefined ? [] : [...card.columns.map(({ name }) => name), target]);
  });
}

export function targetMissing(): ServiceError {
  return new ServiceError(
    'target.missing',
    'No target is named: fill in the column to predict, or set msg.target.',
  );
}
