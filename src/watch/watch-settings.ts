import type { AlarmOptions, WatchOptions } from './types';

/** Options with their defaults. */
export interface WatchSettings {
  honest: boolean;
  worse: number;
  recovered: number;
  alarm: AlarmOptions;
  keep: number;
  perKey: boolean;
}

export function watchSettings(options: WatchOptions): WatchSettings {
  const { honest = true, worse = 0.15, recovered = 0.05, alarm = {}, keep = 2000, perKey = false } = options;
  return { honest, worse, recovered: Math.min(recovered, worse), alarm, keep: Math.max(1, keep), perKey };
}
