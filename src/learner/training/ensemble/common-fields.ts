import type { Member } from '../../model/members';
import type { FitReport } from '../../types';
import type { PreparedFit } from '../preparation/prepare';

/** The fields of a model that do not depend on the task. Values of the background are kept only where a member needs them. */
export function commonFields(prepared: PreparedFit, members: Member[], report: FitReport) {
  const { task, classes, features, encoders, center, scale, background, centers } = prepared;
  const linear = members.flatMap(({ parts }) => parts).filter((part) => part.kind === 'linear');
  const asNumbers = new Set([
    ...linear.flatMap(({ tables }) => Array.from(tables.lines?.columns ?? [])),
    ...members.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'gaussian' ? Array.from(part.gaussian.kernel.columns) : [])),
    ),
  ]);
  return {
    task,
    classes,
    features,
    encoders,
    members,
    report,
    center,
    scale,
    background: {
      ...background,
      numbers: background.numbers?.map((values, column) => (asNumbers.has(column) ? values : undefined)),
    },
    ...(linear.length > 0 && { centers }),
  };
}
