import type { WatchReport } from '../../watch';
import { type Red, text } from '../node-red';
import type { Progress, Shown, StatusKind } from '../status/status-line';
import { shortNumber } from './changes/change-text';
import { activeAlarms, looksWorse } from './shown-watch';

/** A text of the catalogue below `status.`, with its values. */
type Form = readonly [key: string, values: Record<string, string | number>];

/** What a watch node shows of a model: its alarms; how good it has been of late, and what it had promised. */
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
    changes = [],
  }: Pick<WatchReport, 'live' | 'coverage' | 'decayed' | 'counts' | 'model' | 'version' | 'isNew'> &
    Partial<Pick<WatchReport, 'changes'>>,
  isOneOfSeveral: boolean,
): Shown & { kind: StatusKind } {
  const progress: Progress = { phase: 'live', rows: live.rows, waiting: counts.open };
  const kind = decayed || looksWorse({ live, decayed }) ? 'doubtful' : 'ready';
  const shown = (...forms: readonly Form[]): Shown & { kind: StatusKind } => {
    const [first, ...others] = forms.map(([key, values]) =>
      isOneOfSeveral
        ? { key: 'watch.ofModel', values: { model, text: text(red, `status.${key}`, values) } }
        : { key, values },
    );
    const shorter = others.reduceRight<Shown['shorter']>(
      (rest, form) => ({ ...form, shorter: rest }),
      undefined,
    );
    return { ...first!, kind, progress, ...(shorter !== undefined && { shorter }) };
  };
  if (isNew === true && version !== undefined) {
    return { ...shown(['watch.new', { version }]), kind: 'waiting' };
  }
  const { rows, loss, promised } = live;
  const count = activeAlarms(changes);
  const alarm: Form = ['watch.alarm', { count }];
  if (rows === 0 || loss === undefined) {
    const { open, unmet } = counts;
    // Outcomes may come before their predictions; where none ever meets its own, their keys or times differ.
    if (open > 0 && unmet > 0) {
      return { ...shown(['watch.unmatched', { early: unmet }]), kind: 'doubtful' };
    }
    if (count > 0) {
      return { ...shown(alarm), kind: 'doubtful' };
    }
    // Predictions without an address in msg.series wait for nothing.
    return { ...shown(open > 0 ? ['watch.waiting', { open }] : ['watch.noOutcomes', {}]), kind: 'waiting' };
  }
  const measure = text(red, `status.watch.measure.${live.measure}`);
  const values = { measure, loss: shortNumber(red, loss) };
  if (count > 0) {
    return { ...shown(['watch.alarmLoss', { ...values, count }], alarm), kind: 'doubtful' };
  }
  if (promised !== undefined) {
    const both = { ...values, promised: shortNumber(red, promised) };
    return shown(['watch.lossOf', both], ['watch.lossOfPromised', both], ['watch.loss', values]);
  }
  const measured = text(red, 'status.watch.loss', values);
  const plain: Form = ['watch.plain', { rows, loss: measured }];
  if (coverage === undefined || live.measure === 'error') {
    return shown(plain, ['watch.loss', values]);
  }
  // Nearly all is not shown as all.
  const percent = coverage.held < 1 ? Math.min(99, Math.round(100 * coverage.held)) : 100;
  const key = live.measure === 'mae' ? 'watch.band' : 'watch.right';
  return shown([key, { percent, rows: coverage.rows, loss: measured }], plain, ['watch.loss', values]);
}
