import { BoundedMap } from '../util/collections';
import { isObject } from '../util/values';
import type { Task } from '../wire/vocabulary';
import type { SettledPrediction, WatchCounts, WatchedRow } from './types';

/** Preferred lower level of the band to watch: 0.1 and 0.9 make an 80 % band. */
const WANTED_LEVEL = 0.1;
/** How many probabilities of one prediction are held: the largest ones. */
const MOST_CLASSES = 64;

type IssuedLabel = string | number | boolean;

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

/** Bounds on predictions that wait for their truth, and on the numbers that they hold together. */
const MOST_OPEN = 100_000;
const MOST_NUMBERS = 2_000_000;
/** Bounds on truths that wait for their prediction, and on settled ids that are remembered. */
const MOST_EARLY = 10_000;
const MOST_SETTLED = 10_000;

/** A prediction that waits for its truth. Immutable. */
export interface OpenPrediction {
  id: string;
  key: string | null;
  /** Milliseconds since 1970. */
  time: number;
  ahead: number | null;
  /** Which of the successive models made it. */
  generation: number;
  issued: Issued;
  /** For bands: as it left, its scale, and the nine quantiles 0.1 … 0.9 as they left, if all nine are predicted. */
  left?: MovedBand;
  scale?: number;
  nine?: number[];
  /** The current value of the target. */
  now?: number | string | boolean;
}

export interface OpenState {
  open: OpenPrediction[];
  early: [id: string, truth: unknown][];
  settled: string[];
  dropped: number;
  /** Missing in states of earlier versions. */
  unmet?: number;
  since?: number;
}

/** The names of a row: its id, then its place (key, time and ahead), as far as it has them. */
export function listPlaces({ id, key, time, ahead }: WatchedRow): string[] {
  const place = time === undefined ? [] : [`${key ?? ''} ${time} ${ahead ?? ''}`];
  return id === undefined ? place : [id, ...place];
}

/** Joins predictions and truths that arrive in either order. Both are bounded: the oldest are given up. */
export class OpenPredictions {
  private readonly open = new Map<string, OpenPrediction>();
  private readonly early: BoundedMap<string, unknown>;
  private readonly settled = new BoundedMap<string, true>(MOST_SETTLED);
  /** Ids by the place of their rows: a truth may carry only key and time. */
  private readonly idAt = new Map<string, string>();
  private numbers = 0;
  dropped: number;
  /** Early truths whose rows are as new as the predictions: their predictions should have been here. */
  unmet: number;
  /** Time of the oldest predicted row. */
  private since: number | undefined;

  constructor(state?: OpenState) {
    this.dropped = state?.dropped ?? 0;
    this.unmet = state?.unmet ?? 0;
    this.since = state?.since;
    this.early = new BoundedMap(MOST_EARLY);
    for (const one of state?.open ?? []) {
      this.keep(one);
    }
    for (const [id, truth] of state?.early ?? []) {
      this.early.set(id, truth);
    }
    for (const id of state?.settled ?? []) {
      this.settled.set(id, true);
    }
  }

