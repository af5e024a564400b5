import type { Reference, SeenRows } from '../models/cards';
import type { Column } from '../table/cells/types';
import { type ColumnBatch, numberAt } from '../table/columns/column-batch';
import { orderBy, sortedCopy } from '../util/collections';
import { Yielder } from '../util/concurrency';
import { chooseHeld, HELD, isUsable, KEPT, LEFT_OUT, MAX_HELD_ROWS, type RowFacts } from './holdout-plan';

/** A value is unusual if it lies outside the known range by more than this many times that range. */
const BEYOND = 1;
/** Fewer outcomes say too little about the range. */
const LEAST_KNOWN = 30;
/** An outcome or a sensor is stuck if this fraction of the rows has one value, and at most half as many of the known rows had one. */
const STILL = 0.2;
/** A sensor moves where no larger a part of the rows that are known has the value of the one before. */
const MOVES = 0.1;
/** On fewer rows, chance decides which model is better. */
const MIN_ROWS = 30;
/** Classification: at least this many are not of the most frequent class. */
const MIN_OTHERS = 5;
/** Most rows to compare on, in percent of all. */
const MAX_PERCENT = 20;

/** Whether a model has seen a row. */
export const UNSEEN = 0;
export const SEEN = 1;
/** The model may have learned from it: it was fitted on more rows than are remembered. */
export const UNCERTAIN = 2;

/** Most digests kept of a train set: of a longer one, the lowest, which are a random sample. */
const MAX_KEPT = 20_000;
const BYTES = 6;

export async function keepDigests(digests: Float64Array): Promise<SeenRows> {
  const sorted = await sortedCopy(digests);
  const bytes = Buffer.alloc(Math.min(sorted.length, MAX_KEPT) * BYTES);
  let kept = 0;
  for (let at = 0; at < sorted.length && kept < MAX_KEPT; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) {
      bytes.writeUIntBE(sorted[at]!, kept * BYTES, BYTES);
      kept++;
    }
  }
  return { rows: digests.length, digests: bytes.toString('base64', 0, kept * BYTES) };
}

/** Per row of another table, by its digest: SEEN, UNSEEN or UNCERTAIN. */
export async function whichSeen({ digests: text }: SeenRows, digests: Float64Array): Promise<Uint8Array> {
  const bytes = Buffer.from(text, 'base64');
  const kept = new Set<number>();
  let highest = 0;
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) {
    highest = bytes.readUIntBE(at, BYTES);
    kept.add(highest);
  }
  const all = kept.size < MAX_KEPT;
  const verdicts = new Uint8Array(digests.length);
  const yielder = new Yielder();
  for (let row = 0; row < digests.length; row++) {
    const digest = digests[row]!;
    verdicts[row] = kept.has(digest) ? SEEN : all || digest < highest ? UNSEEN : UNCERTAIN;
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return verdicts;
}

interface Range {
  low: number;
  high: number;
}

/** What the champion knows of a column. */
interface KnownNumbers {
  range: Range;
  /** Of some rows, in their order. */
  values: Float64Array;
  /** Whether a row rarely has the value of the one before. */
  moves: boolean;
}

interface ComparedRows {
  /** The features of the table, and of the rows that are compared. */
  features: readonly Column[];
  batches: () => AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>;
  /** Their numbers in the table. */
  numbers: Int32Array;
}

export interface KnownRows {
  /** What the champion knows of its train set. */
  reference: Pick<Reference, 'columns' | 'rows' | 'usual' | 'putOff'> | undefined;
  /** Of each row of the table: whether the champion was fitted on it. */
  seen: Uint8Array;
}

/**
 * Of each row that two models are compared on, 1 where its numbers and its outcome are such as the champion was fitted on:
 * not far beyond their range, and neither an outcome nor a sensor that stands still. Where a sensor is broken they are not.
 */
