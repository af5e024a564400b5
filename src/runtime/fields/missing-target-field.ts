import type { CleaningChoices } from '../../scoring/types';
import { candidates, choiceField } from './fields';

/** What becomes of rows of a train set that have no target, as a flow file has it. */
export interface MissingTargetDef {
  missingTarget?: string;
}

/** @param dialog the field with its environment variables put in */
export function missingTargetField(
  dialog: unknown,
  msg: Record<string, unknown>,
): CleaningChoices['missingTarget'] {
  return choiceField(
    ['leaveOut', 'error'],
    ...candidates('Rows without target', dialog, 'missing_target', msg),
  );
}
