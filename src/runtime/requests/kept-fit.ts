import { FIT } from '../../settings';
import type { UsedConfig } from '../config/use-config';
import { settingsReader } from '../fields/settings-reader';
import { offerColumns } from '../input/columns-seen';
import type { FlowNode, Red } from '../node-red';
import { fittedStatus } from '../status/fit-status';
import { StatusLine } from '../status/status-line';
import { whenStarted } from '../status/when-started';
import type { FitDef } from './fit-request';

/**
 * Once the flows have started, after a deploy or a restart, shows the model that the node fitted before and offers its
 * columns to the dialog. Shows nothing if the dialog now names another target.
 */
export function showKeptFit(red: Red, node: FlowNode, def: FitDef, config: UsedConfig): void {
  whenStarted(red, node, () => {
    const card = config.cards()?.get(keptName(red, node, def) ?? '');
    const isOther = def.target !== undefined && def.target !== '' && def.target !== card?.target;
    if (card === undefined || isOther) {
      return;
    }
    const status = StatusLine.of(node, red);
    const { kind, key, values } = fittedStatus(status, card, false);
    status.showIdle(key, values, kind);
    offerColumns(node.id, [...card.columns.map(({ name }) => name), card.target]);
  });
}

/** The model name from the dialog; undefined if it contains a variable that is not set. */
function keptName(red: Red, node: FlowNode, def: FitDef): string | undefined {
  try {
    return settingsReader(red, node, FIT, def)('model') ?? (node.name || node.id);
  } catch {
    return undefined;
  }
}