export async function usualRows(
  { features, batches, numbers }: ComparedRows,
  { reference, seen }: KnownRows,
  facts: RowFacts,
): Promise<Uint8Array> {
  const usual = usualOutcomes(facts, numbers, seen);
  const known = features.map(({ name }) =>
    name === facts.clock ? undefined : knownNumbers(name, reference),
  );
  const compared = known.map((one) => (one?.moves ? new Float64Array(numbers.length) : undefined));
  const yielder = new Yielder();
  let first = 0;
  for await (const { rows, columns } of batches()) {
    for (let row = 0; row < rows; row++) {
      known.forEach((one, at) => {
        if (one === undefined) {
          return;
        }
        const value = numberAt(columns[at]!, row);
        if (isFar(value, one.range)) {
          usual[first + row] = 0;
        }
        const own = compared[at];
        if (own !== undefined) {
          own[first + row] = value;
        }
      });
      if (yielder.isDueAt(row)) {
        await yielder.yield();
      }
    }
    first += rows;
  }
  for (const [at, own] of compared.entries()) {
    const still = own && stillValue(own, known[at]!.values);
    own?.forEach((value, row) => (usual[row] = value === still ? 0 : usual[row]!));
    await yielder.due();
  }
  return usual;
}

/** Of numbers: dates go on, and categories have no range. */
function knownNumbers(name: string, reference: KnownRows['reference']): KnownNumbers | undefined {
  const at = reference?.columns.findIndex((column) => column.name === name) ?? -1;
  const usual = reference?.usual[at];
  if (usual?.kind !== 'number' || reference!.columns[at]!.type === 'date') {
    return undefined;
  }
  const values = Float64Array.from(reference!.rows, (row) => Number(row[at] ?? NaN));
  return { range: { low: usual.min, high: usual.max }, values, moves: doesMove(values) };
}

/** A set point, a month or a count keeps its value for a while: it is not stuck. */
function doesMove(values: Float64Array): boolean {
  const stays = values.reduce((count, value, row) => count + (value === values[row - 1] ? 1 : 0), 0);
  const known = values.filter((value) => !Number.isNaN(value)).length;
  return known >= LEAST_KNOWN && stays <= MOVES * known;
}

function isFar(value: number, { low, high }: Range): boolean {
  // A column that never changed says nothing about how much it may.
  const reach = high > low ? BEYOND * (high - low) : Infinity;
  return value < low - reach || value > high + reach;
}

function usualOutcomes({ task, values }: RowFacts, numbers: Int32Array, seen: Uint8Array): Uint8Array {
  const usual = new Uint8Array(numbers.length).fill(1);
  const known = task === 'regression' ? values.filter((_, row) => seen[row] === SEEN) : [];
  if (known.length < LEAST_KNOWN) {
    return usual;
  }
  const range = { low: Infinity, high: -Infinity };
  for (const value of known) {
    range.low = Math.min(range.low, value);
    range.high = Math.max(range.high, value);
  }
  const compared = Float64Array.from(numbers, (row) => values[row]!);
  const still = stillValue(compared, known);
  compared.forEach((value, at) => {
    usual[at] = isFar(value, range) || value === still ? 0 : 1;
  });
  return usual;
}

/** The value at which these stand still; undefined where they do not. @param known what they were before */
function stillValue(values: Float64Array, known: ArrayLike<number>): number | undefined {
  const most = mostFrequent(values);
  const part = findPart(values, most);
  return part >= STILL && 2 * findPart(known, most) < part ? most : undefined;
}

function mostFrequent(values: Float64Array): number {
  const counts = new Map<number, number>();
  let most = NaN;
  for (const value of values) {
    const count = (counts.get(value) ?? 0) + 1;
    counts.set(value, count);
    most = count > (counts.get(most) ?? 0) ? value : most;
  }
  return most;
}

function findPart(values: ArrayLike<number>, wanted: number): number {
  let count = 0;
  for (let at = 0; at < values.length; at++) {
    count += values[at] === wanted ? 1 : 0;
  }
  return count / values.length;
}

