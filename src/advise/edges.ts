import { Yielder } from '../util/concurrency';
import type { Knob, KnobValues } from './knobs';
import type { Candidate } from './types';

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
export class Edges {
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
