import { Yielder } from '../util/concurrency';
import type { Knob, KnobValues } from './knobs';
import { cheapestAlong, slopesAt } from './slopes';
import type { Candidate, CandidateAnswer } from './types';

/** More unlike the train set than this part of its own rows: no known ground. */
export const KNOWN_GROUND = 0.95;

/** Rounds after the first, and the part of all candidates that the first one gets. */
const NARROWER = 4;
const FIRST = 0.5;
/** The best that a round looks around, and how far, in parts of the range: a third of it in each further round. */
const CENTRES = 6;
const RADIUS = 0.2;
const NARROWING = 1 / 3;
/** Of those of the first round: places for one knob alone, and the part in which a few knobs are changed at a time. */
const ALONE = 16;
const FEW = 0.5;

/** Of each further round: the part that looks to both sides of the cheapest ones, for edges. */
const SIDES = 0.3;
/** Of what is left: the part that follows slopes, from the best one of each combination of words, so many of them. */
const SLOPED = 0.5;
const SLOPED_CENTRES = 4;
/** Slopes are measured over so many candidates for each knob, and followed so far, in parts of the radius. */
const MEASURED = [6, 24];
const FOLLOWED = [5, 1.5, 0.5];
/** What is reached beyond the limit, were the slopes true, in standard errors of them. */
const SPARE = [0, 0.5, -0.5, 1, 2];

/** Of those that look around: the part that goes the way from one good candidate to another, and of how many of them. */
const BETWEEN = 0.4;
/** Of the rest: the part on the way back to the present setting. */
const BACK = 0.45;
const PARENTS = 40;

/** Predicts settings, in one batch. */
export type Ask = (settings: KnobValues[]) => Promise<CandidateAnswer[]>;

/** How many candidates each round asks for, of so many in all. */
export function searchRounds(candidates: number): number[] {
  const first = Math.ceil(candidates * FIRST);
  const each = Math.floor((candidates - first) / NARROWER);
  return each === 0 ? [candidates] : [candidates - NARROWER * each, ...Array<number>(NARROWER).fill(each)];
}

/**
 * Looks for the best setting: first all over the range, then around the best that were found, in ever narrower rounds, on
 * the way back from them to the present setting, and to where their slopes say that it gets cheaper. The reach of what
 * lies at an edge is lowered.
 *
 * @param best the most promising candidates, as far as they are known; empty where there is nothing to look for
 * @returns all candidates that were asked for, the present setting first
 */
export async function search(
  knobs: readonly Knob[],
  ask: Ask,
  best: (all: readonly Candidate[]) => readonly Candidate[],
  { hasLimit, rounds, random }: { hasLimit: boolean; rounds: readonly number[]; random: () => number },
): Promise<Candidate[]> {
  const all: Candidate[] = [];
  /** The reach of each setting as it was predicted; NaN until it is. */
  const seen = new Map<string, number>();
  const edges = new Edges(knobs);
  let turn: Promise<void> | undefined;
  const yielder = new Yielder();
  /** Adds those that are new, until there are so many. */
  const gather = async (
    settings: KnobValues[],
    wanted: Iterable<KnobValues> | AsyncIterable<KnobValues>,
    most: number,
  ): Promise<void> => {
    for await (const setting of wanted) {
      const key = JSON.stringify(setting);
      if (!seen.has(key)) {
        seen.set(key, Number.NaN);
        settings.push(setting);
      }
      if (settings.length >= most) {
        break;
      }
      if ((turn = yielder.due()) !== undefined) {
        await turn;
      }
    }
  };
  const take = async (settings: KnobValues[]): Promise<void> => {
    if (settings.length > 0) {
      const answers = await ask(settings);
      for (const [at, setting] of settings.entries()) {
        all.push(makeCandidate(knobs, setting, answers[at]!));
        seen.set(JSON.stringify(setting), answers[at]!.reach);
        if ((turn = yielder.due()) !== undefined) {
          await turn;
        }
      }
    }
  };
  const first: KnobValues[] = [];
  await gather(first, start(knobs, rounds[0]!, random), rounds[0]!);
  await take(first);
  let radius = RADIUS;
  for (const most of rounds.slice(1)) {
    const good = best(all);
    const centres = good.slice(0, CENTRES);
    if (centres.length === 0) {
      break;
    }
    const settings: KnobValues[] = [];
    if (hasLimit) {
      await gather(settings, edges.sides(good, Math.floor(most * SIDES)), most);
      const rest = settings.length + Math.floor((most - settings.length) * SLOPED);
      await gather(settings, along(knobs, good, all, radius), rest);
    }
    await gather(settings, around(knobs, good, { radius, count: most }, random), most);
    const known = all.length;
    await take(settings);
    await edges.lower(all, (setting) => seen.get(JSON.stringify(setting))!, new Set(all.slice(known)));
    radius *= NARROWING;
  }
  return all;
}

