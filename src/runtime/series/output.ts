import type { SeriesOutcome, SeriesRow, SeriesStep, SeriesTrainSet } from '../../series';
import type { TableReader } from '../input/table-input';
import { Sendings } from '../messages/message-handler';
import type { Message } from '../node-red';

/** Puts what came of a message into messages: the train set first, then its row or rows, then outcomes. */
export class SeriesOutput {
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
    this.table.write(msg, asTable ? rows.map(({ row }) => row) : rows[0]!.row);
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
