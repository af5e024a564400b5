import { wordOf } from './dialog';
import { prepare, registerType } from './editor';
import { validators } from './validators';

/* What the dialogs of the tabular nodes share. Each of their pages loads this script; the first to come counts. */
const shared = (RED.tabularPrediction = RED.tabularPrediction || {});
if (!shared.registerType) {
  Object.assign(shared, { registerType, prepare, validators, word: wordOf });
}
