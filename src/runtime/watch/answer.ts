import fs from 'node:fs';

import { Yielder } from '../../util/concurrency';
import { isObject } from '../../util/values';
import type { AlarmCause, WatchChange, WatchNumbers, WatchReport } from '../../watch';
import type { Task } from '../../wire/vocabulary';
import type { TableReader } from '../input/table-input';
import { table } from '../lazy';
import { type MessageWork, type Output, Sendings } from '../messages/message-handler';
import { onModelChanged } from '../model-changed';
import { type Message, type Red, text } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { watchFile } from '../paths';
import type { Progress, Shown, StatusKind } from '../status/status-line';
import type { WatchKeeper } from './keeper';
import { type PredictedRows, readCell, type WatchRequest } from './request';
import { activeAlarms, looksWorse, shortNumber } from './shown-watch';

type Truths = Extract<WatchRequest, { kind: 'truths' }>['truths'];

/**
 * Counts what a message brings, and answers what leaves: predictions by output 1, each change as a message by output 2.
 * @throws ServiceError
 */
export async function watchAnswer(
  {
    runtime: { red },
    keeper,
    table: place,
  }: { runtime: NodeRuntime; keeper: WatchKeeper; table: TableReader },
  request: WatchRequest,
  msg: Message,
  work: MessageWork,
): Promise<Output> {
  if (request.kind === 'unpredicted') {
    work.status.show('waiting', 'noModel');
    return [msg, null];
  }
  if (request.kind === 'truths') {
    const changes = await takeTruths(keeper, request.truths);
    const messages = changeMessages(changes, keeper.textOf, msg);
    await show(red, keeper, work);
    return messages.length === 0 ? undefined : [null, messages];
  }
  const { numbers, changes, corrected } = await takePredictions(keeper, request);
  // Made before the message is changed, from which they take their id.
  const messages = changeMessages(changes, keeper.textOf, msg);
  place.write(msg, await withCorrected(request, corrected));
  if (numbers === undefined) {
    delete msg.watch;
  } else {
    msg.watch = numbers;
  }
  await show(red, keeper, work);
  return new Sendings([[msg, null], ...(messages.length === 0 ? [] : [[null, messages]])]);
}

async function takeTruths(keeper: WatchKeeper, truths: Truths): Promise<WatchChange[]> {
  const yielder = new Yielder();
  const changes: WatchChange[] = [];
  for (const truth of truths) {
    changes.push(...(await keeper.truth(truth)));
    await yielder.due();
  }
  keeper.counted(keeper.models, changes);
  return changes;
}

/**
 * Rows that the model has learned from go on as they are: they are of the past, and what it says of them tells nothing
 * of what it will say of others. The numbers are those after the last row that counts.
 */
async function takePredictions(
  keeper: WatchKeeper,
  { model, rows, property, series }: PredictedRows,
): Promise<{
  numbers: WatchNumbers | undefined;
  changes: WatchChange[];
  /** What is predicted in place of what the message has, by row. */
  corrected: Map<number, unknown>;
}> {
  const shares = `${property}_probabilities`;
  const task = findTask(readCell(rows[0]!, property), readCell(rows[0]!, shares));
  const { watch, changes, trainedUntil, madeBy } = await keeper.of(model, task);
  const yielder = new Yielder();
  let numbers: WatchNumbers | undefined;
  const corrected = new Map<number, unknown>();
  let continues = false;
  for (const [index, row] of rows.entries()) {
    const given = readCell(row, property);
    const { key, time = Infinity } = series[index]!;
    if (given === undefined || time <= trainedUntil(key)) {
      continue;
    }
    const answer = watch.predicted({
      series: series[index]!,
      prediction: given,
      probabilities: readCell(row, shares),
      row,
      model: madeBy,
      continues,
    });
    continues = true;
    if (answer.prediction !== given) {
      corrected.set(index, answer.prediction);
    }
    numbers = answer.numbers;
    const causes = readCell(row, `${property}_why`);
    keepCauses(answer.changes, causes);
    changes.push(...answer.changes);
    keeper.because(watch.model.name, causes);
    await yielder.due();
  }
  keeper.counted([watch.model.name], changes);
  return { numbers, changes, corrected };
}

/** The table with corrected predictions. The one that was given, and its rows, stay as they are. */
async function withCorrected(
  { value, rows, property }: PredictedRows,
  corrected: ReadonlyMap<number, unknown>,
): Promise<unknown> {
  if (corrected.size === 0) {
    return value;
  }
  const { OwnCopy, openTable } = table();
  const own = await openTable(await new OwnCopy(value).take());
  const cell = (row: number): unknown =>
    corrected.has(row) ? corrected.get(row) : readCell(rows[row]!, property);
  return own.addColumns({ rows: rows.length, columns: [{ name: property, cell }] });
}

/** Of a model whose card is not known: labels are text or have probabilities. */
function findTask(prediction: unknown, probabilities: unknown): Task {
  const isLabel = typeof prediction === 'string' || typeof prediction === 'boolean';
  return isLabel || probabilities !== undefined ? 'classification' : 'regression';
}

async function show(red: Red, keeper: WatchKeeper, { status }: MessageWork): Promise<void> {
  const watches = await keeper.all();
  const newest = watches.at(-1);
  if (newest !== undefined) {
    status.become(() => watchStatus(red, newest.report(), watches.length > 1));
  }
}

/**
 * A message of its own for each change: `msg.change`, and its text as the payload, for a mail or a line on a dashboard.
 * That of a decay asks a series node for a train set.
 */
function changeMessages(
  changes: readonly WatchChange[],
  textOf: (change: WatchChange) => string,
  { _msgid, topic }: Message,
): Message[] {
  return changes.map((change) => {
    const text = textOf(change);
    const msg: Message = { _msgid, ...(topic === undefined ? {} : { topic }), payload: text };
    msg.change = { ...change, text };
    msg.model_name = change.model;
    if (change.what === 'decay') {
      msg.train = { reason: 'decay', model: change.model };
    }
    return msg;
  });
}

/** As many as predict gives per row, and the longest sentence: a flow may have put anything there. */
const MOST = 3;
const CHARACTERS = 500;

/**
 * Lets alarms keep why they were raised: sent on output 2, and shown in the sidebar when the prediction is long gone.
 * @param causes what stands beside the prediction under `<property>_why`
 */
function keepCauses(changes: readonly WatchChange[], causes: unknown): void {
  const alarms = changes.filter(({ what }) => what === 'alarm');
  if (alarms.length === 0 || !Array.isArray(causes)) {
    return;
  }
  const known = causes.slice(0, MOST).flatMap((cause) => findCause(cause) ?? []);
  if (known.length > 0) {
    for (const alarm of alarms) {
      alarm.causes = known;
    }
  }
}

function findCause(cause: unknown): AlarmCause | undefined {
  if (!isObject(cause)) {
    return undefined;
  }
  const { column, effect, text } = cause;
  return typeof column === 'string' && typeof effect === 'number' && typeof text === 'string' && text !== ''
    ? { column: column.slice(0, CHARACTERS), effect, text: text.slice(0, CHARACTERS) }
    : undefined;
}

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
