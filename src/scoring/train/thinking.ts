import type { Column } from '../../table';
import type { ThinkingFolds } from '../../wire/types';
import type { Service } from '../services/service';
import type { TrainRequest } from '../types';
import type { Lineage } from './train-set/row-plan';

/** What hosted services are known to ask of a thinking fit. */
const MIN_ROWS = 500;
const MAX_SECONDS = 2400;

/** Whether a hosted service is to think, which draws folds of its own. */
export function isHostedThinking(
  { thinks }: Pick<Service, 'thinks'>,
  { thinking, systems }: Pick<TrainRequest, 'thinking' | 'systems'>,
): boolean {
  return thinks && (thinking?.effort !== undefined || systems?.includes('thinking') === true);
}

/** What a hosted service will probably say of a thinking fit, said before a table is uploaded in vain. */
export function thinkingWarnings(
  service: Pick<Service, 'thinks'>,
  request: TrainRequest,
  rows: number,
): string[] {
  if (!isHostedThinking(service, request)) {
    return [];
  }
  const { thinking } = request;
  const warnings: string[] = [];
  if (rows > 0 && rows < MIN_ROWS) {
    warnings.push(
      `Thinking needs at least ${MIN_ROWS} rows on the services known so far; this train set has ${rows}.`,
    );
  }
  if ((thinking?.timeoutSecs ?? 0) > MAX_SECONDS) {
    warnings.push(
      `Thinking may take ${MAX_SECONDS} s at most on the services known so far; the time limit is ${thinking!.timeoutSecs} s.`,
    );
  }
  return warnings;
}

/**
 * By which columns of the train set a hosted thinking fit is to draw its folds, as *Group* and *Order of rows* say. Where
 * known groups go on, the time of all rows decides; else groups stay together. Undefined where nothing says.
 *
 * @param columns the features that are sent
 * @param timeColumn tells the time; undefined where it is not known
 */
export function thinkingFoldsOf(
  { order, group }: Lineage,
  folds: TrainRequest['folds'],
  columns: readonly Column[],
  timeColumn: string | undefined,
): ThinkingFolds | undefined {
  const isSent = (name: string | undefined): name is string => columns.some((column) => column.name === name);
  const time = order === 'time' && isSent(timeColumn) ? timeColumn : undefined;
  if (isSent(group) && !(folds === 'blocks' && time !== undefined)) {
    return { group_col: group, ...(time !== undefined && { group_time_col: time }) };
  }
  return time === undefined ? undefined : { time_col: time };
}

/** Why folds may mix rows that should be apart, a sentence each. */
export function thinkingFoldWarnings({ order, group }: Lineage, folds: ThinkingFolds = {}): string[] {
  const warnings: string[] = [];
  if (group !== undefined && folds.group_col === undefined && folds.time_col === undefined) {
    warnings.push(
      `The train set was sent without the group "${group}", so the folds of the thinking fit may split its rows.`,
    );
  }
  if (order === 'time' && folds.time_col === undefined && folds.group_time_col === undefined) {
    warnings.push(
      'The rows are in order of time, but no column of the train set tells the time: the folds of the thinking fit mix older and newer rows.',
    );
  }
  return warnings;
}
