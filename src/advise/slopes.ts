import type { Label } from '../table';
import { Yielder } from '../util/concurrency';
import type { Knob, KnobValues } from './knobs';
import { leastSquares } from './least-squares';
import type { Candidate } from './types';

/** How the reach changes near a candidate, as far as the candidates around it tell. */
export interface ReachSlopes {
  /** Of each knob: reach per whole range; 0 of words. */
  of: readonly number[];
  /** The standard deviation of what the slopes do not tell. */
  error: number;
}

/** Slopes are nearly free of it, and a knob that is the same everywhere gets none. */
const RIDGE = 1e-7;

/**
 * Slopes by least squares over the candidates nearest to one, of those with the same words. What a model of trees says
 * is made of plateaus: what is near must be wider than these.
 *
 * @param counts candidates to look at: slopes for each
 */
export async function slopesAt(
  centre: Candidate,
  all: readonly Candidate[],
  knobs: readonly Knob[],
  counts: readonly number[],
): Promise<ReachSlopes[]> {
  const yielder = new Yielder();
  const places = knobs.map((knob, at) => knob.placeOf(centre.setting[at]!));
  const numbers = knobs.map((_, at) => at).filter((at) => places[at] !== undefined);
  const offset = (setting: KnobValues, at: number): number => knobs[at]!.placeOf(setting[at]!)! - places[at]!;
  const far = new Float64Array(all.length).fill(Infinity);
  for (const [at, { setting, reach }] of all.entries()) {
    if (
      !Number.isNaN(reach) &&
      places.every((place, i) => place !== undefined || setting[i] === centre.setting[i])
    ) {
      far[at] = numbers.reduce((most, i) => Math.max(most, Math.abs(offset(setting, i))), 0);
    }
    const turn = yielder.due();
    if (turn !== undefined) {
      await turn;
    }
  }
  // Of tens of thousands only the nearest are put in order.
  const farthest = far.toSorted()[Math.min(all.length, Math.max(...counts)) - 1]!;
  const nearest = all
    .map((_, at) => at)
    .filter((at) => far[at]! <= farthest && far[at]! < Infinity)
    .sort((a, b) => far[a]! - far[b]!);
  return counts.map((count) => {
    const near = nearest.slice(0, count);
    const scale = far[near.at(-1)!]! || 1;
    const features = near.map((at) => [1, ...numbers.map((i) => offset(all[at]!.setting, i) / scale)]);
    const gains = near.map((at) => all[at]!.reach - centre.reach);
    const weights = leastSquares(features, gains, RIDGE);
    const errors = features.map(
      (row, at) => row.reduce((sum, one, i) => sum + one * weights[i]!, 0) - gains[at]!,
    );
    const free = Math.max(1, errors.length - weights.length);
    const of = knobs.map(() => 0);
    numbers.forEach((at, i) => (of[at] = weights[i + 1]! / scale));
    return { of, error: Math.sqrt(errors.reduce((sum, one) => sum + one * one, 0) / free) };
  });
}

/** A stretch of a knob along which the reach grows evenly, and so does the cost. */
interface Stretch {
  to: Label;
  gain: number;
  cost: number;
  size: number;
}

/**
 * The cheapest setting within `radius` of a candidate that reaches as much, were the slopes true everywhere: all knobs at
 * their cheapest, then those moved that gain the most for their cost. Costs are straight lines with a bend at the
 * present value, so that this greedy way is the best one.
 */
export function cheapestAlong(
  { of: slopes }: ReachSlopes,
  { setting, reach }: Candidate,
  knobs: readonly Knob[],
  { radius, wanted }: { radius: number; wanted: number },
): KnobValues {
  const to = [...setting];
  let missing = wanted - reach;
  const ahead = knobs.map((knob, at) => {
    const slope = slopes[at]!;
    const stretches = slope === 0 ? undefined : cutStretches(knob, setting[at]!, slope, radius);
    if (stretches !== undefined) {
      to[at] = stretches.from;
      missing -= slope * (knob.placeOf(stretches.from)! - knob.placeOf(setting[at]!)!);
    }
    return stretches?.further ?? [];
  });
  while (missing > 0) {
    const at = nextCheapest(ahead);
    if (at === undefined) {
      break;
    }
    const { to: end, gain } = ahead[at]!.shift()!;
    const knob = knobs[at]!;
    // The last one is not needed as a whole.
    const share = Math.min(1, missing / gain);
    const from = knob.placeOf(to[at]!)!;
    to[at] = share === 1 ? end : knob.valueAt(from + share * (knob.placeOf(end)! - from), slopes[at]! > 0);
    missing -= gain;
  }
  return to;
}

/** Where a knob is the cheapest, and the stretches from there to more reach. */
function cutStretches(
  knob: Knob,
  value: Label,
  slope: number,
  radius: number,
): { from: Label; further: Stretch[] } {
  const place = knob.placeOf(value)!;
  const ends = [knob.valueAt(place - radius, true), knob.valueAt(place + radius, false)];
  const [low, high] = ends.map((end) => knob.placeOf(end)!) as [number, number];
  const stay = knob.placeOf(knob.stay)!;
  const points = stay > low && stay < high ? [ends[0]!, knob.stay, ends[1]!] : ends;
  const upwards = slope > 0 ? points : points.reverse();
  const size = (one: Label): number => knob.apart(one, knob.now);
  const from = upwards.reduce((best, one) => {
    const dearer = knob.costOf(one) - knob.costOf(best);
    return dearer < 0 || (dearer === 0 && size(one) < size(best)) ? one : best;
  });
  const rest = upwards.slice(upwards.indexOf(from));
  const further = rest.slice(1).map((to, at) => ({
    to,
    gain: Math.abs(slope) * knob.apart(rest[at]!, to),
    cost: knob.costOf(to) - knob.costOf(rest[at]!),
    size: size(to) - size(rest[at]!),
  }));
  return { from, further: further.filter(({ gain }) => gain > 0) };
}

/** The knob whose next stretch costs the least for what it gains; of equal ones, that changes least. */
function nextCheapest(ahead: readonly Stretch[][]): number | undefined {
  let best: number | undefined;
  for (const [at, [next]] of ahead.entries()) {
    const than = best === undefined ? undefined : ahead[best]![0]!;
    if (next === undefined) {
      continue;
    }
    const apart = than === undefined ? -1 : next.cost / next.gain - than.cost / than.gain;
    if (apart < 0 || (apart === 0 && next.size / next.gain < than!.size / than!.gain)) {
      best = at;
    }
  }
  return best;
}
