import type { Reference, ReferenceCell } from '../models/cards';
import type { Label } from '../table';
import { ServiceError } from '../wire/service-error';
import { finestStep, type Knob, type KnobValues } from './knobs';
import { leastSquares } from './least-squares';
import type { RestsOn } from './types';

/** Numbers are compared in so many groups of equal size. */
const GROUPS = 8;
/** A column goes along with another where it tells this part of its variance. */
const TOGETHER = 0.25;
/** Named at most. */
const MOST = 5;
/** Train rows are near an advised value within this part of the range. */
const NEAR = 0.1;
/** As much as lets columns that say nearly the same share what they tell. */
const RIDGE = 1e-3;

/** How a column of numbers goes along with the knobs. */
export interface Course {
  column: string;
  /** Its value in a setting, from the one that it has now. */
  at(setting: KnobValues): number;
}

/**
 * The courses of columns that follow: what they are in the kept train rows, by least squares on each knob of numbers and
 * its square. A column moves from its present value by as much as that changes.
 *
 * @throws ServiceError `config.invalid` for a column that cannot follow
 */
export function learnCourses(
  follow: readonly string[],
  knobs: readonly Knob[],
  { columns, rows }: Reference,
  now: (column: string) => Label | null,
): Course[] {
  return follow.map((column) => {
    const at = columns.findIndex(({ name }) => name === column);
    const present = at === -1 ? null : now(column);
    const why =
      at === -1
        ? 'the model does not predict from it'
        : knobs.some((knob) => knob.column === column)
          ? 'it is among those that may be changed'
          : typeof present !== 'number'
            ? 'the row has no number in it'
            : undefined;
    if (why !== undefined) {
      throw new ServiceError('config.invalid', `The column "${column}" cannot follow: ${why}.`);
    }
    const places = knobs.map((knob) => columns.findIndex(({ name }) => name === knob.column));
    const known = rows.filter(
      (row) => typeof row[at] === 'number' && places.every((place) => row[place] !== null),
    );
    const writeFeatures = featuresFor(knobs, known, places);
    const slopes = leastSquares(
      known.map((row) => writeFeatures(places.map((place) => row[place]!))),
      known.map((row) => row[at] as number),
      RIDGE,
    );
    const told = (setting: readonly Label[]): number =>
      writeFeatures(setting).reduce((sum, feature, i) => sum + feature * slopes[i]!, 0);
    const before = told(knobs.map((knob) => knob.now));
    const values = known.map((row) => row[at] as number);
    const finest = finestStep(known.length === 0 ? 0 : Math.max(...values) - Math.min(...values));
    return {
      column,
      at: (setting) => {
        const change = Math.round((told(setting) - before) / finest) * finest;
        return Number(((present as number) + change).toPrecision(12));
      },
    };
  });
}

/** A constant, and of each knob of numbers its place in standard deviations, and the square of that. */
function featuresFor(
  knobs: readonly Knob[],
  rows: readonly ReferenceCell[][],
  places: readonly number[],
): (setting: readonly Label[]) => number[] {
  const scales = knobs.map(({ now }, at) => {
    if (typeof now !== 'number') {
      return undefined;
    }
    const values = rows.map((row) => row[places[at]!] as number);
    const mean = values.reduce((sum, value) => sum + value / values.length, 0);
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2 / values.length, 0));
    return { mean, spread: spread || 1 };
  });
  return (setting) => [
    1,
    ...scales.flatMap((scale, at) => {
      if (scale === undefined) {
        return [];
      }
      const z = ((setting[at] as number) - scale.mean) / scale.spread;
      return [z, z * z];
    }),
  ];
}

