import { type FittedUsual, fitUsual } from './fit';
import type { KeptHistory } from './history';
import { type SensorLayout, trainRowsOf } from './layout';

/** What a fit takes and gives: it may be made in another thread. */
export interface LearnTask {
  history: KeptHistory;
  layout: SensorLayout;
  /** The number of the first row of the train set, and of rows in all. */
  first: number;
  taken: number;
  /** Whether creeping is to be measured by it. */
  withAnchor: boolean;
}

export type Learned = FittedUsual & Omit<LearnTask, 'history'>;

export function learn({ history, ...task }: LearnTask): Learned {
  return { ...task, ...fitUsual(trainRowsOf(history, task.layout), task.withAnchor) };
}
