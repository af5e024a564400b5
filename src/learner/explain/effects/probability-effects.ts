import type { Calibration } from '../../calibration/calibrate';
import { bitCount } from '../../math/bits';
import type { Member } from '../../model/members';
import { type Apart, processApart } from '../../model/predict/process-apart';
import { scoresPerMixture, sharedProcess, stepsOfPoints } from '../gaussian-process/product-steps';
import { allRows, type Compared } from '../shapley/compared';
import type { Games } from '../shapley/games';
import { addRowAlong, type OrderedRow } from './along-orders';
import { isMean } from './answers';
import { addByCoalitions } from './coalitions';
import { keptWays } from './kept-ways';
import type { GroupEffects } from './mean-effects';
import { type SteppedRow, stepScores } from './step-scores';

/** Differing groups up to which all coalitions are tried, and scores that this may take for a row of the background. */
const EXACT_GROUPS = 10;
const EXACT_SCORES = 3_000;
/** Of larger trees, of which this would take up to 70 ms a row, only coalitions of few groups are tried. */
const EXACT_NODES = 80_000;
/** Groups whose coalitions are so few that neither large trees matter nor whether the groups differ. */
const FEW_GROUPS = 7;
/**
 * Beyond that, orders for each row of the background and member: as many as their work allows, so many nodes of trees. Of
 * few members each has an order and its reverse at least, and where coalitions would be few but for the trees.
 */
const MOST_ORDERS = 32;
const ORDERED_NODES = 20_000;
const FEW_MEMBERS = 4;

/** A row whose probability of a class is explained. */
export interface AskedRow {
  compared: Compared;
  games: Games;
  /** The class, by its number. */
  of: number;
}

/**
 * Shapley values of the probability of a class: the mean over the background's rows of those of each row's game. They are
 * exact where all coalitions of its players can be tried, else by orders of these.
 *
 * @param asked all with the same background and groups
 * @param exactUpTo differing groups up to which all coalitions are tried, whatever it takes
 */
export function probabilityEffects(
  members: Member[],
  calibration: Calibration,
  asked: AskedRow[],
  exactUpTo?: number,
): GroupEffects[] {
  const ensemble = processApart(members);
  const perMixture = scoresPerMixture(members.length, members[0].width, ensemble.process);
  const isSmall = nodesOf(ensemble.others) <= EXACT_NODES;
  const isExact = (count: number) =>
    exactUpTo === undefined
      ? count <= (isSmall ? EXACT_GROUPS : FEW_GROUPS) && 2 ** count * perMixture <= EXACT_SCORES
      : count <= exactUpTo;
  const ordered: OrderedRow[] = [];
  const all = asked.map(({ compared, games, of }) => {
    const found = { base: 0, effects: new Float64Array(compared.groups) };
    const { common } = games;
    const few = common.length <= EXACT_GROUPS && isExact(common.length);
    const players = few ? withCommon(games) : games.players;
    let exact = 0;
    players.forEach(({ length }, row) => (exact |= isExact(length) ? 1 << row : 0));
    // Orders are quickest against all rows at once: a few rows are not worth a way of their own.
    exact = 2 * bitCount(exact) < players.length ? 0 : exact;
    if (exact !== 0) {
      addByCoalitions(ensemble, calibration, compared, { players, rows: exact, of }, found);
    }
    const rows = allRows(compared.background) & ~exact;
    if (rows !== 0) {
      ordered.push({ compared, of, common, rows, found });
    }
    return found;
  });
  if (ordered.length > 0) {
    addByOrders(ensemble, calibration, ordered);
  }
  return all;
}

/**
 * The same players for all of the background's rows, so that leaves count in the same coalitions each time. Those in which
 * a row does not differ have no effect on it; where that makes much more coalitions they are left out all the same.
 */
function withCommon({ players, common }: Games): number[][] {
  const own = players.reduce((sum, { length }) => sum + 2 ** length, 0);
  const isMuchMore = common.length > FEW_GROUPS && 2 * own < players.length * 2 ** common.length;
  return isMuchMore ? players : players.map(() => common);
}

/**
 * The same by orders. Where the probability is the mean of those of the members, each of them has orders of its own: what
 * they say is much alike, so that says more than the same orders for all.
 */
function addByOrders(
  { process, others: members }: Apart,
  calibration: Calibration,
  asked: OrderedRow[],
): void {
  const [{ compared, common }] = asked;
  const { background, groupOf, groups } = compared;
  const isApart = isMean(calibration);
  const sets = isApart ? members.length : 1;
  const scores = 2 ** common.length * scoresPerMixture(members.length, members[0].width, process);
  const least = sets < FEW_MEMBERS || scores <= 2 * EXACT_SCORES ? 2 : 1;
  const nodes = nodesOf(members);
  const work = nodes + stepsOfPoints(members.length, process);
  const perRow = Math.max(least, Math.min(MOST_ORDERS, Math.round(ORDERED_NODES / work)));
  const orders = keptWays(background, groupOf).orders(sets, { common, groups }, { perRow, nodes });
  // For each row in all orders at once, while what follows the process is close to the processor.
  const shared = asked.map((row) => process && sharedProcess(process, row.compared, row.rows, orders));
  const along = (m: number): SteppedRow[] =>
    asked.map(({ compared, rows }, i) => {
      const own = shared[i];
      const changes = isApart ? own?.changes[m] : own?.changes[m].slice();
      return { compared, rows, process: own && changes && { changes, effects: own.effects } };
    });
  const each = isApart ? members.map((member) => [member]) : [members];
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  each.forEach((some, m) => {
    const told = some.map((member) => stepScores(member, along(m), orders[m]));
    const share = isApart ? some[0].weight / weights : 1;
    asked.forEach((row, i) => {
      const own = told.map((one) => one[i]);
      addRowAlong(orders[m], some, own, calibration, row, share);
    });
  });
}

function nodesOf(members: Member[]): number {
  const parts = members.flatMap((member) => member.parts);
  return parts.reduce((sum, part) => sum + ('trees' in part ? part.trees.left.length : 1), 0);
}
