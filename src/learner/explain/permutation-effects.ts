import { type Calibration, toProbabilities } from '../calibration/calibrate';
import { calibratedProbabilities } from '../model/ensemble';
import { addScoresOfVotes, type Background, type Member, type Part } from '../model/model';
import { backgroundScores, eachLinearTerm, type GroupEffects } from './effects';
import type { ExplanationCache } from './explanation-cache';
import { type ForegroundRow, mixtureCount, type Permutations } from './shapley';
import type { ScoresAndEffects } from './tree-blocks';

/** Some members' scores of the mixtures of a row along permutations, and the class whose probability is explained. */
interface Sampled {
  permutations: Permutations;
  members: Member[];
  /** Per member. */
  scores: PermutationScores[];
  calibration: Calibration;
  of: number;
}

/**
 * Estimates Shapley values of a probability as the mean, over permutations, of what each group adds when it flips,
 * and adds `share` times the estimate. A control variate removes most of the variance: a linear function of the
 * scores, whose Shapley values are known exactly, chosen to rise as the probability does between the background and
 * the foreground row. Only the difference between the two is sampled.
 */
export function addPermutationEffects(
  { permutations, members, scores, calibration, of }: Sampled,
  share: number,
  found: GroupEffects,
): void {
  const { rows, perRow, steps, groups, flipped } = permutations;
  const { width } = members[0];
  const classes = calibration.priors.length;
  const { sums, effects } = averageMembers(members, scores);
  const each = new Map(members.map((member, m) => [member, scores[m].scores]));
  const probas =
    members.length === 1
      ? toProbabilities(scores[0].scores, width, calibration)
      : calibratedProbabilities(members, (member) => each.get(member)!, flipped.length, calibration);
  const slopes = new Float64Array(width);
  // Every permutation ends with the foreground row.
  const end = steps - 1;
  const mixtures = { sums, probas, width, classes, of };
  for (let row = 0; row < rows; row++) {
    const start = row * perRow * steps;
    addSlopes(mixtures, start, end, slopes);
    found.base += (share * probas[start * classes + of]) / rows;
  }
  for (let k = 0; k < width; k++) {
    slopes[k] /= rows;
    for (let group = 0; group < groups; group++) {
      found.effects[group] += ((share * slopes[k]) / rows) * effects[k * groups + group];
    }
  }
  // What each flip adds to the probability beyond the control variate.
  let before = 0;
  for (let mixture = 0, i = 0; mixture < flipped.length; mixture++) {
    let beyond = probas[mixture * classes + of];
    for (let k = 0; k < width; k++, i++) {
      beyond -= slopes[k] * sums[i];
    }
    if (flipped[mixture] >= 0) {
      found.effects[flipped[mixture]] += (share / (rows * perRow)) * (beyond - before);
    }
    before = beyond;
  }
}

/** The members' mean score sums and their Shapley values. */
function averageMembers(
  members: Member[],
  scores: PermutationScores[],
): Pick<PermutationScores, 'sums' | 'effects'> {
  if (members.length === 1) {
    return scores[0];
  }
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (lists: Float64Array[]): Float64Array => {
    const out = new Float64Array(lists[0].length);
    members.forEach(({ weight }, m) => {
      for (let i = 0; i < out.length; i++) {
        out[i] += (weight / weights) * lists[m][i];
      }
    });
    return out;
  };
  return { sums: mean(scores.map(({ sums }) => sums)), effects: mean(scores.map((one) => one.effects)) };
}

/**
 * Adds the gradient of the probability along the line between two mixtures, per score, scaled so that it accounts for the
 * whole change.
 */
function addSlopes(
  { sums, probas, width, classes, of }: Mixtures,
  start: number,
  end: number,
  slopes: Float64Array,
): void {
  // A single score is the log-odds of the second of two classes.
  const gradient = (k: number) =>
    width < classes
      ? 2 * of - 1
      : (k === of ? 1 : 0) - (probas[start * classes + k] + probas[end * classes + k]) / 2;
  let rise = 0;
  for (let k = 0; k < width; k++) {
    rise += gradient(k) * (sums[end * width + k] - sums[start * width + k]);
  }
  const wanted = probas[end * classes + of] - probas[start * classes + of];
  const slope = Math.abs(rise) > 1e-6 ? Math.max(-1, Math.min(1, wanted / rise)) : 0;
  for (let k = 0; k < width; k++) {
    slopes[k] += slope * gradient(k);
  }
}

/** Mixtures × width: scores; mixtures × classes: probabilities; and the class explained. */
interface Mixtures {
  sums: Float64Array;
  probas: Float64Array;
  width: number;
  classes: number;
  of: number;
}

/** A member's scores along permutations. */
interface PermutationScores extends ScoresAndEffects {
  /**
   * The scores with votes replaced by a linear approximation, so that every score is a sum over leaves and linear terms:
   * the `effects` are exact Shapley values of these.
   */
  sums: Float64Array;
}

