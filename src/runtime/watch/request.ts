import type { ModelCard } from '../../connection';
import type { FlowProperties } from '../../settings/kinds';
import { WATCH } from '../../settings/nodes';
import { isObject } from '../../util/values';
import type { AlarmOptions, WatchedRow, WatchOptions } from '../../watch';
import { ServiceError } from '../../wire/service-error';
import type { ReadSetting } from '../fields/settings-reader';
import type { TableReader } from '../input/table-input';
import { table } from '../lazy';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';

/** The watch node as it stands in a flow file. */
export type WatchDef = FlowNodeDef & FlowProperties<typeof WATCH>;

/** What a message brings to the watch node. */
export type WatchRequest =
  /** Rows that no model has predicted yet: they go on as they are. */
  | { kind: 'unpredicted' }
  | PredictedRows
  | { kind: 'truths'; truths: { series: WatchedRow; truth: unknown }[] };

/** Rows that a model has predicted, each with the address of what it is of. */
export interface PredictedRows {
  kind: 'predictions';
  model: NamedCard;
  /** The table, in the form in which it came. */
  value: unknown;
  rows: readonly Row[];
  property: string;
  series: WatchedRow[];
}

type Row = Record<string, unknown>;

/** The model of a message: its name or id, its card where the message has it, and the id of the very one that predicted. */
export interface NamedCard {
  name: string;
  card?: ModelCard;
  fittedId?: string;
}

/** @throws ServiceError `validation.failed`, `table.empty`, `table.invalid`, `model.unknown`, `config.invalid` */
export async function watchRequest(
  runtime: NodeRuntime<WatchDef>,
  from: TableReader,
  msg: Message,
): Promise<WatchRequest> {
  if (msg.truth !== undefined) {
    return { kind: 'truths', truths: readTruths(msg) };
  }
  const read = runtime.settings(WATCH);
  const input = await from.read(msg);
  const value = 'value' in input ? input.value : undefined;
  const rows = await rowsIn(value);
  const property = read('property');
  if (rows !== undefined && rows.length > 0 && readCell(rows[0]!, property) !== undefined) {
    const series = readAddresses(msg.series, rows.length);
    return { kind: 'predictions', model: chooseModel(read('model'), msg), value, rows, property, series };
  }
  if (rows !== undefined && msg.series !== undefined && msg.model_name === undefined) {
    return { kind: 'unpredicted' };
  }
  throw new ServiceError(
    'validation.failed',
    `There is neither a prediction nor a truth: ${from.place} has no "${property}", and msg.truth is not set. ` +
      'Wire a predict node in here, with the same name under Attach as, and outcomes with msg.truth and msg.series.',
  );
}

function readTruths(msg: Message): { series: WatchedRow; truth: unknown }[] {
  const truth: unknown = msg.truth;
  // The outcome of an advice may come with the advice itself.
  const series: unknown = msg.series ?? (isObject(msg.advice) ? { id: msg.advice.id } : undefined);
  if (!Array.isArray(truth)) {
    return [
      { series: readAddress(Array.isArray(series) && series.length === 1 ? series[0] : series), truth },
    ];
  }
  if (!Array.isArray(series) || series.length !== truth.length) {
    throw new ServiceError(
      'validation.failed',
      `msg.truth has ${truth.length} values and msg.series ${Array.isArray(series) ? series.length : 'is no array'}: ` +
        'each truth needs the msg.series of its row.',
    );
  }
  return truth.map((one: unknown, index) => ({ series: readAddress(series[index]), truth: one }));
}

/** Which row each prediction is of. Without msg.series nothing can be known of its truth, but alarms work. */
function readAddresses(series: unknown, rows: number): WatchedRow[] {
  if (series === undefined || series === null) {
    return Array.from({ length: rows }, () => ({}));
  }
  const list: unknown[] = Array.isArray(series) ? series : [series];
  if (list.length !== rows) {
    throw new ServiceError(
      'validation.failed',
      `There are ${rows} predictions and ${list.length} entries in msg.series: each row needs its own, in the same order.`,
    );
  }
  return list.map(readAddress);
}