function makeCandidate(knobs: readonly Knob[], setting: KnobValues, answer: CandidateAnswer): Candidate {
  return {
    ...answer,
    setting,
    cost: knobs.reduce((sum, knob, at) => sum + knob.costOf(setting[at]!), 0),
    size: knobs.reduce((sum, knob, at) => sum + knob.apart(setting[at]!, knob.now), 0),
  };
}

/** The present setting, each knob alone over its range, and all over the range: some with a few knobs changed, the rest with all. */
function* start(knobs: readonly Knob[], count: number, random: () => number): Generator<KnobValues> {
  const stay = knobs.map((knob) => knob.stay);
  yield stay;
  const alone = Math.min(ALONE, Math.ceil(count / 4 / knobs.length));
  for (const [at, knob] of knobs.entries()) {
    for (let place = 0; place < alone; place++) {
      yield stay.with(at, knob.at((place + 0.5) / alone));
    }
  }
  const points = haltonPoints(2 * count, knobs.length, random);
  for (let point = 0; point < 2 * count; point++) {
    const few = random() < FEW ? (2 + Math.floor(random() * 2)) / knobs.length : 1;
    yield knobs.map((knob, at) => (random() < few ? knob.at(points[at]![point]!) : knob.stay));
  }
}

/** Settings that are cheaper than the best ones, or reach more, were the slopes there true. */
async function* along(
  knobs: readonly Knob[],
  good: readonly Candidate[],
  all: readonly Candidate[],
  radius: number,
): AsyncGenerator<KnobValues> {
  const words = ({ setting }: Candidate): string =>
    JSON.stringify(setting.filter((value, at) => knobs[at]!.placeOf(value) === undefined));
  const centres = new Map<string, Candidate>();
  for (const one of good) {
    const key = words(one);
    if (!centres.has(key) && centres.size < SLOPED_CENTRES) {
      centres.set(key, one);
    }
  }
  for (const centre of centres.values()) {
    const counts = MEASURED.map((count) => count * (knobs.length + 1));
    const slopes = await slopesAt(centre, all, knobs, counts);
    for (const spare of SPARE) {
      for (const part of FOLLOWED) {
        for (const one of slopes) {
          yield cheapestAlong(one, centre, knobs, { radius: part * radius, wanted: spare * one.error });
        }
      }
    }
  }
}

/** Settings near the best ones, and on the way back from them; and as far and in the direction as two good ones are apart. */
function* around(
  knobs: readonly Knob[],
  good: readonly Candidate[],
  { radius, count }: { radius: number; count: number },
  random: () => number,
): Generator<KnobValues> {
  const centres = spread(knobs, good, radius);
  const parents = good.slice(0, PARENTS);
  const one = (): KnobValues => parents[Math.floor(random() * parents.length)]!.setting;
  // Where steps are coarse, the same settings come again: it ends all the same.
  for (let attempt = 0; attempt < 4 * count; attempt++) {
    // The cheapest one gets half of them.
    const { setting } = centres[random() < 0.5 ? 0 : Math.floor(random() * centres.length)]!;
    if (parents.length > 2 && random() < BETWEEN) {
      yield moved(knobs, setting, { from: one(), to: one(), part: random() });
      continue;
    }
    const isBack = random() < BACK;
    // Of many knobs most do not matter: as many as that may go back at once, and a few are moved.
    const share = isBack ? random() : (1 + Math.floor(random() * 3)) / knobs.length;
    const part = random() < 0.5 ? 1 : random() * Math.min(1, 3 * radius);
    yield knobs.map((knob, at) => {
      const value = setting[at]!;
      if (random() >= share) {
        return value;
      }
      return isBack ? knob.back(value, part) : knob.near(value, radius, random);
    });
  }
}

/** The cheapest ones of which each is some way from those before: the cheapest of all may lie elsewhere. */
function spread(knobs: readonly Knob[], good: readonly Candidate[], radius: number): Candidate[] {
  const taken: Candidate[] = [];
  for (const one of good) {
    const isApart = taken.every(({ setting }) =>
      knobs.some((knob, at) => knob.apart(one.setting[at]!, setting[at]!) >= radius),
    );
    if (isApart && taken.push(one) >= CENTRES) {
      break;
    }
  }
  return taken;
}

/**
 * A setting moved by a part of the difference of two others, in all numbers at once: good ones lie along what holds the goal,
 * however narrow it is and whatever its direction (differential evolution: R. Storn and K. Price, 1997).
 */
function moved(
  knobs: readonly Knob[],
  setting: KnobValues,
  { from, to, part }: { from: KnobValues; to: KnobValues; part: number },
): KnobValues {
  return knobs.map((knob, at) => {
    const place = knob.placeOf(setting[at]!);
    if (place === undefined) {
      return setting[at]!;
    }
    const by = part * (knob.placeOf(to[at]!)! - knob.placeOf(from[at]!)!);
    return by === 0 ? setting[at]! : knob.valueAt(place + by, by > 0);
  });
}