/** A row whose mixtures a member is to score. */
interface RowToScore {
  foreground: ForegroundRow;
  /** Of the Gaussian process that all members share: the changes of its scores (overwritten), and its effects. */
  process: { changes: Float64Array; effects: Float64Array } | undefined;
}

/**
 * A member's scores of the mixtures of some rows with the background, along every permutation. The loop over trees is
 * outside the loop over rows, so that a tree's tables stay in the processor's cache.
 *
 * @param rows all with the same background and groups
 */
export function permutationScores(
  member: Member,
  rows: RowToScore[],
  permutations: Permutations,
  cache: ExplanationCache,
): PermutationScores[] {
  const { width } = member;
  const { background } = rows[0].foreground;
  const all = rows.map(({ foreground }) => foreground);
  const none = (): ScoresAndEffects => ({
    scores: new Float64Array(mixtureCount(permutations) * width),
    effects: new Float64Array(width * permutations.groups),
  });
  // Scores are first written as changes from step to step, then summed.
  const sums = rows.map(({ process }) =>
    process ? { scores: process.changes, effects: process.effects.slice() } : none(),
  );
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      rows.forEach(({ foreground }, i) => addLinear(part, foreground, permutations, sums[i]));
    } else if (part.kind === 'trees') {
      cache.blocks(part.trees, width, permutations).add(all, part.weight, sums);
    }
    if (part.kind === 'linear' || part.kind === 'trees') {
      sums.forEach(({ scores }) =>
        addStarts({ part, weight: part.weight }, background, permutations, scores),
      );
    }
  }
  sums.forEach(({ scores }) => sumOverSteps(permutations, width, scores));
  const isVoting = member.parts.some(({ kind }) => kind === 'votes');
  const found = sums.map(({ scores, effects }): PermutationScores => ({
    sums: scores,
    effects,
    scores: isVoting ? scores.slice() : scores,
  }));
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = rows.map(none);
      cache.blocks(part.trees, width, permutations).add(all, 1, votes);
      votes.forEach(({ scores, effects }, i) => {
        addStarts({ part, weight: 1 }, background, permutations, scores);
        sumOverSteps(permutations, width, scores);
        addVotes(part, { scores, effects }, permutations, found[i]);
      });
    }
  }
  return found;
}

function addVotes(
  { base: { length: width }, weight }: Part,
  { scores: votes, effects }: ScoresAndEffects,
  permutations: Permutations,
  found: PermutationScores,
): void {
  const { groups } = permutations;
  const own = votes.slice();
  addScoresOfVotes(own, width, weight, found.scores);
  for (let k = 0; k < width; k++) {
    const slope = weight * steepness(votes, own, permutations, { k, width });
    for (let i = k; i < votes.length; i += width) {
      found.sums[i] += slope * votes[i];
    }
    for (let i = k * groups; i < (k + 1) * groups; i++) {
      found.effects[i] += slope * effects[i];
    }
  }
}

/** The mean slope of the score of the votes for output `k` from the background rows to the foreground row. */
function steepness(
  votes: Float64Array,
  scores: Float64Array,
  { rows, perRow, steps }: Permutations,
  { k, width }: { k: number; width: number },
): number {
  const last = (steps - 1) * width + k;
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    const first = row * perRow * steps * width + k;
    const away = votes[last] - votes[first];
    sum += Math.abs(away) > 1e-9 ? (scores[last] - scores[first]) / away : 1;
  }
  return sum / rows;
}

/** The scores of the background rows: every permutation starts with one. */
function addStarts(
  { part, weight }: { part: Part; weight: number },
  background: Background,
  { rows, perRow, steps }: Permutations,
  scores: Float64Array,
): void {
  const own = backgroundScores(part, background);
  const width = part.base.length;
  for (let permutation = 0; permutation < rows * perRow; permutation++) {
    const from = Math.floor(permutation / perRow) * width;
    for (let k = 0; k < width; k++) {
      scores[permutation * steps * width + k] += weight * own[from + k];
    }
  }
}

function addLinear(
  part: Part & { kind: 'linear' },
  foreground: ForegroundRow,
  { perRow, steps, groups, flips }: Permutations,
  { scores, effects }: ScoresAndEffects,
): void {
  const width = part.base.length;
  eachLinearTerm(part, foreground, (column, output, own, others) => {
    const group = foreground.groupOf[column];
    for (let permutation = 0; permutation < others.length * perRow; permutation++) {
      const mixture = permutation * steps + flips[permutation * groups + group];
      scores[mixture * width + output] += part.weight * (own - others[Math.floor(permutation / perRow)]);
    }
    for (const other of others) {
      effects[output * groups + group] += part.weight * (own - other);
    }
  });
}

function sumOverSteps({ steps }: Permutations, width: number, scores: Float64Array): void {
  for (let from = 0; from < scores.length; from += steps * width) {
    for (let i = from + width; i < from + steps * width; i++) {
      scores[i] += scores[i - width];
    }
  }
}
