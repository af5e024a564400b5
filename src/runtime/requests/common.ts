import type { ModelCard } from '../../models/cards';
import type { CleaningChoices } from '../../models/types';
import type { CLEANING } from '../../settings/nodes';
import { ServiceError } from '../../wire/service-error';
import type { ReadSetting } from '../fields/settings-reader';
import { dialogWord, type InFlow, inFlowFile, type Message } from '../node-red';

/** The model a node works with: a name or a card, or else the bare id of a fitted train set. */
export interface NamedModel {
  model?: string | ModelCard;
  fittedTrainSetId?: string;
}

/** The dialog's model name; empty: `msg.model` (a card or a name), else `msg.fitted_train_set_id`. */
export function namedModel(dialog: string, msg: Message): NamedModel {
  if (dialog !== '') {
    return { model: dialog };
  }
  const { model } = msg;
  if (typeof model === 'string' && model !== '') {
    return { model };
  }
  if (typeof model === 'object' && model !== null) {
    // Whether it is a card is for `checkedCard` to say, when it is used.
    return { model: model as ModelCard };
  }
  if (model !== undefined && model !== null && model !== '') {
    throw new ServiceError(
      'validation.failed',
      'msg.model must be the name of a model or a model card, as a fit node sets it.',
    );
  }
  const id = msg.fitted_train_set_id;
  if (id === undefined || id === null || id === '') {
    return {};
  }
  if (typeof id === 'string') {
    return { fittedTrainSetId: id };
  }
  throw new ServiceError('validation.failed', 'msg.fitted_train_set_id must be a text.');
}

/** As `namedModel`, but a model must be named. */
export function requiredModel(place: InFlow, dialog: string, msg: Message): NamedModel {
  const choice = namedModel(dialog, msg);
  if (choice.model !== undefined || choice.fittedTrainSetId !== undefined) {
    return choice;
  }
  throw new ServiceError(
    'model.unknown',
    emptyVariable(place, 'model', 'No model is named', 'msg.model') ??
      'No model is named: choose one in the node, or set msg.model or msg.fitted_train_set_id.',
  );
}

/**
 * Why a field says nothing that a user does not see as empty: the environment variables in it are. Undefined where the
 * field itself is empty.
 */
export function emptyVariable(
  place: InFlow,
  field: string,
  lacking: string,
  instead: string,
): string | undefined {
  const held = inFlowFile(place, field);
  const label = dialogWord(place.red, place.node.type, `label.${field}`);
  return held === undefined
    ? undefined
    : `${lacking}: the field "${label}" is ${held}, which is empty. Set the environment variable, or ${instead}.`;
}

/** How the cells of a table are read. @throws ServiceError `config.invalid`, `validation.failed` */
export function readCleaning(read: ReadSetting<typeof CLEANING>): Omit<CleaningChoices, 'missingTarget'> {
  return {
    missingWords: read('missingWords'),
    unreadable: read('unreadable'),
    timezone: read('timezone'),
  };
}
