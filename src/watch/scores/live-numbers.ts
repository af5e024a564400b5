import type { WatchedModel, WatchNumbers, WatchReport } from '../types';
import type { ExpectedLoss } from './expected-loss';
import { promisedLoss, type ScoredModel } from './scored-model';

/** With fewer truths the expected loss is given too. */
const FEW_TRUTHS = 20;
const MOST_KEYS = 100;

export interface LiveView {
  current: WatchedModel;
  scored: ScoredModel | undefined;
  expected: ExpectedLoss;
  /** No truth comes any more. */
  silent: boolean;
}

/** @param key undefined: all keys together */
export function liveNumbers(
  { current, scored, expected, silent }: LiveView,
  key: string | null | undefined,
): Pick<WatchNumbers, 'live' | 'coverage'> {
  const isRegression = current.task === 'regression';
  if (scored === undefined) {
    const measure = isRegression ? 'mae' : 'log_loss';
    const promised = promisedLoss(current.promised, measure);
    const estimated = expected.estimate(promised, isRegression);
    return {
      live: {
        ...{ measure, rows: 0 },
        ...(promised !== undefined && { promised }),
        ...(estimated !== undefined && { estimated }),
      },
    };
  }
  const scope = key === undefined ? scored.all : scored.scope(key);
  const live = scored.live(scope, scope === scored.all ? null : (key ?? ''));
  const isUnsure = (silent || live.rows < FEW_TRUTHS) && scored.measure !== 'error';
  const estimated = isUnsure ? expected.estimate(live.promised, isRegression) : undefined;
  const coverage = scored.coverage(scope);
  return {
    live: { ...live, ...(estimated !== undefined && { estimated }) },
    ...(coverage && { coverage }),
  };
}

/** Numbers per key: decayed keys first, then by loss. */
export function keysTold(scored: ScoredModel | undefined): NonNullable<WatchReport['keys']> {
  if (scored === undefined) {
    return [];
  }
  const keys = Array.from(scored.keys, ([key, scope]) => {
    const coverage = scored.coverage(scope);
    return {
      ...{ key, live: scored.live(scope, key) },
      ...(coverage && { coverage }),
      decayed: scope.decay.isDecayed,
    };
  });
  const order = (a: (typeof keys)[number], b: (typeof keys)[number]): number =>
    Number(b.decayed) - Number(a.decayed) || (b.live.loss ?? 0) - (a.live.loss ?? 0);
  return keys.sort(order).slice(0, MOST_KEYS);
}
