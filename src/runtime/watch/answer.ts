import { Yielder } from '../../util/concurrency';
import type { WatchChange, WatchNumbers } from '../../watch';
import type { Task } from '../../wire/vocabulary';
import type { TableReader } from '../input/table-input';
import { type MessageWork, type Output, Sendings } from '../messages/message-handler';
import type { Message, Red } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { changeMessages, keepCauses } from './change-message';
import type { WatchKeeper } from './keeper';
import type { WatchRequest } from './request';
import { watchStatus } from './status';

type Predictions = Extract<WatchRequest, { kind: 'predictions' }>;
type Truths = Extract<WatchRequest, { kind: 'truths' }>['truths'];

/**
 * Counts what a message brings, and answers what leaves: predictions by output 1, each change as a message by output 2.
 * @throws ServiceError
 */
export async function watchAnswer(
  { runtime: { red }, keeper, table }: { runtime: NodeRuntime; keeper: WatchKeeper; table: TableReader },
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
  const { numbers, changes } = await takePredictions(keeper, request);
  // Made before the message is changed, from which they take their id.
  const messages = changeMessages(changes, keeper.textOf, msg);
  table.write(msg, request.table.table);
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
  { model, table, property, series }: Predictions,
): Promise<{ numbers: WatchNumbers | undefined; changes: WatchChange[] }> {
  const shares = `${property}_probabilities`;
  const task = taskOf(table.cell(0, property), table.cell(0, shares));
  const { watch, changes, trainedUntil, madeBy } = await keeper.of(model, task);
  const yielder = new Yielder();
  let numbers: WatchNumbers | undefined;
  let continues = false;
  for (let index = 0; index < table.rows; index++) {
    const given = table.cell(index, property);
    const { key, time = Infinity } = series[index]!;
    if (given === undefined || time <= trainedUntil(key)) {
      continue;
    }
    const answer = watch.predicted({
      series: series[index]!,
      prediction: given,
      probabilities: table.cell(index, shares),
      row: table.cells(index),
      model: madeBy,
      continues,
    });
    continues = true;
    if (answer.prediction !== given) {
      table.put(index, property, answer.prediction);
    }
    numbers = answer.numbers;
    const causes = table.cell(index, `${property}_why`);
    keepCauses(answer.changes, causes);
    changes.push(...answer.changes);
    keeper.because(watch.model.name, causes);
    await yielder.due();
  }
  keeper.counted([watch.model.name], changes);
  return { numbers, changes };
}

/** Of a model whose card is not known: labels are text or have probabilities. */
function taskOf(prediction: unknown, probabilities: unknown): Task {
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
