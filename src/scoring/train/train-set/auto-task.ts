import { show, type TableProfile } from '../../../table';
import { ServiceError } from '../../../wire/service-error';
import type { Task } from '../../../wire/types';

/** Whole numbers with at most this many distinct values are classes (the task `auto`). */
const MAX_NUMBER_CLASSES = 10;

/** What the task `auto` means for a target: text, booleans and few whole numbers are classes. */
export function autoTask({ target }: TableProfile): Task {
  switch (target?.type) {
    case 'text':
    case 'boolean':
      return 'classification';
    case 'integer':
    case 'bigint':
    case 'number': {
      const whole =
        target.type !== 'number' ||
        (target.classes ?? []).every((value) => typeof value === 'number' && Number.isInteger(value));
      return whole && target.distinct <= MAX_NUMBER_CLASSES ? 'classification' : 'regression';
    }
    default:
      return 'regression';
  }
}

/** @throws ServiceError `table.invalid` for a target that cannot be learned with that task */
export function checkTarget(
  { target, rows }: TableProfile,
  task: Task,
  missingTarget: 'leaveOut' | 'error' = 'error',
): void {
  if (target === undefined) {
    return;
  }
  const { name, type, missing, firstMissing = 0, hint, text, oddWords } = target;
  if (missing === rows) {
    throw new ServiceError('table.invalid', `The target "${name}" is missing in all ${rows} rows.`);
  }
  if (missing > 0 && missingTarget === 'error') {
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" is missing in ${missing} of ${rows} rows, first in row ${firstMissing + 1}: fill them, or set Rows without target to leave out (msg.missing_target).`,
    );
  }
  const what = { text: 'text', boolean: 'true and false', date: 'dates' }[
    type as 'text' | 'boolean' | 'date'
  ];
  if (task === 'regression' && what !== undefined) {
    if (hint !== undefined) {
      throw new ServiceError('table.invalid', `Regression needs a target of numbers. ${hint.problem}`);
    }
    if (oddWords !== undefined) {
      throw new ServiceError('table.invalid', `Regression needs a target of numbers. ${oddWords}`);
    }
    const where = text === undefined ? '' : ` (${show(text.value)}, row ${text.row + 1})`;
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" holds ${what}${where}, and regression needs numbers: ` +
        (type === 'date' ? 'give the column numbers.' : 'choose classification, or give the column numbers.'),
    );
  }
}

/** Sentences about a target that can be learned, but perhaps not as the user means it. */
export function targetWarnings({ target, rows }: TableProfile, task: Task): string[] {
  if (target === undefined) {
    return [];
  }
  const { name, hint, distinct, classes } = target;
  if (rows === 1) {
    return [];
  }
  if (distinct === 1) {
    const only = task === 'classification' ? 'has one class only,' : 'is always';
    return [
      `The target "${name}" ${only} ${show(classes?.[0])}, in all ${rows} rows: the model can answer nothing else.`,
    ];
  }
  // Few whole numbers are classes anyway.
  const meant = hint?.whole === true && distinct <= MAX_NUMBER_CLASSES;
  return task === 'classification' && hint !== undefined && !meant ? [`${hint.problem} ${hint.keep}`] : [];
}