export interface TestRowsChoice {
  /** Per row: whether the champion has learned from it. */
  seen: Uint8Array;
  /** Rows to leave out between what a model has learned from and what it is scored on, where rows follow in time. */
  embargo: number;
  seed: number;
  /** A smaller embargo is then better than no comparison. */
  isDecayed: boolean;
}

/** How each row is used; or how many rows are new to the champion, if they are too few to compare on. */
export type TestRows = { plan: Uint8Array } | { tooFew: string };

/**
 * The rows that champion and challenger are compared on: new to both. Where rows follow each other in time they are the
 * newer half of those that came after the champion's, so that the challenger learns from the older half of them; else a
 * half of those that the champion has not seen, by chance. A group that the champion does not know is not split.
 */
export async function chooseTestRows(facts: RowFacts, choice: TestRowsChoice): Promise<TestRows> {
  const chosen = await (facts.order === 'time'
    ? newestRows(facts, choice)
    : someUnseen(facts, choice, choice.seed));
  if ('tooFew' in chosen) {
    return chosen;
  }
  const { plan } = chosen;
  if (facts.task === 'classification') {
    const held = facts.counts.map(() => 0);
    plan.forEach((what, row) => (held[facts.codes[row]!]! += what === HELD ? 1 : 0));
    const others = held.reduce((sum, count) => sum + count, 0) - Math.max(...held);
    if (facts.counts.length > 1 && others < MIN_OTHERS) {
      return {
        tooFew: `only ${others} of the newest rows are of another class than the most frequent one, and ${MIN_OTHERS} are needed`,
      };
    }
  }
  return isUsable(plan, facts)
    ? chosen
    : { tooFew: 'the other rows would be too few to learn from, or all of one class' };
}

async function newestRows(facts: RowFacts, choice: TestRowsChoice): Promise<TestRows> {
  const { rows, times } = facts;
  const sequence = await findSequence(facts);
  const isNewer = newerRows(sequence, facts, choice.seen);
  const newer = isNewer.reduce((count, one) => count + one, 0);
  const embargo = choice.isDecayed
    ? Math.max(0, Math.min(choice.embargo, newer - 2 * MIN_ROWS))
    : choice.embargo;
  const most = Math.min(MAX_HELD_ROWS, Math.floor((rows * MAX_PERCENT) / 100));
  const held = Math.min(most, Math.floor((newer - embargo) / 2));
  if (held < MIN_ROWS) {
    return { tooFew: tooFew(newer, Math.max(2 * MIN_ROWS + embargo, newer + 1)) };
  }
  let from = rows;
  for (let left = held; left > 0; left -= isNewer[sequence[from]!]!) {
    from--;
  }
  // Rows with the same time stay together.
  while (times !== undefined && from < rows && times[sequence[from]!] === times[sequence[from - 1]!]) {
    from++;
  }
  const plan = new Uint8Array(rows);
  for (let at = Math.max(0, from - embargo); at < rows; at++) {
    const row = sequence[at]!;
    // What the champion knows of a machine that is ahead of others the challenger may know too.
    plan[row] = at < from ? LEFT_OUT : isNewer[row] === 1 ? HELD : KEPT;
  }
  leaveOutNewGroups(plan, facts, isNewer);
  const left = plan.reduce((count, what) => count + (what === HELD ? 1 : 0), 0);
  return left < MIN_ROWS
    ? { tooFew: `only ${left} rows are newer than those of one time before them` }
    : { plan };
}

/** Of each row, whether it came after those that the champion has seen: of each group by itself, since one may be behind. */
function newerRows(sequence: Int32Array, { groups }: RowFacts, seen: Uint8Array): Uint8Array {
  const isNewer = new Uint8Array(sequence.length);
  for (const own of groups === undefined ? [sequence] : byGroup(sequence, groups)) {
    for (let at = firstNewer(own, seen); at < own.length; at++) {
      isNewer[own[at]!] = 1;
    }
  }
  return isNewer;
}

/** The rows of each group, in the same sequence. */
function byGroup(sequence: Int32Array, groups: Int32Array): number[][] {
  const rows: number[][] = [];
  for (const row of sequence) {
    (rows[groups[row]!] ??= []).push(row);
  }
  return rows.filter((own) => own !== undefined);
}