/** What an advised setting rests on in the kept train rows. */
export function restsOn(
  knobs: readonly Knob[],
  setting: KnobValues,
  { columns, rows }: Reference,
  follow: readonly string[],
): RestsOn {
  const changed = knobs.flatMap((knob, at) => (setting[at] === knob.now ? [] : [{ knob, to: setting[at]! }]));
  const readColumn = (column: string): ReferenceCell[] => {
    const at = columns.findIndex(({ name }) => name === column);
    return rows.map((row) => row[at]!);
  };
  const near = changed.map(({ knob, to }) =>
    readColumn(knob.column).map((cell) => cell !== null && knob.apart(cell, to) <= NEAR),
  );
  const still = columns.filter(
    ({ name }) => !follow.includes(name) && !knobs.some(({ column }) => column === name),
  );
  const together = still.flatMap(({ name }) => {
    const own = readColumn(name);
    const parts = changed.map(({ knob }) => ({
      column: knob.column,
      part: partTold(readColumn(knob.column), own),
    }));
    const told = parts.filter(({ part }) => part >= TOGETHER).sort((a, b) => b.part - a.part);
    return told.length === 0
      ? []
      : [
          {
            column: name,
            with: told.map(({ column }) => column),
            part: Math.round(told[0]!.part * 100) / 100,
          },
        ];
  });
  return {
    rows: rows.filter((_, row) => near.every((one) => one[row])).length,
    of: rows.length,
    together: together.sort((a, b) => b.part - a.part).slice(0, MOST),
  };
}

/**
 * The part of the variance of one of two columns that the other tells, 0 to 1: of numbers the ranks' (the correlation
 * ratio, over groups of equal size or by word), of two columns of words Goodman and Kruskal's tau; less what chance
 * alone would tell.
 */
export function partTold(a: readonly ReferenceCell[], b: readonly ReferenceCell[]): number {
  const both = a.flatMap((cell, row) => (cell === null || b[row] === null ? [] : [[cell, b[row]!] as const]));
  const [first, second] = [both.map(([cell]) => cell), both.map(([, cell]) => cell)];
  const isNumber = (cells: readonly Label[]): cells is number[] =>
    cells.every((cell) => typeof cell === 'number');
  if (isNumber(second)) {
    return correlationRatio(groupValues(first), rankValues(second));
  }
  if (isNumber(first)) {
    return correlationRatio(groupValues(second), rankValues(first));
  }
  // Tau is the same ratio, over the indicators of the labels together.
  const labels = [...new Set(second)];
  const groups = groupValues(first);
  const all = labels.map((label) => second.map((cell) => (cell === label ? 1 : 0)));
  const total = all.reduce((sum, one) => sum + variance(one), 0);
  return total === 0
    ? 0
    : all.reduce((sum, one) => sum + correlationRatio(groups, one) * variance(one), 0) / total;
}

function correlationRatio(groups: readonly Label[], values: readonly number[]): number {
  const total = variance(values) * values.length;
  const of = new Map<Label, number[]>();
  groups.forEach((group, at) => {
    const own = of.get(group) ?? [];
    of.set(group, own);
    own.push(values[at]!);
  });
  const within = [...of.values()].reduce((sum, own) => sum + variance(own) * own.length, 0);
  const [rows, count] = [values.length, of.size];
  return total === 0 || rows <= count ? 0 : Math.max(0, 1 - (within / total) * ((rows - 1) / (rows - count)));
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0);
  return values.reduce((sum, value) => sum + (value - mean) ** 2 / values.length, 0);
}

function groupValues(cells: readonly Label[]): Label[] {
  return cells.every((cell) => typeof cell === 'number')
    ? rankValues(cells).map((rank) => Math.floor((rank * GROUPS) / cells.length))
    : [...cells];
}

/** From 0; equal values share the middle of their ranks. */
function rankValues(values: readonly number[]): number[] {
  const order = values.map((_, at) => at).sort((a, b) => values[a]! - values[b]!);
  const ranks = new Array<number>(values.length);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && values[order[to]!] === values[order[from]!]) {
      to++;
    }
    for (let at = from; at < to; at++) {
      ranks[order[at]!] = (from + to - 1) / 2;
    }
  }
  return ranks;
}
