import type { ClassCurves, ModelCurves, NumberCurves } from '../../metrics/curves';
import type { HeldOutLosses } from '../../metrics/held-out-losses';
import { LEVELS } from '../../metrics/regression';
import { MAX_POINTS } from '../../metrics/threshold-curve';
import { COLUMN_TYPES, type Label } from '../../table';
import { isObject } from '../../util/json';
import type { DriftReference, KeyLoss, Reference, ReferenceCell, ReferenceLosses, Usual } from './types';

/** Lists of the service are no longer than these. */
const MOST_MEANS = 500;
const MOST_GROUPS = 1000;
/** Keys that are kept, those with most rows first, and rows that a key must have. */
const MOST_KEYS = 200;
const LEAST_ROWS = 30;

/** More labels have one row and column of the confusion matrix together. */
const MAX_SIDE = 20;

/** The curves of a fit answer's `report`, or of a file; undefined where they are not as the embedded service sends them. */
export function readCurves(report: unknown): ModelCurves | undefined {
  const curves = isObject(report) ? report.curves : undefined;
  if (!isObject(curves) || typeof curves.rows !== 'number') {
    return undefined;
  }
  if (curves.kind === 'numbers') {
    return isNumberCurves(curves) ? curves : undefined;
  }
  return isClassCurves(curves) ? curves : undefined;
}

function isNumberCurves(curves: Record<string, unknown>): curves is Record<string, unknown> & NumberCurves {
  const { kind, residuals } = curves;
  return (
    kind === 'numbers' &&
    areNumbers(curves, ['actual', 'predicted']) &&
    isObject(residuals) &&
    areNumbers(residuals, ['edges']) &&
    areNumbers(residuals, ['counts'])
  );
}

function isClassCurves(curves: Record<string, unknown>): curves is Record<string, unknown> & ClassCurves {
  const { kind, labels, others, confusion, calibration, by_threshold: byThreshold } = curves;
  return (
    kind === 'classes' &&
    Array.isArray(labels) &&
    labels.every(isLabel) &&
    typeof others === 'boolean' &&
    Array.isArray(confusion) &&
    confusion.length <= MAX_SIDE &&
    confusion.length === labels.length + (others ? 1 : 0) &&
    confusion.every((row) => areEqualLists([row], confusion.length)) &&
    isObject(calibration) &&
    areNumbers(calibration, ['probability', 'share', 'rows']) &&
    (byThreshold === undefined ||
      (isObject(byThreshold) &&
        isLabel(byThreshold.positive) &&
        typeof byThreshold.positives === 'number' &&
        typeof byThreshold.negatives === 'number' &&
        areNumbers(byThreshold, ['at', 'hits', 'false_alarms']) &&
        ['number', 'undefined'].includes(typeof byThreshold.days)))
  );
}

function isLabel(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Lists of numbers, each as long as the first. */
function areNumbers(of: Record<string, unknown>, names: string[]): boolean {
  const lists = names.map((name) => of[name]);
  return areEqualLists(lists, Array.isArray(lists[0]) ? lists[0].length : 0);
}

function areEqualLists(lists: unknown[], length: number): boolean {
  return lists.every(
    (list) =>
      Array.isArray(list) &&
      list.length === length &&
      list.length <= MAX_POINTS &&
      list.every((one) => typeof one === 'number'),
  );
}

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
    areCounts(means, MOST_MEANS) &&
    (groups === undefined ||
      (isObject(groups) &&
        areCounts(groups.rows, MOST_GROUPS) &&
        areCounts(groups.means, MOST_GROUPS) &&
        groups.rows.length === groups.means.length))
  );
}

function areCounts(value: unknown, most: number): value is number[] {
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

/** What a file holds, where it is whole: undefined for anything else, since it may have been edited or cut. */
export function readReference(value: unknown): Reference | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const { columns, rows, usual, drift, target, curves, losses, seen, putOff, until } = value;
  const isWhole =
    isListOf(columns, isColumn) &&
    isListOf(rows, (row) => isListOf(row, isCell) && row.length === columns.length) &&
    isListOf(usual, isUsual) &&
    isListOf(drift, isDrift) &&
    usual.length === columns.length &&
    drift.length === columns.length &&
    (target === undefined || isUsualTarget(target)) &&
    (curves === undefined || readCurves(value) !== undefined) &&
    (losses === undefined || isReferenceLosses(losses)) &&
    (seen === undefined || isSeen(seen)) &&
    (putOff === undefined || isSeen(putOff)) &&
    (until === undefined || isListOf(until, isKeyTime));
  return isWhole ? (value as unknown as Reference) : undefined;
}

function isListOf<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[];
function isListOf(value: unknown, is: (item: unknown) => boolean): value is unknown[];
function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function isSeen(value: unknown): boolean {
  return isObject(value) && typeof value.rows === 'number' && typeof value.digests === 'string';
}

function isKeyTime(value: unknown): boolean {
  return isObject(value) && typeof value.key === 'string' && typeof value.to === 'number';
}

function isColumn(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    (COLUMN_TYPES as readonly unknown[]).includes(value.type)
  );
}

function isCell(value: unknown): value is ReferenceCell {
  return (
    value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
  );
}

function isUsual(value: unknown): value is Usual {
  if (!isObject(value) || typeof value.missing !== 'number') {
    return false;
  }
  const { kind, q05, q10, median, q90, q95, min, max } = value;
  return kind === 'number'
    ? [q05, q10, median, q90, q95, min, max].every((one) => typeof one === 'number')
    : kind === 'category' && isListOf(value.categories, isCell) && typeof value.complete === 'boolean';
}

function isUsualTarget(value: unknown): boolean {
  if (!isObject(value)) {
    return false;
  }
  const { kind, mean, quantiles, labels, counts } = value;
  return kind === 'numbers'
    ? typeof mean === 'number' && isListOf(quantiles, isNumber) && quantiles.length === LEVELS.length
    : kind === 'classes' &&
        isListOf(labels, isCell) &&
        isListOf(counts, isNumber) &&
        counts.length === labels.length;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isDrift(value: unknown): value is DriftReference {
  return (
    isObject(value) &&
    isListOf(value.shares, isNumber) &&
    (value.edges === undefined || isListOf(value.edges, isNumber)) &&
    (value.categories === undefined || isListOf(value.categories, isCell)) &&
    (value.threshold === undefined || typeof value.threshold === 'number')
  );
}
