import { LEVELS } from '../../metrics/regression';
import { COLUMN_TYPES } from '../../table';
import { isObject } from '../../util/json';
import { readCurves } from './read-curves';
import { isReferenceLosses } from './read-losses';
import type { DriftReference, Reference, ReferenceCell, Usual } from './types';

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
