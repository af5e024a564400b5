import fs from 'node:fs';

import type { WatchReport } from '../../watch';
import { onModelChanged } from '../model-changed';
import { type Red, text } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { watchFile } from '../paths';
import type { Progress, Shown, StatusKind } from '../status/status-line';
import { changeMessages } from './change-message';
import { shortNumber } from './change-text';
import type { WatchKeeper } from './keeper';
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

/**
 * Another version that takes over, by a fit or by hand, is reported at once, in the status and on output 2: the next
 * prediction may be hours away.
 */
export function followModel({ red, node, status }: NodeRuntime, keeper: WatchKeeper): void {
  onModelChanged(node, (model) => {
    // A closed node, or a field that is wrong: the next message tells.
    void follow(model).catch(() => undefined);
  });

  async function follow(model: string): Promise<void> {
    const changes = await keeper.followed(model);
    if (changes.length === 0) {
      return;
    }
    keeper.counted([model], changes);
    const watches = await keeper.all();
    const watch = watches.find((one) => one.model.name === model);
    if (watch !== undefined) {
      const report = watch.report();
      status.become(() => watchStatus(red, report, watches.length > 1));
    }
    const told = { _msgid: red.util.generateId() };
    node.send([null, changeMessages(changes, keeper.textOf, told)]);
  }
}

/**
 * Once the flows have started: what the node kept is read and shown. Where nothing is kept, or a field is wrong, the
 * first message will tell.
 */
export function showKeptWatch(runtime: NodeRuntime, keeper: WatchKeeper): void {
  const { red, status } = runtime;
  runtime.whenStarted(() => {
    void show().catch(() => undefined);
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(watchFile(red, runtime.id))) {
      return;
    }
    const watches = await keeper.all();
    keeper.noteInCharge(watches);
    const newest = watches.at(-1);
    if (newest !== undefined) {
      status.showIdle(watchStatus(red, newest.report(), watches.length > 1));
    }
  }
}
