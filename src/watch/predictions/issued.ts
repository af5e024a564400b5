import { isObject } from '../../util/values';
import type { Task } from '../../wire/vocabulary';

/** Preferred lower level of the band to watch: 0.1 and 0.9 make an 80 % band. */
const WANTED_LEVEL = 0.1;
/** How many probabilities of one prediction are held: the largest ones. */
const MOST_CLASSES = 64;

export type IssuedLabel = string | number | boolean;

/** A band between two quantiles of symmetric levels. */
export interface IssuedBand {
  kind: 'band';
  middle: number;
  low: number;
  high: number;
  /** Level of `low`; that of `high` is 1 − level. */
  level: number;
}

/** A band after its correction. */
export interface MovedBand {
  middle: number;
  low: number;
  high: number;
}

/** What a model predicted for one row. */
export type Issued =
  | IssuedBand
  | { kind: 'number'; middle: number }
  | { kind: 'classes'; label: IssuedLabel; probabilities: [label: string, p: number][]; rest: number }
  | { kind: 'label'; label: IssuedLabel };

/** Reads what predict attached to a row; undefined where that is not a prediction of this task, such as null. */
export function readIssued(task: Task, prediction: unknown, probabilities: unknown): Issued | undefined {
  return task === 'classification' ? readLabel(prediction, probabilities) : readNumber(prediction);
}

/** The quantiles of a prediction in ascending order of level; empty where it has none. */
export function attachedQuantiles(prediction: unknown): { name: string; level: number; value: number }[] {
  if (!isObject(prediction)) {
    return [];
  }
  const map = isObject(prediction.quantiles) ? prediction.quantiles : prediction;
  const quantiles: { name: string; level: number; value: number }[] = [];
  for (const [name, value] of Object.entries(map)) {
    const level = Number(name);
    if (isNumber(value) && level > 0 && level < 1) {
      quantiles.push({ name, level, value });
    }
  }
  return quantiles.sort((a, b) => a.level - b.level);
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function isLabel(value: unknown): value is IssuedLabel {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function readNumber(prediction: unknown): Issued | undefined {
  if (isNumber(prediction)) {
    return { kind: 'number', middle: prediction };
  }
  if (!isObject(prediction)) {
    return undefined;
  }
  const quantiles = attachedQuantiles(prediction);
  const at = (level: number): number | undefined =>
    quantiles.find((one) => Math.abs(one.level - level) < 1e-9)?.value;
  const middle = [at(0.5), prediction.median, prediction.mean].find(isNumber);
  const ends = quantiles
    .filter(({ level }) => level < 0.5 && at(1 - level) !== undefined)
    .sort((a, b) => Math.abs(a.level - WANTED_LEVEL) - Math.abs(b.level - WANTED_LEVEL))[0];
  const high = ends === undefined ? undefined : at(1 - ends.level);
  if (ends === undefined || high === undefined || ends.value > high) {
    return middle === undefined ? undefined : { kind: 'number', middle };
  }
  const between = middle ?? (ends.value + high) / 2;
  return {
    kind: 'band',
    middle: Math.min(high, Math.max(ends.value, between)),
    low: ends.value,
    high,
    level: ends.level,
  };
}

function readLabel(label: unknown, probabilities: unknown): Issued | undefined {
  if (!isLabel(label)) {
    return undefined;
  }
  if (!isObject(probabilities)) {
    return { kind: 'label', label };
  }
  const all = Object.entries(probabilities).filter((one): one is [string, number] => isNumber(one[1]));
  if (all.length <= MOST_CLASSES) {
    return { kind: 'classes', label, probabilities: all, rest: 0 };
  }
  const held = all.sort((a, b) => b[1] - a[1]).slice(0, MOST_CLASSES);
  const mass = held.reduce((sum, [, p]) => sum - p, 1);
  return {
    kind: 'classes',
    label,
    probabilities: held,
    rest: Math.max(0, mass) / (all.length - MOST_CLASSES),
  };
}
