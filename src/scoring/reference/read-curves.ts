import type { ClassCurves, ModelCurves, NumberCurves } from '../../metrics/curves';
import { MAX_POINTS } from '../../metrics/threshold-curve';
import { isObject } from '../../util/json';

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
