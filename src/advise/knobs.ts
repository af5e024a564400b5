import type { Usual } from '../models/cards';
import type { VaryColumn } from '../settings/vary';
import type { Column, Label } from '../table';
import { ServiceError } from '../wire/service-error';

/** A column that may be changed: the values that it may take, and what taking them costs. */
export interface Knob {
  readonly column: string;
  readonly now: Label;
  /** `now`, or the allowed value nearest to it. */
  readonly stay: Label;
  /** The value at a place from 0 to 1 of all that are allowed. */
  at(place: number): Label;
  /** A value at most `radius` of the range away, or one step; of words any, in half of the cases the same. */
  near(value: Label, radius: number, random: () => number): Label;
  /** A part of the way back to `stay`, 0 to 1. */
  back(value: Label, part: number): Label;
  costOf(value: Label): number;
  /** Where a number lies between the bounds, 0 to 1; undefined of words. */
  placeOf(value: Label): number | undefined;
  /** The allowed number at a place as `placeOf` has it, or else the next one above or below it. */
  valueAt(place: number, isUp: boolean): Label;
  /** How far two values are from each other, in parts of the range; words are 1 apart. */
  apart(a: Label, b: Label): number;
}

/** A value for each knob. */
export type KnobValues = readonly Label[];

/** As fine as a thousandth of a range, to a power of ten: 82.37 of 60 to 120. */
export const finestStep = (range: number): number =>
  10 ** Math.floor(Math.log10(Math.max(range, Number.MIN_VALUE) / 1000));

class NumberKnob implements Knob {
  readonly column: string;
  readonly stay: number;
  private readonly low: number;
  private readonly high: number;
  private readonly step: number;
  /** A value that the steps go through. */
  private readonly anchor: number;
  private readonly lowest: number;
  private readonly count: number;
  /** What is no change: less than a thousandth of the range, where no dial has steps. */
  private readonly least: number;

  constructor(
    private readonly given: VaryColumn,
    readonly now: number,
    { low, high }: { low: number; high: number },
    { step, anchor, isDial }: { step: number; anchor: number; isDial: boolean },
  ) {
    this.low = low;
    this.high = high;
    this.step = step;
    this.anchor = anchor;
    this.least = isDial ? 0 : step;
    this.column = given.column;
    this.lowest = Math.ceil((low - anchor) / step - 1e-9);
    this.count = Math.floor((high - anchor) / step + 1e-9) - this.lowest + 1;
    this.stay = now >= low && now <= high ? now : this.snapped(now);
  }

  /** KnobValues that it may take, the present one among them. */
  get choices(): number {
    return Math.max(0, this.count) + (this.count > 0 && this.snapped(this.now) === this.stay ? 0 : 1);
  }

  at(place: number): number {
    return this.stepAt(Math.min(this.count - 1, Math.floor(place * this.count)));
  }

  near(value: Label, radius: number, random: () => number): number {
    const away = Math.max(this.step, radius * (this.high - this.low));
    return this.snapped((value as number) + away * (2 * random() - 1));
  }

  back(value: Label, part: number): number {
    return part >= 1 ? this.stay : this.snapped((value as number) + (this.stay - (value as number)) * part);
  }

  costOf(value: Label): number {
    const change = (value as number) - this.now;
    return Math.abs(change) * (this.given.cost ?? 0) + change * (this.given.price ?? 0);
  }

  placeOf(value: Label): number {
    return ((value as number) - this.low) / (this.high - this.low);
  }

  valueAt(place: number, isUp: boolean): number {
    const at = (this.low + place * (this.high - this.low) - this.anchor) / this.step;
    return this.allowed(isUp ? Math.ceil(at - 1e-9) : Math.floor(at + 1e-9));
  }

  apart(a: Label, b: Label): number {
    return Math.abs(Number(a) - Number(b)) / (this.high - this.low);
  }

  private snapped(value: number): number {
    return this.allowed(Math.round((value - this.anchor) / this.step));
  }

  /** So many steps from the anchor, or the nearest that is within the bounds. */
  private allowed(steps: number): number {
    return this.stepAt(Math.min(this.count - 1, Math.max(0, steps - this.lowest)));
  }

  private stepAt(at: number): number {
    // Without the noise of adding binary fractions.
    const value = Number((this.anchor + (this.lowest + at) * this.step).toPrecision(12));
    return Math.abs(value - this.stay) < this.least ? this.stay : value;
  }
}

class ChoiceKnob implements Knob {
  readonly stay: Label;

  constructor(
    readonly column: string,
    readonly now: Label,
    private readonly values: readonly Label[],
    private readonly cost: number,
  ) {
    this.stay = now;
  }

  at(place: number): Label {
    return this.values[Math.min(this.values.length - 1, Math.floor(place * this.values.length))]!;
  }

  near(value: Label, _radius: number, random: () => number): Label {
    return random() < 0.5 ? value : this.at(random());
  }