/** A group that began after the champion's rows is not learned from where some of it is held back. */
function leaveOutNewGroups(plan: Uint8Array, { groups }: RowFacts, isNewer: Uint8Array): void {
  if (groups === undefined) {
    return;
  }
  const known = new Set(groups.filter((_, row) => isNewer[row] === 0));
  const held = new Set<number>();
  plan.forEach((what, row) => {
    if (what === HELD && !known.has(groups[row]!)) {
      held.add(groups[row]!);
    }
  });
  plan.forEach((what, row) => {
    if (what === KEPT && held.has(groups[row]!)) {
      plan[row] = LEFT_OUT;
    }
  });
}

/** The rows from the oldest to the newest. */
async function findSequence({ rows, times, falling }: RowFacts): Promise<Int32Array> {
  return times === undefined
    ? Int32Array.from({ length: rows }, (_, at) => (falling ? rows - 1 - at : at))
    : orderBy(times);
}

/**
 * Where in the sequence the champion's rows end: it has seen most of what is before and least of what is after. A row
 * that only looks like one it has seen, such as of a machine at rest, changes that little.
 */
function firstNewer(sequence: ArrayLike<number>, seen: Uint8Array): number {
  let first = 0;
  let best = 0;
  let balance = 0;
  for (let at = 0; at < sequence.length; at++) {
    const what = seen[sequence[at]!];
    balance += what === SEEN ? 1 : what === UNSEEN ? -1 : 0;
    if (balance >= best && what === SEEN) {
      best = balance;
      first = at + 1;
    }
  }
  return first;
}

async function someUnseen(facts: RowFacts, choice: TestRowsChoice, seed: number): Promise<TestRows> {
  const { seen } = choice;
  const known = new Set<number>();
  const { groups } = facts;
  if (groups !== undefined) {
    seen.forEach((what, row) => what === SEEN && known.add(groups[row]!));
  }
  const candidates: number[] = [];
  const yielder = new Yielder();
  for (let row = 0; row < facts.rows; row++) {
    if (seen[row] === UNSEEN && (groups === undefined || !known.has(groups[row]!))) {
      candidates.push(row);
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  const most = Math.floor((facts.rows * MAX_PERCENT) / 100);
  const part = Math.min(0.5, most / Math.max(1, candidates.length));
  // A group is drawn as one, by its number; rows of their own are drawn by class.
  const units = Int32Array.from(candidates, (row) =>
    groups === undefined ? (facts.codes[row] ?? 0) : groups[row]!,
  );
  const mask = groups === undefined ? await drawRows(units, part, seed) : await drawGroups(units, part, seed);
  const plan = new Uint8Array(facts.rows);
  let held = 0;
  candidates.forEach((row, at) => {
    plan[row] = mask[at] === 1 ? HELD : KEPT;
    held += mask[at]!;
  });
  return held < MIN_ROWS ? { tooFew: tooFew(candidates.length, 2 * MIN_ROWS) } : { plan };
}

async function drawRows(codes: Int32Array, part: number, seed: number): Promise<Uint8Array> {
  const counts: number[] = [];
  codes.forEach((code) => (counts[code] = (counts[code] ?? 0) + 1));
  return chooseHeld({ codes, counts: Array.from(counts, (count) => count ?? 0) }, 100 * part, seed);
}

/** Which candidates: all rows of some of the groups. */
async function drawGroups(groups: Int32Array, part: number, seed: number): Promise<Uint8Array> {
  const numbers = new Map<number, number>();
  groups.forEach((group) => numbers.has(group) || numbers.set(group, numbers.size));
  const codes = new Int32Array(numbers.size);
  const drawn = await chooseHeld({ codes, counts: [codes.length] }, 100 * part, seed);
  return Uint8Array.from(groups, (group) => drawn[numbers.get(group)!]!);
}

function tooFew(newer: number, needed: number): string {
  return `${newer} rows are new to the model in charge, and ${needed} are needed`;
}