  get counts(): Pick<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'> {
    const { open, early, dropped, unmet } = this;
    return { open: open.size, early: early.size, dropped, unmet };
  }

  /** Adds a prediction, or replaces the one with its id. False where its truth has been counted already. */
  add(prediction: OpenPrediction): boolean {
    const { id, time } = prediction;
    this.since = Math.min(this.since ?? time, time);
    if (this.settled.has(id)) {
      return false;
    }
    this.remove(id);
    this.keep(prediction);
    while (this.open.size > MOST_OPEN || this.numbers > MOST_NUMBERS) {
      this.remove(this.open.keys().next().value!);
      this.dropped++;
    }
    return true;
  }

  /**
   * Removes and returns the prediction of a truth. `early`: the truth waits until its prediction comes.
   *
   * @param names of the row, at least one
   * @param time of the row, where it is known
   */
  settle(names: readonly string[], truth: unknown, time?: number): OpenPrediction | 'early' | 'again' {
    const prediction = this.find(names);
    if (prediction === undefined) {
      if (names.some((name) => this.settled.has(name) || this.early.has(name))) {
        return 'again';
      }
      this.early.set(names[0]!, truth);
      this.unmet += this.isDue(time) ? 1 : 0;
      return 'early';
    }
    this.remove(prediction.id);
    this.settled.set(prediction.id, true);
    if (!names.includes(prediction.id)) {
      this.settled.set(names[0]!, true);
    }
    return prediction;
  }

  /** Removes and returns a truth that arrived before the prediction of its row. */
  takeEarly(names: readonly string[], time?: number): { truth: unknown } | undefined {
    const name = names.find((one) => this.early.has(one));
    if (name === undefined) {
      return undefined;
    }
    const truth = this.early.get(name);
    this.early.delete(name);
    this.unmet = Math.max(0, this.unmet - (this.isDue(time) ? 1 : 0));
    return { truth };
  }

  toJSON(): OpenState {
    return {
      open: [...this.open.values()],
      early: [...this.early],
      settled: [...this.settled.keys()],
      dropped: this.dropped,
      unmet: this.unmet,
      ...(this.since !== undefined && { since: this.since }),
    };
  }

  private find(names: readonly string[]): OpenPrediction | undefined {
    for (const name of names) {
      const found = this.open.get(name) ?? this.open.get(this.idAt.get(name) ?? name);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }

  /** Whether a truth should have met a prediction: rows from before the first one, as in a table of the past, have none. */
  private isDue(time: number | undefined): boolean {
    return this.since !== undefined && (time === undefined || time >= this.since);
  }

  private keep(prediction: OpenPrediction): void {
    const { id } = prediction;
    this.open.set(id, prediction);
    this.numbers += countNumbers(prediction);
    const place = makePlace(prediction);
    if (place !== id) {
      this.idAt.set(place, id);
    }
  }

  private remove(id: string): void {
    const known = this.open.get(id);
    if (known !== undefined) {
      this.open.delete(id);
      const place = makePlace(known);
      if (this.idAt.get(place) === id) {
        this.idAt.delete(place);
      }
      this.numbers -= countNumbers(known);
    }
  }
}

function makePlace({ key, time, ahead }: OpenPrediction): string {
  return listPlaces({ key, time, ahead })[0]!;
}

/** A measure of the memory that a prediction takes. */
function countNumbers({ issued, nine }: OpenPrediction): number {
  return 10 + (nine?.length ?? 0) + (issued.kind === 'classes' ? 2 * issued.probabilities.length : 0);
}

/** Points per picture, and in all pictures together. */
const MOST = 200;
const MOST_OF_ALL = 600;

/** For pictures: the newest truths of each key and ahead, with their predictions as they left. */
export class SettledPredictions {
  /** By key and ahead, in order of their newest truth. */
  private readonly places = new Map<string, SettledPrediction[]>();
  private size = 0;

  constructor(state: readonly SettledPrediction[] = []) {
    state.forEach((one) => this.keep(one));
  }

  add({ key, time, ahead, issued, left }: OpenPrediction, truth: unknown): void {
    this.keep({
      ...(key !== null && { key }),
      ...(ahead !== null && { ahead }),
      time: time + (ahead ?? 0),
      truth: truth as SettledPrediction['truth'],
      prediction: 'label' in issued ? issued.label : (left?.middle ?? issued.middle),
      ...(left && { low: left.low, high: left.high }),
    });
  }

  /** In order of time, the oldest first. */
  toJSON(): SettledPrediction[] {
    return [...this.places.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, newest]) => newest)
      .sort((a, b) => a.time - b.time);
  }

  private keep(one: SettledPrediction): void {
    const place = `${one.key ?? ''} ${one.ahead ?? ''}`;
    const newest = this.places.get(place) ?? [];
    this.places.delete(place);
    this.places.set(place, newest);
    newest.push(one);
    this.size++;
    if (newest.length > MOST) {
      newest.shift();
      this.size--;
    }
    if (this.size > MOST_OF_ALL) {
      this.dropOldest();
    }
  }

  /** Drops from the place with the most points; among equals, from the one updated least recently. */
  private dropOldest(): void {
    let longest: [place: string, newest: SettledPrediction[]] | undefined;
    for (const entry of this.places) {
      if (longest === undefined || entry[1].length > longest[1].length) {
        longest = entry;
      }
    }
    const [place, newest] = longest!;
    newest.shift();
    this.size--;
    if (newest.length === 0) {
      this.places.delete(place);
    }
  }
}
