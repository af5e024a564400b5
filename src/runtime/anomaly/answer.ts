import type {
  Anomalies,
  AnomalyAnswer,
  AnomalyChange,
  AnomalyReading,
  OffSensor,
  ReadingPlace,
} from '../../anomaly';
import { ANOMALY } from '../../settings/nodes';
import { BoundedMap } from '../../util/collections';
import { isObject } from '../../util/values';
import type { ReadSetting } from '../fields/settings-reader';
import { addColumns } from '../input/columns-seen';
import { seriesLayer } from '../lazy';
import { LaterSendings, type MessageWork, type Output, Sendings } from '../messages/message-handler';
import { nodeChanged } from '../model-changed';
import type { Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { pastRows, type ReadMessages } from '../series/read-messages';
import type { StatusLine } from '../status/status-line';
import type { AnomalyDef, AnomalyKeeper, AnomalyRequest } from './keeper';
import { anomalyStatus, anomalyText, answerText, sensorText, tellOnceIn } from './texts';

/** Keys whose newest answer is kept at most. */
const MAX_KEYS = 10_000;
/** Numbers leave with so many digits. */
const DIGITS = 6;

type Sending = Sendings['list'][number];

interface Reading {
  values: Record<string, unknown>;
  key?: string;
  time?: unknown;
}

/** Makes the messages that leave an anomaly node. */
export class AnomalyAnswers {
  /** The newest answer of each key, for values that are part of a row to come. */
  private readonly answers = new BoundedMap<string | undefined, AnomalyAnswer>(MAX_KEYS);
  /** How each machine stood last. */
  private readonly states = new BoundedMap<string | null, AnomalyAnswer['state']>(MAX_KEYS);
  private newest: AnomalyAnswer | undefined;
  private readonly read: ReadSetting<typeof ANOMALY>;

  constructor(
    private readonly runtime: NodeRuntime<AnomalyDef>,
    private readonly keeper: AnomalyKeeper,
    private readonly messages: ReadMessages,
  ) {
    this.read = runtime.settings(ANOMALY);
  }

  /** Does what a message asks, and answers what leaves. @throws ServiceError */
  async answer(request: AnomalyRequest, msg: Message, work: MessageWork): Promise<Output> {
    if (request.kind === 'nothing') {
      return undefined;
    }
    const anomalies = await this.keeper.open();
    switch (request.kind) {
      case 'confirm':
        await anomalies.confirm(request.answer, request.id, request.key);
        this.tellEditors(true);
        return undefined;
      case 'odd':
        await anomalies.odd(request.answer, request.key);
        this.tellEditors(true);
        return undefined;
      case 'reset':
        await anomalies.reset(request.key);
        this.newest = undefined;
        this.answers.clear();
        this.show(work.status, anomalies);
        this.tellEditors(true);
        return undefined;
      case 'table':
        await anomalies.teach(taughtRows(request, this.messages, this.read('time'), work), work.signal);
        this.show(work.status, anomalies);
        this.tellEditors(true);
        return undefined;
      case 'reading':
        return this.readings(anomalies, [{ values: request.reading.cells, key: request.key }], msg, work);
      case 'readings': {
        const output = await this.readings(anomalies, request.readings, msg, work);
        if (request.readings.length > 0) {
          this.messages.remember(request.readings.at(-1)!, request.shape, request.readings.length);
        }
        return output;
      }
    }
  }

  /** Messages of changes: `msg.change`, and its text as the payload. */
  changes(changes: readonly AnomalyChange[], from?: Message): Message[] {
    return changes.map((change) => {
      const said = anomalyText(this.runtime.red, change);
      const { _msgid, topic } = from ?? { _msgid: this.runtime.red.util.generateId(), topic: undefined };
      const msg: Message = { _msgid, ...(topic === undefined ? {} : { topic }), payload: said };
      msg.change = { ...this.makeChange(change), text: said };
      if (change.kind === 'alarm' || change.kind === 'over' || change.kind === 'moved') {
        msg.anomaly = { id: change.id };
      }
      return msg;
    });
  }

  /** Each reading gives a message, and each of its changes one. Of several in a message, each message has its own. */
  private async readings(
    anomalies: Anomalies,
    readings: readonly Reading[],
    msg: Message,
    work: MessageWork,
  ): Promise<Sendings | LaterSendings> {
    const sendings: Sending[] = [];
    let failure: Error | undefined;
    for (const [i, reading] of readings.entries()) {
      try {
        const own = i === readings.length - 1 ? msg : { ...msg };
        if (readings.length > 1) {
          this.messages.table.write(own, reading.values);
        }
        sendings.push(...(await this.reading(anomalies, reading, own)));
      } catch (error) {
        failure ??= error as Error;
      }
    }
    this.show(work.status, anomalies);
    if (failure !== undefined && sendings.length === 0) {
      throw failure;
    }
    return failure === undefined ? new Sendings(sendings) : new LaterSendings(thenFail(sendings, failure));
  }

  private async reading(
    anomalies: Anomalies,
    { key, time, values }: Reading,
    own: Message,
  ): Promise<Sending[]> {
    addColumns(this.runtime.id, Object.keys(values));
    const changes: AnomalyChange[] = [];
    for (const taken of await anomalies.takePart(values, { key, time })) {
      changes.push(...taken.changes.map((change) => ({ ...change, key: taken.key })));
      // The list shows how a machine stands, and how far it has learned at first.
      const before = this.states.get(taken.key);
      this.tellEditors(before !== taken.state || taken.state === 'learning' || taken.changes.length > 0);
      this.states.set(taken.key, taken.state);
      this.answers.set(key, taken);
      this.newest = taken;
    }
    const answer = this.answers.get(key);
    const filled = answer === undefined ? [] : this.fill(own, answer);
    this.runtime.red.util.setMessageProperty(
      own,
      this.read('property'),
      this.told(answer, changes, filled),
      true,
    );
    const told = this.changes(changes, own);
    return [[own, null], ...(told.length === 0 ? [] : [[null, told] satisfies Sending])];
  }

  /** What is told of a reading as `msg.anomaly`. */
  private told(
    answer: AnomalyAnswer | undefined,
    changes: readonly AnomalyChange[],
    filled: readonly string[],
  ): Record<string, unknown> {
    if (answer === undefined) {
      return { unusual: false, text: '', sensors: [], alarm: false, knows: 0 };
    }
    const alarm = changes.find((change) => change.kind === 'alarm');
    const id = alarm?.id ?? answer.alarm;
    return {
      unusual: answer.state === 'unusual',
      ...(answer.onceIn !== undefined && {
        once_in: short(Math.round(tellOnceIn(answer.onceIn, answer.knows) / 1000)),
      }),
      text: answerText(this.runtime.red, answer),
      sensors: answer.state === 'unusual' ? answer.sensors.map((sensor) => this.sensor(sensor)) : [],
      alarm: alarm !== undefined,
      ...(id !== undefined && { id }),
      knows: Math.round(answer.knows / 1000),
      ...(answer.state === 'learning' && { learning: { rows: answer.rows, of: answer.needed } }),
      ...(answer.state === 'new' && { new: true }),
      ...(answer.state === 'late' && { late: true }),
      ...(filled.length > 0 && { filled }),
    };
  }

  private sensor(sensor: OffSensor): Record<string, unknown> {
    const { column, value, expected, low, high, kind } = sensor;
    return {
      column,
      value: short(value),
      expected: short(expected),
      low: short(low),
      high: short(high),
      kind,
      text: sensorText(this.runtime.red, sensor),
    };
  }

  private makeChange(change: AnomalyChange): Record<string, unknown> {
    const of = change.key === null ? {} : { key: change.key };
    switch (change.kind) {
      case 'alarm':
        return {
          what: 'alarm',
          ...of,
          since: change.time,
          id: change.id,
          once_in: short(Math.round(tellOnceIn(change.onceIn, change.knows) / 1000)),
          sensors: change.sensors.map((sensor) => this.sensor(sensor)),
        };
      case 'over':
        return { what: 'over', ...of, since: change.start, until: change.end, id: change.id };
      case 'moved':
        return {
          what: 'moved',
          ...of,
          since: change.since,
          id: change.id,
          column: change.column,
          value: short(change.by),
        };
      case 'new_state':
        return { what: 'new_state', ...of, since: change.time, column: change.column, value: change.value };
      case 'learned':
        return { what: 'learned', ...of, rows: change.rows, knows: Math.round(change.knows / 1000) };
      case 'odd_history':
        return { what: 'odd_history', ...of, periods: change.periods };
    }
  }

  /** Writes the expected values of missing sensors into the row, where that is asked for. @returns their columns */
  private fill(msg: Message, { expected }: AnomalyAnswer): string[] {
    const row: unknown =
      Object.keys(expected).length > 0 && this.read('fill')
        ? this.runtime.red.util.getMessageProperty(msg, this.messages.table.target)
        : undefined;
    if (!isObject(row) || Array.isArray(row)) {
      return [];
    }
    const missing = Object.entries(expected).filter(
      ([column]) => row[column] === undefined || row[column] === null || row[column] === '',
    );
    if (missing.length > 0) {
      const values = missing.map(([column, value]): [string, number] => [column, short(value)]);
      this.messages.table.write(msg, { ...row, ...Object.fromEntries(values) });
    }
    return missing.map(([column]) => column);
  }

  private tellEditors(isListed: boolean): void {
    nodeChanged(this.runtime.red, this.runtime.id, isListed);
  }

  /** Shows how it stands after what happened between two readings: it has learned in a thread of its own. */
  showNow(): void {
    const { current } = this.keeper;
    if (this.newest?.state === 'learning') {
      this.newest = undefined;
    }
    if (current !== undefined) {
      this.show(this.runtime.status, current);
    }
  }

  private show(status: StatusLine, anomalies: Anomalies): void {
    status.become(() => anomalyStatus(this.runtime.red, anomalies.progress, this.newest, this.messages));
  }
}

/** What was judged leaves; then the message ends with the error of the reading that was not. */
async function* thenFail(sendings: readonly Sending[], failure: unknown): AsyncGenerator<Sending> {
  yield* await Promise.resolve(sendings);
  throw failure;
}

/** Without the digits that nobody measured. */
function short(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/**
 * The rows of a table of past readings, in the order of the table.
 *
 * @param time the column of the time, where the dialog names one
 * @throws ServiceError
 */
async function* taughtRows(
  request: Extract<AnomalyRequest, { kind: 'table' }>,
  messages: ReadMessages,
  time: string | undefined,
  work: MessageWork,
): AsyncGenerator<{ reading: AnomalyReading; place: ReadingPlace }> {
  const { parseSeriesSettings, PlacedReading } = seriesLayer();
  const settings = parseSeriesSettings({ time, outcome: 'none' });
  for await (const row of await pastRows(request, settings, messages, work)) {
    yield row instanceof PlacedReading
      ? { reading: row.cells, place: { key: row.key, time: row.time } }
      : { reading: row, place: { key: request.key } };
  }
}
