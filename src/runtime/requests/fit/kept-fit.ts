import type { ModelCard } from '../../../scoring/types';
import { FIT } from '../../../settings';
import type { UsedConfig } from '../../config/use-config';
import { settingsReader } from '../../fields/settings-reader';
import { offerColumns } from '../../input/columns-seen';
import { onModelChanged } from '../../model-changed';
import type { FlowNode, Red } from '../../node-red';
import { fittedStatus, versionStatus } from '../../status/fit-status';
import { StatusLine } from '../../status/status-line';
import { whenStarted } from '../../status/when-started';
import type { FitDef } from './fit-request';

/** Which model a fit node shows. */
type ShownModel = Pick<ModelCard, 'name' | 'version' | 'fitted_train_set_id'>;

/**
 * Shows the model of a fit node that the node did not just fit itself. Once the flows have started, after a deploy or a
 * restart, that is the one which it fitted before; its columns are offered to the dialog. Later it is the one that was
 * put in charge elsewhere: taken back in the sidebar, imported, fitted by another node. Shows nothing of a model with
 * another target than the dialog now names.
 * @returns to be called with each model that the node itself shows
 */
export function showKeptFit(
  red: Red,
  node: FlowNode,
  def: FitDef,
  config: UsedConfig,
): (card: ModelCard) => void {
  const status = StatusLine.of(node, red);
  let shown: ShownModel | undefined;

  const inCharge = (name: string): ModelCard | undefined => {
    const card = config.cards()?.get(name);
    const isOther = def.target !== undefined && def.target !== '' && def.target !== card?.target;
    return isOther ? undefined : card;
  };

  whenStarted(red, node, () => {
    if (config.cards()?.isUsable === false) {
      status.fail('storage.failed');
      return;
    }
    const card = inCharge(keptName(red, node, def) ?? '');
    if (card === undefined) {
      return;
    }
    shown = card;
    status.showIdle((isNewest(card) ? fittedStatus : versionStatus)(status, card, false));
    offerColumns(node.id, [...card.columns.map(({ name }) => name), card.target]);
  });

  onModelChanged(node, (name) => {
    if (name !== (shown?.name ?? keptName(red, node, def))) {
      return;
    }
    const card = inCharge(name);
    if (isSame(card, shown)) {
      return;
    }
    shown = card;
    status.become(() =>
      card === undefined ? { kind: 'plain', key: 'fitted.gone' } : versionStatus(status, card),
    );
  });

  return (card) => {
    shown = card;
  };
}

function isSame(one: ShownModel | undefined, other: ShownModel | undefined): boolean {
  return one?.version === other?.version && one?.fitted_train_set_id === other?.fitted_train_set_id;
}

function isNewest({ version, versions }: ModelCard): boolean {
  return !versions.some((one) => one.version > version);
}

/** The model name from the dialog; undefined if it contains a variable that is not set. */
function keptName(red: Red, node: FlowNode, def: FitDef): string | undefined {
  try {
    return settingsReader(red, node, FIT, def)('model') ?? (node.name || node.id);
  } catch {
    return undefined;
  }
}
