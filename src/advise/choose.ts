import { KNOWN_GROUND } from './search';
import type { Candidate } from './types';

/** Without a limit: what is within this part of the most that can be gained is as good, and the cheapest of it is taken. */
const AS_GOOD = 0.01;

/** What was found of all candidates. */
export interface FoundSettings {
  /** Those that do, the best first; empty where none does on known ground. */
  good: Candidate[];
  /** What comes nearest to the goal on known ground. */
  nearest?: Candidate;
  /** What reaches it elsewhere: the one most like the train set. */
  outside?: Candidate;
}

const isKnown = ({ unlike }: Candidate): boolean => unlike.rank <= KNOWN_GROUND;

/** Costs are sums of fractions: those that differ by less are equal. */
const EQUAL = 1e-9;

/** The cheapest first; of equal ones the smallest change. */
export function byCost(a: Candidate, b: Candidate): number {
  const apart = a.cost - b.cost;
  return Math.abs(apart) > EQUAL * (Math.abs(a.cost) + Math.abs(b.cost)) ? apart : a.size - b.size;
}

const byReach = (a: Candidate, b: Candidate): number => b.reach - a.reach;

export function choose(all: readonly Candidate[], hasLimit: boolean): FoundSettings {
  const predicted = all.filter(({ reach }) => !Number.isNaN(reach));
  const known = predicted.filter(isKnown);
  const nearer = (best: Candidate | undefined, one: Candidate): Candidate =>
    best === undefined || one.reach > best.reach ? one : best;
  return {
    good: hasLimit ? known.filter(({ reach }) => reach >= 0).sort(byCost) : [...known].sort(byReach),
    nearest: known.reduce<Candidate | undefined>(nearer, undefined),
    outside: hasLimit ? mostAlike(predicted.filter((one) => !isKnown(one) && one.reach >= 0)) : undefined,
  };
}

/** The one most like the train set. */
export function mostAlike(all: readonly Candidate[]): Candidate | undefined {
  return all.reduce<Candidate | undefined>(
    (likest, one) => (likest === undefined || one.unlike.rank < likest.unlike.rank ? one : likest),
    undefined,
  );
}

/** Where to look next. */
export function promising(all: readonly Candidate[], hasLimit: boolean): Candidate[] {
  const { good, nearest, outside } = choose(all, hasLimit);
  return good.length > 0 ? good : [nearest, outside].filter((one) => one !== undefined);
}

/** The candidates of the highest reach in the order to advise them: those that are about as good, the cheapest first. */
export function asGood(good: readonly Candidate[], now: number): Candidate[] {
  const most = good[0]?.reach ?? now;
  return good.filter(({ reach }) => reach > now && reach >= most - AS_GOOD * (most - now)).sort(byCost);
}
