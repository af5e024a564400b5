import { log } from '../math/numeric';

/** Added to each class's share, so that a class without votes has a score. */
const FLOOR = 0.005;

/**
 * Turns shares of votes into scores, in place: with one output the log-odds of the second of two classes, otherwise
 * the logarithm of each class's share.
 *
 * @param votes rows × outputs
 * @param width outputs
 */
export function scoresOfVotes(votes: Float64Array, width: number): void {
  // Most classes get no vote of a row.
  const none = scoreOf(0, width);
  for (let i = 0; i < votes.length; i++) {
    votes[i] = votes[i] === 0 ? none : scoreOf(votes[i], width);
  }
}

function scoreOf(votes: number, width: number): number {
  const share = votes + FLOOR;
  return width === 1 ? log(share / (1 - votes + FLOOR)) : log(share);
}

/** Adds `weight` times the scores of votes to `out`, and turns `votes` into scores. */
export function addScoresOfVotes(
  votes: Float64Array,
  width: number,
  weight: number,
  out: Float64Array,
): void {
  scoresOfVotes(votes, width);
  for (let i = 0; i < out.length; i++) {
    out[i] += weight * votes[i];
  }
}
