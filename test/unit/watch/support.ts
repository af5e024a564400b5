import { Watch, type WatchChange, type WatchedModel, type WatchOptions } from '../../doors/watch';

export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const START = Date.UTC(2026, 2, 2);

export const NUMBERS: WatchedModel = {
  name: 'heat',
  id: 'fit-1',
  task: 'regression',
  promised: { rows: 2000, mae: Math.sqrt(2 / Math.PI) },
};

export const CLASSES: WatchedModel = { name: 'fault', id: 'fit-1', task: 'classification' };

/** Quantiles 0.1 … 0.9 of a normal distribution. */
const NORMAL = [-1.2816, -0.8416, -0.5244, -0.2533, 0, 0.2533, 0.5244, 0.8416, 1.2816];

export function quantilesAbout(middle: number, spread = 1): Record<string, number> {
  return Object.fromEntries(NORMAL.map((z, k) => [`0.${k + 1}`, middle + z * spread]));
}

/** A first-order autoregressive series of variance 1, from a seed. */
export function noise(seed: number, likeness = 0): () => number {
  let state = seed + 1;
  const uniform = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  for (let i = 0; i < 5; i++) {
    normal();
  }
  let last = normal();
  return () => (last = likeness * last + Math.sqrt(1 - likeness ** 2) * normal());
}

export interface Step {
  prediction: unknown;
  truth: number;
  row?: Record<string, unknown>;
}

export interface Replay {
  /** What left for each step. */
  left: Record<string, number>[];
  changes: (WatchChange & { at: number })[];
  watch: Watch;
}

/** A row each `every`; its truth comes `delay` rows later. */
export function replay(
  steps: readonly Step[],
  { delay = 1, every = MINUTE, model = NUMBERS, ahead, ...options }: ReplayOptions = {},
): Replay {
  const watch = new Watch(model, options);
  const changes: Replay['changes'] = [];
  const rowAt = (i: number) => ({ time: START + i * every, ...(ahead && { ahead: delay * every }) });
  const left = steps.map(({ prediction, row }, i) => {
    if (i >= delay) {
      const told = watch.truth({ series: rowAt(i - delay), truth: steps[i - delay]!.truth });
      changes.push(...told.changes.map((change) => ({ ...change, at: i })));
    }
    const answer = watch.predicted({ series: rowAt(i), prediction, ...(row && { row }) });
    changes.push(...answer.changes.map((change) => ({ ...change, at: i })));
    return answer.prediction as Record<string, number>;
  });
  return { left, changes, watch };
}

interface ReplayOptions extends WatchOptions {
  delay?: number;
  every?: number;
  model?: WatchedModel;
  /** Rows say how far ahead they are predicted. */
  ahead?: boolean;
}

export function isInside(band: Record<string, number>, truth: number): boolean {
  return band['0.1']! <= truth && truth <= band['0.9']!;
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
