import type { Calibration } from '../calibration/calibrate';
import { countPoints } from '../gaussian/scores';
import { type Apart, processApart } from '../model/ensemble';
import type { Member } from '../model/model';
import { coalitionEffects } from './coalition-effects';
import type { GroupEffects } from './effects';
import { countNodes, type ExplanationCache, explanationCache } from './explanation-cache';
import { addPermutationEffects, permutationScores } from './permutation-effects';
import { processAlongPermutations } from './process-effects';
import { findPlayers, type ForegroundRow } from './shapley';

/*
 * Each of these weighs the error of sampled effects against time: docs/benchmarks/why.md, "What we tried"; `npm run bench -- why`
 * measures both again.
 */

/**
 * Try every coalition if a background row has at most so many on average, fewer if there are more than so many nodes in all
 * trees (group 70 ms a row), and if they take at most so many scores.
 */
const EXACT = { coalitions: 1024, ofManyNodes: 128, nodes: 80_000, scores: 3_000 };
/** Points of a Gaussian process that cost as much as one member's score of a mixture. */
const POINTS_PER_SCORE = 15;
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
  /** The index of the class. */
  of: number;
}

/**
 * Shapley values of the probability of a class, averaged over the games against each background row: exact where
 * every coalition can be tried, otherwise estimated from permutations.
 *
 * @param explained all with the same background and groups
 * @param used 1 for each column that some member reads, else 0
 * @param exactUpTo differing groups up to which every coalition is tried, whatever the cost
 */
export function probabilityEffects(
  members: Member[],
  calibration: Calibration,
  explained: ExplainedRow[],
  { used, exactUpTo }: { used: Uint8Array; exactUpTo: number | undefined },
): GroupEffects[] {
  const ensemble = processApart(members);
  const [{ foreground: one }] = explained;
  const { background, groupOf, groups } = one;
  const cache = explanationCache(background, groupOf, groups, members);
  const points = ensemble.process ? countPoints(ensemble.process.gaussian.kernel) : 0;
  const perMixture = members[0].width * (members.length + points / POINTS_PER_SCORE);
  const most = Math.min(
    countNodes(ensemble.others) <= EXACT.nodes ? EXACT.coalitions : EXACT.ofManyNodes,
    EXACT.scores / perMixture,
  );
  const isExact = (players: number[][]) =>
    exactUpTo === undefined
      ? players.reduce((sum, { length }) => sum + 2 ** length, 0) <= most * background.rows
      : players.every(({ length }) => length <= exactUpTo);
  const sampled: SampledRow[] = [];
  const all = explained.map(({ foreground, of }) => {
    const players = findPlayers(foreground, used);
    if (isExact(players)) {
      return coalitionEffects(ensemble, calibration, { foreground, players, of }, cache);
    }
    const found = { base: 0, effects: new Float64Array(groups) };
    sampled.push({ foreground, of, found });
    return found;
  });
  if (sampled.length > 0) {
    const common = [...new Set(groupOf.filter((_, column) => used[column] === 1))].sort((a, b) => a - b);
    addBySampling(ensemble, calibration, sampled, { cache, common, perMixture });
  }
  return all;
}

interface SampledRow extends ExplainedRow {
  found: GroupEffects;
}

/**
 * If the ensemble's probability is the mean of its members', with only linear steps after that, each member gets permutations
 * of its own: members are much alike, so this reduces the variance more than sharing permutations would.
 *
 * @param common the groups in which any two rows can differ
 * @param perMixture the cost of a mixture, in scores of a member
 */
function addBySampling(
  { process, others: members }: Apart,
  calibration: Calibration,
  explained: SampledRow[],
  { cache, common, perMixture }: { cache: ExplanationCache; common: number[]; perMixture: number },
): void {
  const { averageScores, softmaxTemperature, balance } = calibration;
  const isApart = !averageScores && softmaxTemperature === 1 && !balance;
  const sets = isApart ? members.map((member) => [member]) : [members];
  const isNear = 2 ** common.length * perMixture <= 2 * EXACT.scores;
  const least = sets.length < FEW_MEMBERS || isNear ? 2 : 1;
  const work = countNodes(members) + members.length * (process?.gaussian.kernel.points.length ?? 0);
  const perRow = Math.max(least, Math.min(MAX_PERMUTATIONS, Math.round(SAMPLED_NODES / work)));
  const { groups } = explained[0].foreground;
  const permutations = cache.permutations(sets.length, { common, groups }, perRow, members[0].width);
  // All permutations of a row together, while the process's products are in the processor's cache.
  const shared = explained.map(
    ({ foreground }) => process && processAlongPermutations(process, foreground, permutations),
  );
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  sets.forEach((some, m) => {
    const byMember = some.map((member) => {
      const rows = explained.map(({ foreground }, i) => {
        const changes = isApart ? shared[i]?.changes[m] : shared[i]?.changes[m].slice();
        return { foreground, process: changes && { changes, effects: shared[i]!.effects } };
      });
      return permutationScores(member, rows, permutations[m], cache);
    });
    const share = isApart ? some[0].weight / weights : 1;
    explained.forEach(({ of, found }, i) => {
      const scores = byMember.map((own) => own[i]);
      addPermutationEffects(
        { permutations: permutations[m], members: some, scores, calibration, of },
        share,
        found,
      );
    });
  });
}
