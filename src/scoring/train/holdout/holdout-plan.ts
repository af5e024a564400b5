import { Yielder } from '../../../util/event-loop';
import { seededRandom } from '../../../util/random';
import { sortedCopy } from '../../../util/sort';
import type { RowFacts } from './row-facts';

/** Classes of all rows, by code, and how many there are of each. */
export interface Coded {
  codes: Int32Array;
  counts: number[];
}

/** More rows than these make the scores no surer, and a metered service charges for each. */
export const MAX_HELD_ROWS = 10_000;

/** What becomes of a row. */
export const KEPT = 0;
export const HELD = 1;
/** Neither fitted nor scored. */
export const LEFT_OUT = 2;

export interface HoldoutChoice {
  /** Part of the rows to keep back; at most MAX_HELD_ROWS are. */
  percent: number;
  seed: number;
  /** Where rows follow each other in time: rows this near to a held-out one are left out. */
  embargo: number;
  /** Where rows follow each other in time: their groups go on, so the newest rows of all are kept back. */
  groupsGoOn?: boolean;
}

/**
 * Which rows are kept back: whole groups where rows belong together and do not go on, the newest where they follow each
 * other in time, else some of each class by chance. Undefined where that leaves nothing to score, or too little to fit.
 */
export async function planRows(facts: RowFacts, choice: HoldoutChoice): Promise<Uint8Array | undefined> {
  const { percent, embargo } = choice;
  const quota = Math.min(MAX_HELD_ROWS, Math.floor((facts.rows * percent) / 100 + 1e-9));
  const plan = await chooseRows(facts, quota, choice);
  if (facts.order === 'time' && embargo > 0) {
    leaveOutNeighbours(plan, embargo);
  }
  return isUsable(plan, facts) ? plan : undefined;
}

function chooseRows(
  facts: RowFacts,
  quota: number,
  { percent, seed, groupsGoOn }: HoldoutChoice,
): Promise<Uint8Array> {
  const inTime = facts.order === 'time';
  if (facts.groups !== undefined && !(inTime && groupsGoOn === true)) {
    return chooseGroups(facts, facts.groups, quota, seed);
  }
  return inTime ? chooseNewest(facts, quota) : chooseHeld(facts, percent, seed);
}

/** The newest rows, by the column that tells the time, else the last ones. Rows of one time stay together. */
async function chooseNewest({ rows, times }: RowFacts, quota: number): Promise<Uint8Array> {
  const plan = new Uint8Array(rows);
  const known = times?.filter((time) => !Number.isNaN(time));
  if (times === undefined || known === undefined || known.length <= quota) {
    return plan.fill(HELD, rows - quota);
  }
  const newestKept = (await sortedCopy(known))[known.length - quota - 1]!;
  return plan.map((_, row) => (times[row]! > newestKept ? HELD : KEPT));
}

/** Whole groups: the newest ones where rows follow each other in time, else some by chance. */
async function chooseGroups(
  facts: RowFacts,
  groups: Int32Array,
  quota: number,
  seed: number,
): Promise<Uint8Array> {
  const list = await groupsOf(facts, groups);
  const byTime = facts.order === 'time';
  const order = byTime ? list.sort((a, b) => b.newest - a.newest) : shuffled(list, seededRandom(seed));
  const left = facts.task === 'classification' ? [...facts.counts] : [];
  const plan = new Uint8Array(facts.rows);
  let held = 0;
  for (const { rows } of order) {
    const fits = held + rows.length <= quota || (held === 0 && rows.length * 2 <= facts.rows);
    if (fits && leavesEachClass(rows, facts.codes, left)) {
      for (const row of rows) {
        plan[row] = HELD;
      }
      held += rows.length;
    } else if (byTime && held > 0) {
      break;
    }
  }
  return plan;
}

interface Group {
  rows: number[];
  newest: number;
}

async function groupsOf({ rows, times, falling }: RowFacts, groups: Int32Array): Promise<Group[]> {
  const yielder = new Yielder();
  const list: Group[] = [];
  for (let row = 0; row < rows; row++) {
    const group = (list[groups[row]!] ??= { rows: [], newest: -Infinity });
    const time = times === undefined ? (falling ? -row : row) : times[row]!;
    group.rows.push(row);
    group.newest = Math.max(group.newest, Number.isNaN(time) ? -Infinity : time);
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return list;
}

/** Takes the rows out of the counts, unless that would leave a class without any. */
function leavesEachClass(rows: readonly number[], codes: Int32Array, left: number[]): boolean {
  if (left.length === 0) {
    return true;
  }
  const own = new Map<number, number>();
  for (const row of rows) {
    own.set(codes[row]!, (own.get(codes[row]!) ?? 0) + 1);
  }
  if ([...own].some(([code, count]) => count >= left[code]!)) {
    return false;
  }
  for (const [code, count] of own) {
    left[code]! -= count;
  }
  return true;
}

function leaveOutNeighbours(plan: Uint8Array, embargo: number): void {
  for (const step of [1, -1]) {
    let left = 0;
    for (let row = step > 0 ? 0 : plan.length - 1; row >= 0 && row < plan.length; row += step) {
      if (plan[row] === HELD) {
        left = embargo;
      } else if (left > 0) {
        left--;
        plan[row] = LEFT_OUT;
      }
    }
  }
}

/** Something to score, and something to fit: of two classes at least, where there are two. */
export function isUsable(plan: Uint8Array, { task, codes, counts }: RowFacts): boolean {
  const kept = new Set<number>();
  let held = false;
  for (let row = 0; row < plan.length; row++) {
    held ||= plan[row] === HELD;
    if (plan[row] === KEPT) {
      kept.add(codes[row] ?? 0);
    }
  }
  return held && kept.size >= (task === 'classification' ? Math.min(2, counts.length) : 1);
}

function shuffled<Item>(list: Item[], random: () => number): Item[] {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other]!, list[last]!];
  }
  return list;
}

/**
 * Which rows are kept back: `true` where the mask is 1. Each class gives its part of them, to a row, and always keeps
 * one at least; which of its rows is by chance (Knuth, The Art of Computer Programming 2, algorithm S). The same seed
 * and rows give the same mask.
 *
 * @param percent of the rows; at most MAX_HELD_ROWS are kept back
 */
export async function chooseHeld(
  { codes, counts }: Coded,
  percent: number,
  seed: number,
): Promise<Uint8Array> {
  const part = Math.min(percent / 100, MAX_HELD_ROWS / Math.max(1, codes.length));
  const quota = quotas(counts, part);
  const left = [...counts];
  const random = seededRandom(seed);
  const held = new Uint8Array(codes.length);
  const yielder = new Yielder();
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!;
    if (random() * left[code]!-- < quota[code]!) {
      held[row] = 1;
      quota[code]!--;
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return held;
}

/**
 * Rounded so that what one class loses by it the next gains: many small classes together give their part too. What a
 * class cannot give, because one row must stay, is not asked of another.
 */
function quotas(counts: readonly number[], part: number): number[] {
  let owed = 0;
  return counts.map((count) => {
    owed += count * part;
    // The sum of parts such as 0.1 falls short of a whole number by its rounding.
    const whole = Math.floor(owed + 1e-9);
    owed -= whole;
    return Math.max(0, Math.min(count - 1, whole));
  });
}