/**
 * Points that fill the unit cube evenly from the first on: the Halton sequence, its digits permuted at random so that
 * high dimensions do not go along with each other (A. B. Owen, "A randomized Halton algorithm in R", 2017,
 * arXiv:1706.02808).
 *
 * @param random numbers from 0 to 1; the same ones give the same points
 * @returns [dimension][point]
 */
export function haltonPoints(count: number, dimensions: number, random: () => number): Float64Array[] {
  return firstPrimes(dimensions).map((base) => {
    const places = new Float64Array(count);
    let scale = 1;
    for (let power = 1; power < count; power *= base) {
      scale /= base;
      const digits = shuffled(base, random);
      for (let point = 0; point < count; point++) {
        places[point]! += digits[Math.floor(point / power) % base]! * scale;
      }
    }
    // What further digits would add: they are all random by now.
    return places.map((place) => place + random() * scale);
  });
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) {
      primes.push(candidate);
    }
  }
  return primes;
}

function shuffled(count: number, random: () => number): number[] {
  const numbers = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [numbers[at], numbers[other]] = [numbers[other]!, numbers[at]!];
  }
  return numbers;
}

/**
 * How exactly a model knows where something ends, in parts of a range: the bins of its trees are 0.4 % wide, and of
 * 1,000 train rows one is found in every 0.1 %.
 */
const BLUR = 0.01;
/** A neighbour itself, to either side, is not near. */
const NEAR = 0.99;
/** Neighbours in a round: the cheapest few candidates are what matters. */
const MOST_SIDES = 100;

/** Settings to either side of a candidate, of a knob that is changed. */
interface Pair {
  of: Candidate;
  below: KnobValues;
  above: KnobValues;
}

/**
 * Where the outcome ends at a step, the cheapest candidate lies right at it, as the model has it; the step itself may be
 * a little further. So each changed number of the cheapest candidates is looked at a little lower and a little higher:
 * where the outcome is smooth, the mean of two neighbours is what lies between them, and where it is less, a candidate
 * reaches no more than that. Those that are as near to it as its neighbours lose as much.
 */
class Edges {
  private readonly checked = new Set<Candidate>();
  private readonly lost = new Map<Candidate, number>();
  private pairs: Pair[] = [];

  constructor(private readonly knobs: readonly Knob[]) {}

  /**
   * The settings to predict, next to candidates that were not looked at before.
   *
   * @param good candidates, the cheapest first
   * @param most settings
   */
  sides(good: readonly Candidate[], most: number): KnobValues[] {
    this.pairs = [];
    for (const of of good) {
      const own = this.checked.has(of) ? [] : this.knobs.flatMap((knob, at) => pairAt(of, knob, at));
      if (2 * (this.pairs.length + own.length) > Math.min(MOST_SIDES, most)) {
        break;
      }
      this.checked.add(of);
      this.pairs.push(...own);
    }
    return this.pairs.flatMap(({ below, above }) => [below, above]);
  }

  /**
   * Lowers the reach of what lies at an edge.
   *
   * @param predicted the reach of a setting, as it was predicted
   * @param added those of all candidates that are new since the last time
   */
  async lower(
    all: readonly Candidate[],
    predicted: (setting: KnobValues) => number,
    added: ReadonlySet<Candidate>,
  ): Promise<void> {
    const found = new Map<Candidate, number>();
    for (const { of, below, above } of this.pairs) {
      const loss = predicted(of.setting) - (predicted(below) + predicted(above)) / 2;
      if (of.reach >= 0 && of.reach < loss) {
        found.set(of, Math.max(found.get(of) ?? 0, loss));
      }
    }
    found.forEach((loss, of) => this.lost.set(of, loss));
    const yielder = new Yielder();
    for (const one of all) {
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
      let most = 0;
      for (const [edge, loss] of added.has(one) ? this.lost : found) {
        most = loss > most && this.isNear(one, edge) ? loss : most;
      }
      one.reach -= most;
    }
  }

  private isNear(one: Candidate, other: Candidate): boolean {
    return this.knobs.every((knob, at) => knob.apart(one.setting[at]!, other.setting[at]!) < NEAR * BLUR);
  }
}

function pairAt(of: Candidate, knob: Knob, at: number): Pair[] {
  const value = of.setting[at]!;
  const place = knob.placeOf(value);
  if (place === undefined || value === knob.now) {
    return [];
  }
  const [below, above] = [knob.valueAt(place - BLUR, true), knob.valueAt(place + BLUR, false)];
  const [lower, higher] = [place - knob.placeOf(below)!, knob.placeOf(above)! - place];
  // At a bound there is nothing further; steps of a dial that are this coarse are where the train rows are too.
  const isEven = Math.min(lower, higher) > BLUR / 2;
  return isEven ? [{ of, below: of.setting.with(at, below), above: of.setting.with(at, above) }] : [];
}

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
