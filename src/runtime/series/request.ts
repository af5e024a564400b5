import type { BroughtOutcome, SeriesOptions } from '../../series';
import { freeText } from '../../settings/kinds';
import { SERIES } from '../../settings/nodes';
import { ServiceError } from '../../wire/service-error';
import { fromEnvironment, readProperty } from '../fields/settings-reader';
import { isDecay, notSet } from '../input/table-input';
import type { Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import {
  emptyError,
  findReading,
  isEmpty,
  keyOfMessage,
  type ReadMessages,
  type SeriesDef,
  type SeriesRequest,
} from './read-messages';

/** What may stand in a property of the message that names a key or an id. */
const NAME = freeText();

/** @throws ServiceError `validation.failed`, `table.empty`, `table.invalid`, `file.unreadable`, `config.invalid` */
export async function seriesRequest(
  runtime: NodeRuntime<SeriesDef>,
  messages: ReadMessages,
  msg: Message,
): Promise<SeriesRequest> {
  if (msg.reset !== undefined && msg.reset !== false) {
    return { kind: 'reset', key: readProperty(NAME, 'key', msg) };
  }
  if (msg.train !== undefined && msg.train !== null && msg.train !== false) {
    return { kind: 'train', reason: isDecay(msg) ? 'decay' : 'asked' };
  }
  if (msg.outcome !== undefined) {
    return { kind: 'outcome', brought: broughtBy(msg) };
  }
  // What else a watch node tells its second output: its wire may lead back here as it is.
  if (msg.change !== undefined) {
    return { kind: 'nothing' };
  }
  const { table } = messages;
  const input = await table.read(msg);
  if ('value' in input && (input.value === undefined || (input.value === null && !messages.isAuto))) {
    throw notSet(table.place);
  }
  if (messages.isAuto) {
    return messages.request(msg, input, table.place);
  }
  const key = keyOfMessage(runtime, msg);
  if ('path' in input) {
    return { kind: 'table', table: input, key };
  }
  if (isEmpty(input.value)) {
    throw emptyError(table.place);
  }
  const reading = findReading(input.value, msg.topic, table.place);
  return reading === undefined
    ? { kind: 'table', table: input, key }
    : {
        kind: 'reading',
        reading,
        key: keyIsTopic(runtime) ? (reading.key ?? key) : (key ?? reading.key),
      };
}

function broughtBy(msg: Message): BroughtOutcome {
  const { id } = (msg.series ?? {}) as { id?: unknown };
  const { time } = msg;
  const key = readProperty(NAME, 'key', msg);
  if (typeof id === 'string' && id !== '') {
    return { id, key, time, value: msg.outcome };
  }
  if (time === undefined || time === null || time === '') {
    throw new ServiceError(
      'validation.failed',
      'An outcome needs its row: set msg.series as it left with the row, or msg.time (and msg.key).',
    );
  }
  return { key, time, value: msg.outcome };
}

/** Of a single value the topic ends in its column, so that the whole of it is no key. */
function keyIsTopic(runtime: NodeRuntime<SeriesDef>): boolean {
  return runtime.def.keyType === 'msg' && fromEnvironment(runtime, runtime.def.key).trim() === 'topic';
}

/** What a message may say of the way in which readings are read; it stays until another message says otherwise. */
export type Told = Partial<Pick<Message, 'missing_words' | 'unreadable' | 'timezone'>>;

/**
 * The settings of the dialog, and of messages where the dialog leaves them open; texts as they were typed.
 * @throws ServiceError `config.invalid`, `validation.failed`
 */
export function seriesOptions(runtime: NodeRuntime<SeriesDef>, told: Told): SeriesOptions {
  const read = runtime.settings(SERIES, told);
  return {
    key: ['msg', 'topic'].includes(read('keyType')) ? undefined : read('key'),
    time: read('time'),
    shape: read('shape'),
    outcome: isUnchosen(runtime) ? 'none' : read('outcome'),
    column: read('column'),
    operator: read('operator'),
    value: read('value'),
    ahead: read('ahead'),
    knownAhead: read('knownAhead'),
    windows: read('windows'),
    train: read('train'),
    every: read('every'),
    late: read('late'),
    send: read('send'),
    keep: read('keep'),
    calendar: read('calendar'),
    relative: read('relative'),
    missingWords: read('missingWords'),
    unreadable: read('unreadable'),
    timezone: read('timezone'),
  };
}

/**
 * Whether nobody has chosen yet what is to be predicted: then rows leave alone, and the dialog offers their columns. Nodes
 * of earlier versions refuse that.
 */
export function isUnchosen(runtime: NodeRuntime<SeriesDef>): boolean {
  const read = runtime.settings(SERIES);
  return read('shape') === 'auto' && read('outcome') === 'column' && read('column') === undefined;
}

/** The name of the folder that the node keeps its state in. @throws ServiceError `config.invalid` */
export function keptAs(runtime: NodeRuntime<SeriesDef>): string {
  const name = runtime.settings(SERIES)('keepAs') ?? runtime.id;
  // What a file system takes as more than a name, or not at all.
  if (/[\\/:*?"<>|\p{Cc}]|^\.|[. ]$/u.test(name) || name.length > 100) {
    throw new ServiceError(
      'config.invalid',
      `The field Keep as must be the name of a folder, without any of \\ / : * ? " < > |, not "${name}".`,
    );
  }
  return name;
}
