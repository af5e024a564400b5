import type { MessageReading } from '../../messages';
import type { Series } from '../../series';
import { addColumns, rememberColumns, rememberFileColumns } from '../input/columns-seen';
import type { TableReader } from '../input/table-input';
import { type MessageWork, type Output, Sendings } from '../messages/message-handler';
import type { FlowNode, Message } from '../node-red';
import type { SeriesKeeper } from './keeper';
import { SeriesOutput } from './output';
import type { PastSender } from './past-sender';
import type { ReadMessages } from './read-messages';
import { showSeries } from './status';
import { takeTable } from './take-table';
import type { SeriesRequest } from './types';

/**
 * Does what a message asks, and answers what leaves.
 * @throws ServiceError
 */
export async function seriesAnswer(
  node: FlowNode,
  keeper: SeriesKeeper,
  sender: PastSender,
  table: TableReader,
  messages: ReadMessages,
  request: SeriesRequest,
  msg: Message,
  work: MessageWork,
): Promise<Output> {
  if (request.kind === 'nothing') {
    return undefined;
  }
  // Before anything can fail: the dialog offers what it is to be given.
  nameColumns(node, request);
  const series = await keeper.open(msg);
  const output = new SeriesOutput(table, series.settings.aheads.length);
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
      case 'table':
        return sender.send(output, msg, await takeTable(series, request, messages, work), work);
    }
  };
  const answered = await answer();
  if (request.kind === 'readings' && request.readings.length > 0) {
    messages.remember(request.readings.at(-1)!, request.shape, request.readings.length);
  }
  showSeries(work.status, series, messages);
  return answered;
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

function nameColumns(node: FlowNode, request: SeriesRequest): void {
  if (request.kind === 'reading') {
    addColumns(node.id, Object.keys(request.reading.cells));
  } else if (request.kind === 'table' && 'path' in request.table) {
    void rememberFileColumns(node.id, request.table.path);
  } else if (request.kind === 'table' && request.rows === undefined) {
    rememberColumns(node.id, (request.table as { value: unknown }).value);
  }
}
