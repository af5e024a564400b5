import type { MessageReading } from '../../messages';
import type {
  PackedList,
  Series,
  SeriesOutcome,
  SeriesPast,
  SeriesRow,
  SeriesStep,
  SeriesTrainSet,
} from '../../series';
import { Serial, Yielder } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { addColumns, columnNames, fileColumnNames, rememberNames } from '../input/columns-seen';
import { listAddedColumns, type TableReader } from '../input/table-input';
import { messagesLayer } from '../lazy';
import { delivered, HandOver } from '../messages/in-flight';
import { LaterSendings, type MessageWork, type Output, Sendings } from '../messages/message-handler';
import type { Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import type { StatusLine } from '../status/status-line';
import { type SeriesKeeper, showSeries } from './keeper';
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
    tellUnseenOutcome(runtime, series, request);
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
function tellUnseenOutcome(runtime: NodeRuntime, series: Series, request: SeriesRequest): void {
  if (lookedAt.has(series)) {
    return;
  }
  const { unseenOutcome: column, readings, columns, planned } = series.progress;
  if (column === undefined) {
    lookedAt.add(series);
  } else if (request.kind === 'table' ? readings > 0 || planned === 0 : readings >= ENOUGH_READINGS) {
    lookedAt.add(series);
    const named = columns.length > 0 ? columns : readColumns(request);
    runtime.warn('unseenOutcome', { column, columns: named.slice(0, MAX_NAMED).join(', ') });
  }
}

/** The columns of a table in which no reading was found, such as the one of lines that nobody has split. */
function readColumns(request: SeriesRequest): string[] {
  return request.kind === 'table' && 'value' in request.table ? columnNames(request.table.value) : [];
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

/** Cells that leave as one message. */
const CELLS = 20_000;
/**
 * Rows of a message where there are more cells: a chart keeps of each row a copy of its whole message, with what stands
 * beside the rows, so with 800 rows a message it has 100 KB of each.
 */
const ROWS = 24;
/** Rows of several messages that are under way: a predict node scores them together, and its queue has room for them. */
const ROWS_UNDER_WAY = 100;
/** Tables whose rows may wait for those of another. */
const MAX_WAITING = 3;

/** The messages that a list is sent in: of how many rows each, how many they are, and how many are under way at a time. */
interface Parts {
  size: number;
  count: number;
  atOnce: number;
}

/** A message that brought a table of past readings, and what leaves of it. */
interface PastMessage {
  msg: Message;
  past: SeriesPast;
  /** The train set. */
  first: (Message | null)[][];
  leaving: Parts;
  learned: Parts;
}

/**
 * Sends what a table of past readings brings: in one message, or in many one after the other, the next when those before
 * were handed over. So few of them are in memory at a time, here or in the queue of a predict node.
 */
export class PastSender {
  private readonly turns = new Serial();
  private waiting = 0;
  private hasTold = false;

  constructor(
    private readonly runtime: NodeRuntime,
    private readonly table: TableReader,
  ) {}

  async send(output: SeriesOutput, msg: Message, past: SeriesPast, work: MessageWork): Promise<Output> {
    const { rows, outcomes, trainSet } = past;
    const first = trainSet === undefined ? [] : [await output.ofTrainSet(msg, trainSet)];
    const leaving = this.isWired(0) ? splitParts(rows, output.rowsTogether) : NONE;
    const learned = this.isWired(1) ? splitParts(outcomes, 1) : NONE;
    if (leaving.count < 2 && learned.count < 2) {
      // Made before the message is changed, from which it takes its id.
      const withOutcomes =
        learned.count === 0 ? [] : [output.ofOutcomes(msg, outcomes.slice(0, learned.size))];
      const withRows = leaving.count === 0 ? [] : [output.ofRows(msg, rows.slice(0, leaving.size))];
      return new Sendings([
        ...first,
        ...withRows.map((one) => [one, null, null]),
        ...withOutcomes.map((one) => [null, one, null]),
      ]);
    }
    this.tell(rows, leaving.count);
    return new LaterSendings(this.inTurn(output, { msg, past, first, leaving, learned }, work));
  }

  private async *inTurn(
    output: SeriesOutput,
    { msg, past, first, leaving, learned }: PastMessage,
    { signal, status }: MessageWork,
  ): AsyncGenerator<(Message | null)[]> {
    const { rows, outcomes } = past;
    if (first.length > 0) {
      yield first.pop()!;
    }
    const end = await this.turn(rows.length);
    // The fit of the train set is not waited for: the rows may wait for its model where they are predicted.
    await delivered();
    const handOver = new HandOver(msg._msgid);
    try {
      this.table.write(msg, null);
      const asRows = this.sequence(leaving, msg.parts);
      for await (const [index, part] of inParts(rows, leaving, () => handOver.over(signal))) {
        const own = output.ofRows(this.runtime.red.util.cloneMessage(msg), part);
        yield [Object.assign(own, asRows(index)), null, null];
        showSent(status, Math.min(rows.length, (index + 1) * leaving.size), rows.length);
      }
      const asOutcomes = this.sequence(learned, undefined);
      for await (const [index, part] of inParts(outcomes, learned, () => handOver.over(signal))) {
        yield [null, Object.assign(output.ofOutcomes(msg, part), asOutcomes(index)), null];
      }
    } finally {
      handOver.end();
      end();
    }
  }

  /** Once in the life of the node: what leaves is many times what came. */
  private tell({ length: rows, total }: PackedList<unknown>, parts: number): void {
    if (!this.hasTold && parts > 1) {
      this.hasTold = true;
      this.runtime.warn('pastRows', { rows, total, parts });
    }
  }

  /** Waits until the rows of earlier tables are sent. @throws ServiceError `queue.full` where too many wait */
  private async turn(rows: number): Promise<() => void> {
    if (this.waiting > MAX_WAITING) {
      throw new ServiceError(
        'queue.full',
        `The readings were taken, but their ${rows} rows do not leave: those of ${this.waiting} earlier tables ` +
          'still wait for the nodes behind output 1. Send the table again when they are done, or choose the newest ' +
          'of each key under Past rows.',
      );
    }
    this.waiting++;
    let end!: () => void;
    const ended = new Promise<void>((resolve) => {
      end = (): void => {
        this.waiting--;
        resolve();
      };
    });
    await new Promise<void>((begin) => {
      void this.turns.run(() => {
        begin();
        return ended;
      });
    });
    return end;
  }

  /** What makes the messages one sequence, which a Join node puts together again. */
  private sequence({ count, size }: Parts, outer: unknown): (index: number) => Partial<Message> {
    const id = this.runtime.red.util.generateId();
    const { target } = this.table;
    return (index) => ({
      parts: {
        id,
        type: 'array',
        index,
        count,
        // Of arrays of one row a Join node would make an array of arrays.
        len: Math.max(2, size),
        ...(target !== 'payload' && { property: target }),
        ...(outer !== undefined && { parts: outer }),
      },
    });
  }

  private isWired(output: number): boolean {
    const { wires } = this.runtime.node as { wires?: readonly (readonly string[])[] };
    return wires?.[output]?.length !== 0;
  }
}

const NONE: Parts = { size: 1, count: 0, atOnce: 1 };

/** @param together rows that stay in one message if they are not more than it has */
function splitParts({ length, width }: PackedList<unknown>, together: number): Parts {
  const most = Math.max(1, Math.floor(CELLS / width));
  if (length <= most) {
    return { size: length, count: Math.min(1, length), atOnce: 1 };
  }
  const rows = Math.min(ROWS, most);
  const size = rows - (rows % Math.min(together, rows));
  return { size, count: Math.ceil(length / size), atOnce: Math.floor(ROWS_UNDER_WAY / size) };
}

/** The parts of a list with their index; after so many as are under way at a time it waits. */
async function* inParts<T>(
  list: PackedList<T>,
  { size, count, atOnce }: Parts,
  handedOver: () => Promise<void>,
): AsyncGenerator<[index: number, part: T[]]> {
  const yielder = new Yielder();
  for (let index = 0; index < count; index++) {
    yield [index, list.slice(index * size, (index + 1) * size)];
    await (index % atOnce === atOnce - 1 || index === count - 1 ? handedOver() : yielder.due());
  }
}

function showSent(status: StatusLine, rows: number, total: number): void {
  const percent = Math.floor((100 * rows) / total);
  const progress = { phase: 'sending', rows, total_rows: total, percent } as const;
  status.show('busy', 'series.sending', { rows, total }, progress);
}

/** Puts what came of a message into messages: the train set first, then its row or rows, then outcomes. */
class SeriesOutput {
  /** @param rowsTogether rows of one reading: several steps ahead make several */
  constructor(
    private readonly table: TableReader,
    readonly rowsTogether: number,
  ) {}

  /** Of one reading: each outcome is a message of its own. */
  async ofReading(msg: Message, { rows, outcomes, trainSet }: SeriesStep): Promise<Sendings> {
    return new Sendings([
      ...(trainSet === undefined ? [] : [await this.ofTrainSet(msg, trainSet)]),
      ...(rows.length === 0 ? [] : [[this.ofRows(msg, rows, this.rowsTogether > 1), null, null]]),
      ...(outcomes.length === 0
        ? []
        : [[null, outcomes.map((outcome) => this.ofOutcomes(msg, [outcome], false)), null]]),
    ]);
  }

  async ofTrainSet(from: Message, trainSet: SeriesTrainSet): Promise<(Message | null)[]> {
    const msg = fresh(from);
    this.table.write(msg, await trainSet.rows());
    msg.target = trainSet.target;
    msg.ignore = trainSet.ignore;
    msg.order = trainSet.order;
    msg.embargo = trainSet.embargo;
    if (trainSet.relative_to !== undefined) {
      msg.relative_to = trainSet.relative_to;
    }
    if (trainSet.group !== undefined) {
      msg.group = trainSet.group;
      msg.folds = trainSet.folds;
    }
    msg.replace = trainSet.replace;
    msg.train = trainSet.train;
    return [null, null, msg];
  }

  /** The message itself, which keeps what else it has. */
  ofRows(msg: Message, rows: SeriesRow[], asTable = true): Message {
    const { payload } = msg;
    this.table.write(msg, asTable ? rows.map(({ row }) => row) : rows[0]!.row);
    listAddedColumns(msg, payload);
    msg.series = asTable ? rows.map(({ series }) => series) : rows[0]!.series;
    return msg;
  }

  /** A message of their own. */
  ofOutcomes(from: Message, outcomes: SeriesOutcome[], asTable = true): Message {
    const msg = fresh(from);
    this.table.write(msg, asTable ? outcomes.map(({ row }) => row) : outcomes[0]!.row);
    msg.series = asTable ? outcomes.map(({ series }) => series) : outcomes[0]!.series;
    msg.truth = asTable ? outcomes.map(({ truth }) => truth) : outcomes[0]!.truth;
    return msg;
  }
}

/** A message of its own: what else the reading's has belongs to the reading. */
function fresh({ _msgid, topic }: Message): Message {
  return { _msgid, ...(topic === undefined ? {} : { topic }) };
}
