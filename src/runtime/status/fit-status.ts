import type { Challenger, ModelCard, ModelScores } from '../../models/cards';
import type { Shown, StatusKind, StatusLine } from './status-line';

/** Why a new fit did not take over, where that is worth saying in place of the score. */
const STAYS = ['not_better', 'label_noise', 'unusual_rows', 'too_few_rows'] as const;

/** Where one label is so frequent, its share is near to the accuracy of any model. The sidebar has it from here. */
export const RARE_FROM = 0.9;
/** Fewer digits would show a score from here on as 1. */
const NEAR_ONE = 0.995;
const MOST_DIGITS = 4;

/**
 * What a fit node shows of its model: its score if known, next to the score without a model; otherwise the detected
 * task. A model that is no better than none is not shown in green.
 */
export function fittedStatus(
  status: StatusLine,
  card: ModelCard,
  taskFound: boolean,
): Shown & { kind: StatusKind } {
  const { accuracy, r2, baseline } = (card.scores ?? {}) as Partial<ModelScores>;
  if (baseline?.rmse === 0 || baseline?.accuracy === 1) {
    return { kind: 'doubtful', key: 'fitted.constant' };
  }
  const kind = card.doubts === undefined ? 'ready' : 'doubtful';
  const scored = (name: 'accuracy' | 'r2', score: number): Shown & { kind: StatusKind } => {
    const without = scoreWithout(card, name);
    const values = { score: shownScore(status, score) };
    return without === undefined
      ? { kind, key: `fitted.${name}`, values }
      : {
          kind: score > without.score ? kind : 'doubtful',
          key: `fitted.${name}${without.isNow ? 'OverNow' : 'Over'}`,
          values: { ...values, without: shownScore(status, without.score) },
          shorter: { key: `fitted.${name}`, values },
        };
  };
  const ranked = rankedOf(card);
  if (ranked !== undefined) {
    const shown = kind === 'ready' && !ranked.tells ? 'doubtful' : kind;
    const values = { score: shownArea(status, ranked.rocAuc) };
    return {
      kind: shown,
      key: 'fitted.rocAucOver',
      values,
      shorter: { key: 'fitted.rocAuc', values },
    };
  }
  if (accuracy !== undefined) {
    return scored('accuracy', accuracy);
  }
  if (r2 !== undefined) {
    return scored('r2', r2);
  }
  if (taskFound) {
    return { kind, key: `fitted.${card.task}` };
  }
  return card.rows > 0
    ? { kind, key: 'fitted.ready', values: { rows: card.rows } }
    : { kind, key: 'fitted.plain' };
}

/**
 * How a model ranks two labels of which one is rare, or that a threshold answers, whose accuracy is another; and whether
 * its probabilities tell more than that it is rare.
 */
function rankedOf({ scores, threshold }: ModelCard): { rocAuc: number; tells: boolean } | undefined {
  const { roc_auc: rocAuc, log_loss: loss = 0, baseline } = (scores ?? {}) as Partial<ModelScores>;
  const { accuracy: share = 0, log_loss: without = Infinity } = baseline ?? {};
  const isRanked = share >= RARE_FROM || threshold !== undefined;
  return rocAuc === undefined || !isRanked ? undefined : { rocAuc, tells: loss < without };
}

/** The better score of the two that need no model: always the most frequent label or the mean, or no change. */
function scoreWithout(
  { scores }: ModelCard,
  name: 'accuracy' | 'r2',
): { score: number; isNow: boolean } | undefined {
  // A card kept by an earlier version may lack them.
  const { baseline, baseline_now: now } = (scores ?? {}) as Partial<ModelScores>;
  const [usual = -Infinity, asNow = -Infinity] = [baseline?.[name], now?.[name]];
  const score = Math.max(usual, asNow);
  return score === -Infinity ? undefined : { score, isNow: asNow > usual };
}

/** Shows the model of a fit, or that the one before stays. */
export function showFitted(
  status: StatusLine,
  card: ModelCard,
  taskFound: boolean,
  challenger?: Challenger,
): void {
  const why = STAYS.find((one) => one === challenger?.why);
  if (why !== undefined) {
    const scores = challenger?.scores;
    const values = scores && {
      loss: status.text(`stays.loss.${scores.loss}`),
      own: status.number(scores.champion, 3),
      other: status.number(scores.challenger, 3),
    };
    status.show('ready', `stays.${why}`, values);
    return;
  }
  status.become(() => fittedStatus(status, card, taskFound));
}

/** After a roll back: the version that is in charge now, and how good it is. */
export function showVersion(status: StatusLine, card: ModelCard): void {
  status.become(() => versionStatus(status, card));
}

/** What a fit node shows of a version that another one was put aside for. */
export function versionStatus(status: StatusLine, card: ModelCard): Shown & { kind: StatusKind } {
  const { kind, ...shown } = fittedStatus(status, card, false);
  const { key, values } = shown.shorter ?? shown;
  const { version } = card;
  return {
    kind,
    key: 'fitted.version',
    values: { version, text: status.text(key, values) },
    shorter: { key: 'fitted.versionAlone', values: { version } },
  };
}

/** After a fit whose model did not take charge. */
export function showStays(status: StatusLine, { version }: ModelCard, aside: number): void {
  status.show('doubtful', 'fitted.stays', { version, aside });
}

/**
 * Two digits; near 1 as many as the sidebar has, at most four, and never rounded up to 1. Just below 0 it is not shown as
 * -0.00.
 */
function shownScore(status: StatusLine, score: number): string {
  if (score < NEAR_ONE || score >= 1) {
    return status.number(Math.abs(score) < 0.005 ? 0 : score, 2);
  }
  const digits = Math.min(MOST_DIGITS, Math.max(3, -Math.floor(Math.log10(1 - score))));
  return status.number(Math.min(score, 1 - 10 ** -digits), digits);
}

/** As many digits as the sidebar has. */
function shownArea(status: StatusLine, area: number): string {
  return area < NEAR_ONE ? status.number(Number(area.toFixed(3))) : shownScore(status, area);
}