function readAddress(series: unknown): WatchedRow {
  if (!isObject(series)) {
    throw new ServiceError(
      'validation.failed',
      'msg.series must be an object {key, time, ahead, id}, as the series node sets it, or an array of them.',
    );
  }
  const { id, key, time, ahead } = series;
  const number = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isFinite(value)
      ? value
      : value instanceof Date && !Number.isNaN(value.getTime())
        ? value.getTime()
        : undefined;
  const row: WatchedRow = {
    ...(isName(id) && { id: String(id) }),
    ...(isName(key) && { key: String(key) }),
    ...(number(time) !== undefined && { time: number(time) }),
    ...(number(ahead) !== undefined && { ahead: number(ahead) }),
  };
  if (row.id === undefined && row.time === undefined) {
    throw new ServiceError(
      'validation.failed',
      'msg.series names no row: it needs an id, or the time (and key) of the row, in milliseconds since 1970.',
    );
  }
  return row;
}

function isName(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** The dialog's model; else the one that made the predictions, or the card or name in the message. */
function chooseModel(dialog: string | undefined, msg: Message): NamedCard {
  const named = namedCard(dialog, msg);
  const by: unknown = msg.predicted_by;
  const isKnown = isObject(by) && by.name === msg.model_name && typeof by.fitted_train_set_id === 'string';
  return isKnown ? { ...named, fittedId: by.fitted_train_set_id as string } : named;
}

function namedCard(dialog: string | undefined, msg: Message): NamedCard {
  if (dialog !== undefined) {
    return { name: dialog };
  }
  const name: unknown = msg.model_name;
  const model: unknown = msg.model;
  const card = isObject(model) && typeof model.fitted_train_set_id === 'string' ? model : undefined;
  if (typeof name === 'string' && name !== '') {
    return card?.name === name ? { name, card: card as unknown as ModelCard } : { name };
  }
  if (typeof card?.name === 'string') {
    return { name: card.name, card: card as unknown as ModelCard };
  }
  if (typeof model === 'string' && model !== '') {
    return { name: model };
  }
  throw new ServiceError(
    'model.unknown',
    'No model is named: choose one in the node, or leave msg.model_name as the predict node sets it.',
  );
}

/** What a message may say of the settings; it stays until another message says otherwise. */
export type ToldZone = Pick<Message, 'timezone'>;

/** @throws ServiceError `config.invalid`, `validation.failed` */
export function watchOptions(runtime: NodeRuntime<WatchDef>, told: ToldZone): WatchOptions {
  const read = runtime.settings(WATCH, { timezone: told.timezone });
  return {
    honest: read('honest'),
    worse: read('worse') / 100,
    perKey: read('perKey'),
    keep: read('keep'),
    alarm: alarmOptions(read),
    timezone: read('timezone'),
  };
}

/** What is hidden in the dialog is not read. */
function alarmOptions(read: ReadSetting<typeof WATCH>): AlarmOptions {
  const on = read('alarmOn');
  if (on === 'off') {
    return { on };
  }
  const raise = read('raise');
  const label = on === 'probability' ? read('alarmLabel') : undefined;
  if (raise === undefined && on !== 'probability') {
    throw new ServiceError(
      'config.invalid',
      'An alarm needs a number under Raise at, from which on it is raised.',
    );
  }
  if (on === 'probability' && label === undefined) {
    throw new ServiceError(
      'config.invalid',
      'An alarm on a probability needs the class that it is of, under Class.',
    );
  }
  return {
    on,
    ...(raise !== undefined && { raise }),
    ...(label !== undefined && { label }),
    clear: read('clear'),
    for: read('alarmFor'),
  };
}

/** The rows of a table in memory as objects; undefined for what is none. Errors: those of `openTable`. */
async function rowsIn(value: unknown): Promise<Row[] | undefined> {
  const { asBytes, openTable } = table();
  const isTable = typeof value === 'object' && value !== null && asBytes(value) === undefined;
  if (Array.isArray(value) && value.length === 0) {
    return [];
  }
  return isTable ? (await openTable(value)).readRows() : undefined;
}

/** A cell of a row, whose columns may have any name; undefined where the row has none of that name. */
export function readCell(row: Row, name: string): unknown {
  return Object.hasOwn(row, name) ? row[name] : undefined;
}
