import type { WatchReport } from '../../watch';
import { type Red, text } from '../node-red';
import type { Progress, Shown, StatusKind } from '../status/status-line';
import { shortNumber } from './changes/change-text';
import { looksWorse } from './shown-watch';

/** What a watch node shows of a model: how good it has been of late, and what it had promised. */
export function watchStatus(
  red: Red,
  {
    live,
    coverage,
    decayed,
    counts,
    model,
    version,
    isNew,
  }: Pick<WatchReport, 'live' | 'coverage' | 'decayed' | 'counts' | 'model' | 'version' | 'isNew'>,
  isOneOfSeveral: boolean,
): Shown & { kind: StatusKind } {
  const progress: Progress = { phase: 'live', rows: live.rows, waiting: counts.open };
  const kind = decayed || looksWorse({ live, decayed }) ? 'doubtful' : 'ready';
  const shown = (key: string, values: Record<string, string | number>): Shown & { kind: StatusKind } =>
    isOneOfSeveral
      ? { kind, key: 'watch.ofModel', values: { model, text: text(red, `status.${key}`, values) }, progress }
      : { kind, key, values, progress };
  if (isNew === true && version !== undefined) {
    return { ...shown('watch.new', { version }), kind: 'waiting' };
  }
  const { rows, loss, promised } = live;
  if (rows === 0 || loss === undefined) {
    const { open, unmet } = counts;
    // Outcomes may come before their predictions; where none ever meets its own, their keys or times differ.
    return open > 0 && unmet > 0
      ? { ...shown('watch.unmatched', { open, early: unmet }), kind: 'doubtful' }
      : { ...shown('watch.waiting', { open }), kind: 'waiting' };
  }
  const measured = text(red, promised === undefined ? 'status.watch.loss' : 'status.watch.lossOf', {
    measure: text(red, `status.watch.measure.${live.measure}`),
    loss: shortNumber(red, loss),
    promised: shortNumber(red, promised ?? 0),
  });
  if (coverage === undefined || live.measure === 'error') {
    return shown('watch.plain', { rows, loss: measured });
  }
  // Nearly all is not shown as all.
  const percent = coverage.held < 1 ? Math.min(99, Math.round(100 * coverage.held)) : 100;
  return shown(live.measure === 'mae' ? 'watch.band' : 'watch.right', {
    percent,
    rows: coverage.rows,
    loss: measured,
  });
}
