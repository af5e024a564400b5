import { ModelMismatch } from '../../../scoring/models/model-mismatch';
import { PREDICT } from '../../../settings';
import { ServiceError } from '../../../wire/service-error';
import { OUTPUT_TYPES } from '../../../wire/vocabulary';
import { settingsReader } from '../../fields/settings-reader';
import { dialogWord, type FlowNode, type Red } from '../../node-red';
import type { PredictDef } from './predict-request';

/**
 * Rephrases an error of a predict so that the user can act on it: what the model does not have is named as the dialog
 * shows it if the dialog asks for it, else as the message spells it. Other errors are returned as they are.
 */
export function inWordsOfUser(red: Red, node: FlowNode, def: PredictDef, error: unknown): unknown {
  if (!(error instanceof ModelMismatch)) {
    return error;
  }
  const { setting, asked, task } = error;
  const isInDialog = settingsReader(red, node, PREDICT, def)(setting) !== undefined;
  const word = (value: string) =>
    isInDialog ? `"${dialogWord(red, node.type, `${setting}.${value}`)}"` : value;
  const place = isInDialog
    ? `The field "${dialogWord(red, node.type, `label.${setting}`)}"`
    : `msg.${PREDICT[setting].message}`;
  const what =
    setting === 'task'
      ? `is ${word(asked)}, but the model was fitted for ${task}: leave it empty`
      : `is ${word(asked)}, which a ${task} model does not have: choose ${OUTPUT_TYPES[task].map(word).join(', ')}`;
  return new ServiceError(error.code, `${place} ${what}.`);
}
