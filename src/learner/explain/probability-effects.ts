import type { Calibration } from '../calibration/calibrate';
import { type Apart, processApart } from '../model/ensemble';
import type { Member } from '../model/model';
import { addCoalitionEffects } from './coalition-effects';
import { averagesProbabilities, type GroupEffects } from './effects';
import { type ExplanationCache, explanationCache, nodesOf } from './explanation-cache';
import {
  addPermutationEffects,
  permutationScores,
  type RowToScore,
  type SampledRow,
} from './permutation-effects';
import { nodesPerPermutation, processAlongPermutations, scoresPerMixture } from './process-scores';
import { allRows, bitCount, type DifferingGroups, type ForegroundRow } from './shapley';

/*
 * Each of these weighs the error of sampled effects against time: docs/benchmarks/why.md, "What we tried"; `npm run bench -- why`
 * measures both again.
 */

/** Try every coalition up to this many differing groups, if it takes at most this many scores per background row. */
const EXACT_GROUPS = 10;
const EXACT_SCORES = 3_000;
/** Above this many nodes in all trees (group 70 ms a row), only try every coalition of few groups. */
const EXACT_NODES = 80_000;
/**
 * So few groups that every coalition is tried whatever the size of the trees, and groups that do not differ may be
 * included.
 */
const FEW_GROUPS = 7;
/**
 * Otherwise sample permutations, for each background row and member: as many as keep the work near this many nodes of
 * trees, but at least an antithetic pair if there are few members, or if only the size of the trees ruled out
 * coalitions.
 */
const MAX_PERMUTATIONS = 32;
const SAMPLED_NODES = 20_000;
const FEW_MEMBERS = 4;

/** A row whose probability of a class is explained. */
interface ExplainedRow {
  foreground: ForegroundRow;
  differingGroups: DifferingGroups;
  /** The index of the class. */
  of: number;
}

/**
 * Shapley values of the probability of a class, averaged over the games against each background row: exact where
 * every coalition can be tried, otherwise estimated from permutations.
 *
 * @param explained all with the same background and groups
 * @param exactUpTo differing groups up to which every coalition is tried, whatever the cost
 */
export function probabilityEffects(
  members: Member[],
  calibration: Calibration,
  explained: ExplainedRow[],
  exactUpTo?: number,
): GroupEffects[] {
  const ensemble = processApart(members);
  const [{ foreground: one }] = explained;
  const cache = explanationCache(one.background, one.groupOf, one.groups, members);
  const perMixture = scoresPerMixture(members.length, members[0].width, ensemble.process);
  const isSmall = nodesOf(ensemble.others) <= EXACT_NODES;
  const isExact = (count: number) =>
    exactUpTo === undefined
      ? count <= (isSmall ? EXACT_GROUPS : FEW_GROUPS) && 2 ** count * perMixture <= EXACT_SCORES
      : count <= exactUpTo;
  const sampled: SampledRow[] = [];
  const all = explained.map(({ foreground, differingGroups, of }) => {
    const found = { base: 0, effects: new Float64Array(foreground.groups) };
    const { common } = differingGroups;
    const few = common.length <= EXACT_GROUPS && isExact(common.length);
    const players = few ? withCommon(differingGroups) : differingGroups.players;
    let exact = 0;
    players.forEach(({ length }, row) => (exact |= isExact(length) ? 1 << row : 0));
    // Sampling costs little more for all rows than for a few, so a minority is not treated separately.
    exact = 2 * bitCount(exact) < players.length ? 0 : exact;
    if (exact !== 0) {
      addCoalitionEffects(ensemble, calibration, foreground, { players, rows: exact, of }, cache, found);
    }
    const rows = allRows(foreground.background) & ~exact;
    if (rows !== 0) {
      sampled.push({ foreground, of, common, rows, found });
    }
    return found;
  });
  if (sampled.length > 0) {
    addBySampling(ensemble, calibration, sampled, cache);
  }
  return all;
}

/**
 * Gives every background row the same players, so that a leaf falls into the same coalitions in each game. Groups
 * that do not differ have no effect; but if including them would make many more coalitions, players stay as they are.
 */
function withCommon({ players, common }: DifferingGroups): number[][] {
  const own = players.reduce((sum, { length }) => sum + 2 ** length, 0);
  const isMuchMore = common.length > FEW_GROUPS && 2 * own < players.length * 2 ** common.length;
  return isMuchMore ? players : players.map(() => common);
}

/**
 * If the ensemble averages its members' probabilities, each member gets permutations of its own: members are much
 * alike, so this reduces the variance more than sharing permutations would.
 */
function addBySampling(
  { process, others: members }: Apart,
  calibration: Calibration,
  explained: SampledRow[],
  cache: ExplanationCache,
): void {
  const [{ foreground, common }] = explained;
  const { groups } = foreground;
  const isApart = averagesProbabilities(calibration);
  const sets = isApart ? members.length : 1;
  const scores = 2 ** common.length * scoresPerMixture(members.length, members[0].width, process);
  const least = sets < FEW_MEMBERS || scores <= 2 * EXACT_SCORES ? 2 : 1;
  const nodes = nodesOf(members);
  const work = nodes + nodesPerPermutation(members.length, process);
  const perRow = Math.max(least, Math.min(MAX_PERMUTATIONS, Math.round(SAMPLED_NODES / work)));
  const permutations = cache.permutations(sets, { common, groups }, perRow, members[0].width);
  // All permutations of a row together, while the process's products are in the processor's cache.
  const shared = explained.map(
    (row) => process && processAlongPermutations(process, row.foreground, row.rows, permutations),
  );
  const along = (m: number): RowToScore[] =>
    explained.map(({ foreground, rows }, i) => {
      const own = shared[i];
      const changes = isApart ? own?.changes[m] : own?.changes[m].slice();
      return { foreground, rows, process: own && changes && { changes, effects: own.effects } };
    });
  const each = isApart ? members.map((member) => [member]) : [members];
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  each.forEach((group, m) => {
    const byMember = group.map((member) => permutationScores(member, along(m), permutations[m], cache));
    const share = isApart ? group[0].weight / weights : 1;
    explained.forEach((row, i) => {
      const own = byMember.map((one) => one[i]);
      addPermutationEffects(permutations[m], group, own, calibration, row, share);
    });
  });
}
