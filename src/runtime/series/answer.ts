import type { MessageReading } from '../../messages';
import type { Series } from '../../series';
import { addColumns, columnNames, fileColumnNames, rememberNames } from '../input/columns-seen';
import { messagesLayer } from '../lazy';
import { type MessageWork, type Output, Sendings } from '../messages/message-handler';
import type { Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { type SeriesKeeper, showSeries } from './keeper';
import { type PastSender, SeriesOutput } from './past-sender';
import { type ReadMessages, type SeriesRequest, takeTable } from './read-messages';

/** Sensors that publish on their own have all come once by then. */
const ENOUGH_READINGS = 100;
/** Columns that a warning names at most. */
const MAX_NAMED = 20;

/** Series whose outcome's column has come, or of which it was told that it does not. */
const lookedAt = new WeakSet<Series>();

/** What a series node works with, from message to message. */
interface SeriesNodeParts {
  runtime: NodeRuntime;
  keeper: SeriesKeeper;
  sender: PastSender;
  messages: ReadMessages;
}

/**
 * Does what a message asks, and answers what leaves.
 * @throws ServiceError
 */
export async function seriesAnswer(
  { runtime, keeper, sender, messages }: SeriesNodeParts,
  request: SeriesRequest,
  msg: Message,
  work: MessageWork,
): Promise<Output> {
  if (request.kind === 'nothing') {
    return undefined;
  }
  // Before anything can fail: the dialog offers what it is to be given.
  await nameColumns(runtime.id, messages, request);
  const series = await keeper.open(msg);
  const output = new SeriesOutput(messages.table, series.settings.aheads.length);
  const answer = async (): Promise<Output> => {
    switch (request.kind) {
      case 'reset':
        await series.reset(request.key);
        return undefined;
      case 'train': {
        const trainSet = await series.train(request.reason);
        return trainSet === undefined ? undefined : new Sendings([await output.ofTrainSet(msg, trainSet)]);
      }
      case 'outcome':
        return output.ofReading(msg, await series.outcome(request.brought));
      case 'reading':
        return output.ofReading(msg, await series.push(request.reading.cells, { key: request.key }));
      case 'readings':
        return takeReadings(series, output, msg, request.readings);
      case 'table': {
        const past = await takeTable(series, request, messages, work);
        // The last reading alone need not have all of them.
        addColumns(runtime.id, series.progress.columns);
        return sender.send(output, msg, past, work);
      }
    }
  };
  const answered = await answer();
  if (keeper.isUnchosen) {
    tellUnchosen(runtime, series);
  } else {
    tellUnseenOutcome(runtime, series, request.kind === 'table');
  }
  showSeries(work.status, series, messages, keeper.isUnchosen);
  return answered;
}

/** Says once, of the first readings, that there is a column to be chosen. */
function tellUnchosen(runtime: NodeRuntime, series: Series): void {
  const { readings, columns } = series.progress;
  if (readings > 0 && !lookedAt.has(series)) {
    lookedAt.add(series);
    runtime.warn('noColumn', { columns: columns.slice(0, MAX_NAMED).join(', ') });
  }
}

/** Warns once where the column of the outcome does not come: a table would have it, and so would many readings. */
function tellUnseenOutcome(runtime: NodeRuntime, series: Series, isTable: boolean): void {
  if (lookedAt.has(series)) {
    return;
  }
  const { unseenOutcome: column, readings, columns } = series.progress;
  if (column === undefined) {
    lookedAt.add(series);
  } else if (isTable ? readings > 0 : readings >= ENOUGH_READINGS) {
    lookedAt.add(series);
    runtime.warn('unseenOutcome', { column, columns: columns.slice(0, MAX_NAMED).join(', ') });
  }
}

/** The readings of one message, in order of time; each gives messages of its own. */
async function takeReadings(
  series: Series,
  output: SeriesOutput,
  msg: Message,
  readings: readonly MessageReading[],
): Promise<Sendings> {
  const sendings: Sendings['list'][number][] = [];
  for (const [i, { key, time, values }] of readings.entries()) {
    const own = i === readings.length - 1 ? msg : { ...msg };
    sendings.push(...(await output.ofReading(own, await series.push(values, { key, time }))).list);
  }
  return new Sendings(sendings);
}

async function nameColumns(id: string, messages: ReadMessages, request: SeriesRequest): Promise<void> {
  if (request.kind === 'reading') {
    addColumns(id, Object.keys(request.reading.cells));
  } else if (request.kind === 'readings' && request.readings.length > 0) {
    messages.remember(request.readings.at(-1)!, request.shape, request.readings.length);
  } else if (request.kind === 'table' && request.rows === undefined) {
    const { table: input } = request;
    const names = 'path' in input ? await fileColumnNames(input.path) : columnNames(input.value);
    if (!messages.isAuto || messagesLayer().shapeOfColumns(names) === undefined) {
      rememberNames(id, names);
    }
  }
}
