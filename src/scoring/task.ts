import type { TableProfile } from '../table';
import { ServiceError } from '../wire/service-error';
import type { Task } from '../wire/types';

/** Whole numbers with at most so many distinct values are classes (the task `auto`). */
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
export function checkTarget({ target, rows }: TableProfile, task: Task): void {
  if (target === undefined) {
    return;
  }
  const { name, type, missing } = target;
  if (missing > 0) {
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" is missing in ${missing} of ${rows} rows: leave those rows out, or fill them.`,
    );
  }
  const what = { text: 'text', boolean: 'true and false', date: 'dates' }[
    type as 'text' | 'boolean' | 'date'
  ];
  if (task === 'regression' && what !== undefined) {
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" holds ${what}, and regression needs numbers: ` +
        (type === 'date' ? 'give the column numbers.' : 'choose classification, or give the column numbers.'),
    );
  }
}
