import { Yielder } from '../../util/event-loop';
import { orderBy } from '../../util/sort';
import { chooseHeld, HELD, isUsable, KEPT, LEFT_OUT, MAX_HELD_ROWS } from '../train/holdout/holdout-plan';
import type { RowFacts } from '../train/holdout/row-facts';
import { SEEN, UNSEEN } from './seen-rows';

/** On fewer rows, chance decides which model is better. */
const MIN_ROWS = 30;
/** Classification: at least this many are not of the most frequent class. */
const MIN_OTHERS = 5;
/** Most rows to compare on, in percent of all. */
const MAX_PERCENT = 20;

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
  const sequence = await sequenceOf(facts);
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
async function sequenceOf({ rows, times, falling }: RowFacts): Promise<Int32Array> {
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
