import type { HeldOutLosses } from '../../metrics/held-out-losses';
import type { Label } from '../../table';
import { isObject } from '../../util/json';
import type { KeyLoss, ReferenceLosses } from './types';

/** Lists of the service are no longer than these. */
const MOST_MEANS = 500;
const MOST_GROUPS = 1000;
/** Keys that are kept, those with most rows first, and rows that a key must have. */
const MOST_KEYS = 200;
const LEAST_ROWS = 30;

/** How the rows of a train set belong together. */
export interface LossRows {
  /** They follow each other in time. */
  inTime: boolean;
  /** The label of each group, in the order in which groups come; undefined: not known. */
  labels?: readonly (Label | null)[] | undefined;
}

/** What is kept of the losses in a fit answer's `report`; undefined where it has none, or they are not as they should be. */
export function readLosses(report: unknown, { inTime, labels }: LossRows): ReferenceLosses | undefined {
  const losses = isObject(report) ? report.losses : undefined;
  if (!isHeldOut(losses)) {
    return undefined;
  }
  const { step, means, groups } = losses;
  const isKnown = groups !== undefined && groups.rows.length === labels?.length;
  const keys = isKnown ? keyLosses(groups, labels) : [];
  return inTime || keys.length > 0
    ? { step, means: inTime ? means : [], ...(keys.length > 0 && { keys }) }
    : undefined;
}

/** What a file holds of them. */
export function isReferenceLosses(value: unknown): value is ReferenceLosses {
  return (
    isObject(value) &&
    isHeldOut({ ...value, groups: undefined }) &&
    (value.keys === undefined || (Array.isArray(value.keys) && value.keys.every(isKeyLoss)))
  );
}

function keyLosses(
  { rows, means }: NonNullable<HeldOutLosses['groups']>,
  labels: readonly (Label | null)[],
): KeyLoss[] {
  const known = labels.flatMap((label, group): KeyLoss[] =>
    label === null || rows[group]! < LEAST_ROWS
      ? []
      : [{ key: String(label), rows: rows[group]!, loss: means[group]! }],
  );
  return known.sort((a, b) => b.rows - a.rows).slice(0, MOST_KEYS);
}

function isHeldOut(value: unknown): value is HeldOutLosses {
  if (!isObject(value)) {
    return false;
  }
  const { step, means, groups } = value;
  return (
    typeof step === 'number' &&
    step >= 1 &&
    areNumbers(means, MOST_MEANS) &&
    (groups === undefined ||
      (isObject(groups) &&
        areNumbers(groups.rows, MOST_GROUPS) &&
        areNumbers(groups.means, MOST_GROUPS) &&
        groups.rows.length === groups.means.length))
  );
}

function areNumbers(value: unknown, most: number): value is number[] {
  return (
    Array.isArray(value) && value.length <= most && value.every((one) => typeof one === 'number' && one >= 0)
  );
}

function isKeyLoss(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.key === 'string' &&
    typeof value.rows === 'number' &&
    typeof value.loss === 'number'
  );
}