  back(value: Label, part: number): Label {
    return part >= 0.5 ? this.stay : value;
  }

  costOf(value: Label): number {
    return value === this.now ? 0 : this.cost;
  }

  placeOf(): undefined {
    return undefined;
  }

  valueAt(): Label {
    return this.now;
  }

  apart(a: Label, b: Label): number {
    return a === b ? 0 : 1;
  }
}

/**
 * The knobs of a question, in its order.
 *
 * @param now the present value of each column of the model, as its column has it; null where it is missing
 * @throws ServiceError `config.invalid`, `columns.missing`, `validation.failed`
 */
export function makeKnobs(
  vary: readonly VaryColumn[],
  columns: readonly Column[],
  usual: readonly Usual[],
  now: (column: string) => Label | null,
): Knob[] {
  if (vary.length === 0) {
    throw new ServiceError(
      'config.invalid',
      'No column may be changed: name at least one in the node, or in msg.vary.',
    );
  }
  return vary.map((given, place) => {
    const { column } = given;
    const at = columns.findIndex(({ name }) => name === column);
    if (vary.findIndex((one) => one.column === column) !== place) {
      throw new ServiceError(
        'config.invalid',
        `The column "${column}" is named twice among those that may be changed.`,
      );
    }
    if (at === -1) {
      throw new ServiceError(
        'columns.missing',
        `The model does not predict from "${column}", so changing it changes nothing. It has ${named(columns)}.`,
      );
    }
    const present = now(column);
    if (present === null) {
      throw new ServiceError(
        'validation.failed',
        `The row has no value in "${column}", which may be changed: its present setting must be known.`,
      );
    }
    return makeKnob(given, columns[at]!, usual[at]!, present);
  });
}

function makeKnob(given: VaryColumn, { name, type }: Column, usual: Usual, now: Label): Knob {
  if (type === 'date' || type === 'bigint') {
    const what = type === 'date' ? 'dates' : 'numbers with too many digits';
    throw new ServiceError('config.invalid', `"${name}" holds ${what}, which cannot be set.`);
  }
  if (usual.kind === 'category') {
    if ([given.from, given.to, given.step, given.price].some((one) => one !== undefined)) {
      throw new ServiceError(
        'config.invalid',
        `"${name}" holds words: it has no from, to, step and price, only a cost of choosing another.`,
      );
    }
    const values = usual.categories;
    if (values.filter((one) => one !== now).length === 0) {
      throw new ServiceError(
        'config.invalid',
        `The train set has no other value of "${name}" than "${String(now)}".`,
      );
    }
    return new ChoiceKnob(name, now, values, given.cost ?? 0);
  }
  return numberKnob(given, type, usual, Number(now));
}

function numberKnob(
  given: VaryColumn,
  type: Column['type'],
  usual: Usual & { kind: 'number' },
  now: number,
): Knob {
  const { column, from, to, step } = given;
  // Without bounds of the user the present value is always allowed.
  const low = from ?? Math.min(usual.q05, now);
  const high = to ?? Math.max(usual.q95, now);
  if (low > high) {
    throw new ServiceError('config.invalid', wrongBounds(given, low, high));
  }
  const isWhole = type === 'integer';
  if (isWhole && step !== undefined && !Number.isInteger(step)) {
    throw new ServiceError('config.invalid', `"${column}" holds whole numbers: its step cannot be ${step}.`);
  }
  const finest = finestStep(high - low);
  const own = step ?? (isWhole ? Math.max(1, finest) : finest);
  const steps = { step: own, anchor: step === undefined ? 0 : (from ?? 0), isDial: step !== undefined };
  const knob = new NumberKnob(given, now, { low, high }, steps);
  if (low === high || knob.choices < 2) {
    const inSteps = step === undefined ? '' : ` in steps of ${step}`;
    throw new ServiceError(
      'config.invalid',
      `From ${low} to ${high}${inSteps}, "${column}" has no other value than ${knob.stay}: widen its bounds${step === undefined ? '' : ', or make the step smaller'}.`,
    );
  }
  return knob;
}

function wrongBounds({ column, from, to }: VaryColumn, low: number, high: number): string {
  if (from !== undefined && to !== undefined) {
    return `The bounds of "${column}" are the wrong way round, ${low} to ${high}: name the lower one first.`;
  }
  // One bound was given, and the usual range of the train set ends on the other side of it.
  const usual = Number((from === undefined ? low : high).toPrecision(4));
  return from === undefined
    ? `"${column}" may be at most ${high}, but its lower bound is empty, and usually it is at least ${usual}: name both bounds.`
    : `"${column}" may be at least ${low}, but its upper bound is empty, and usually it is at most ${usual}: name both bounds.`;
}

function named(columns: readonly Column[]): string {
  const names = columns.slice(0, 10).map(({ name }) => `"${name}"`);
  return `${names.join(', ')}${columns.length > 10 ? ` and ${columns.length - 10} more` : ''}`;
}
