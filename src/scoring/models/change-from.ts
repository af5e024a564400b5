import type { FittedModel } from '../cards';

/** The column that a model's predictions are the change from. Of labels, `relative_to` only says what they are now. */
export function changeFrom({
  task,
  relative_to: column,
}: Pick<FittedModel, 'task' | 'relative_to'>): string | undefined {
  return task === 'regression' ? column : undefined;
}
