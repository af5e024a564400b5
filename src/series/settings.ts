import { knownZone, localZone } from '../table/cells/parse-date';
import { show } from '../table/cells/types';
import { DAY, parseDuration } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import {
  EVENT_OPERATORS,
  type EventOperator,
  type SeriesOptions,
  type SeriesOutcomeKind,
  type SeriesSettings,
  type TrainSchedule,
} from './types';

/** Entries of a list or range: each makes a row of its own, or several columns of every row. */
const MAX_ENTRIES = 200;

/**
 * Milliseconds of a list of durations and ranges, ascending and without repeats: `1h, 6h`, `1h..24h` (the start is the
 * step), `6h..24h/1h` (steps of 1 h). @throws ServiceError config.invalid that names the field
 */
export function parseDurations(text: string, field: string): number[] {
  const found = new Set<number>();
  for (const entry of text.split(/[,;]/u)) {
    for (const ms of parseEntries(entry, field)) {
      found.add(ms);
    }
    if (found.size > MAX_ENTRIES) {
      throw badField(
        field,
        `${show(text)} names more than ${MAX_ENTRIES} durations. Give fewer, or a longer step.`,
      );
    }
  }
  return [...found].sort((a, b) => a - b);
}

function parseEntries(entry: string, field: string): number[] {
  const range = /^(.+?)\.\.+(.+?)(?:\/(.+))?$/u.exec(entry);
  if (range === null) {
    return [oneDuration(entry, field)];
  }
  const [from, to] = [oneDuration(range[1]!, field), oneDuration(range[2]!, field)];
  const step = range[3] === undefined ? from : oneDuration(range[3], field);
  if (to < from) {
    throw badField(field, `the range ${show(entry.trim())} ends before it begins.`);
  }
  const count = Math.floor((to - from) / step) + 1;
  // One more than allowed is enough for the caller to refuse.
  return Array.from({ length: Math.min(count, MAX_ENTRIES + 1) }, (_, i) => from + i * step);
}

/** @throws ServiceError config.invalid that names the field */
function oneDuration(text: string, field: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw badField(
      field,
      `${show(text.trim())} is not a duration. Give a number with its unit, such as 30s, 10m, 1h or 7d.`,
    );
  }
  return ms;
}

function badField(field: string, problem: string): ServiceError {
  return new ServiceError('config.invalid', `${field}: ${problem}`);
}

const DEFAULT_KEEP = 20_000;
const MAX_KEEP = 1_000_000;
/** The second window of `auto`, in aheads. */
const AUTO_FACTOR = 6;
const MAX_WINDOWS = 12;

const MAX_KNOWN_AHEAD = 50;

/** Checks settings and fills in the defaults. @throws ServiceError config.invalid that names the field */
export function parseSeriesSettings(options: SeriesOptions = {}): SeriesSettings {
  const aheads = parseDurations(filled(options.ahead) ?? '10m', 'Ahead');
  const every = filled(options.every);
  const late = autoOr(options.late);
  const outcome = readOutcome(options);
  const [key, time] = [filled(options.key), filled(options.time)];
  return {
    key,
    time,
    shape: checkChoice(options.shape ?? 'plain', ['auto', 'plain'], 'Messages'),
    outcome,
    aheads,
    knownAhead: readKnownAhead(options.knownAhead, outcome, [key, time]),
    windows: parseWindows(autoOr(options.windows), aheads[0]!),
    train: parseSchedule(autoOr(options.train)),
    every: every === undefined ? undefined : oneDuration(every, 'One row every'),
    late: late === undefined ? undefined : parseLate(late),
    send: checkChoice(options.send ?? 'all', ['newest', 'all'], 'Send of a table'),
    keep: checkKeep(options.keep),
    calendar: checkChoice(options.calendar ?? 'auto', ['auto', 'on', 'off'], 'Calendar'),
    relative: options.relative ?? true,
    missingWords: options.missingWords ?? [],
    unreadable: checkChoice(options.unreadable ?? 'error', ['error', 'missing'], 'Unreadable'),
    timezone: checkZone(filled(options.timezone)),
  };
}

/** Trimmed text or number as text; undefined where empty. */
function filled(given: unknown): string | undefined {
  const trimmed = typeof given === 'string' || typeof given === 'number' ? `${given}`.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}

function autoOr(text: unknown): string | undefined {
  const given = filled(text);
  return given?.toLowerCase() === 'auto' ? undefined : given;
}

function checkChoice<Value extends string>(value: Value, allowed: readonly Value[], field: string): Value {
  if (!allowed.includes(value)) {
    throw badField(field, `${show(value)} is none of ${allowed.join(', ')}.`);
  }
  return value;
}

function readOutcome(options: SeriesOptions): SeriesOutcomeKind {
  const kind = checkChoice(options.outcome ?? 'column', ['column', 'event', 'message', 'none'], 'Outcome');
  if (kind === 'message' || kind === 'none') {
    return { kind };
  }
  const column = filled(options.column);
  if (column === undefined) {
    throw badField('Column', 'the outcome needs a column of the readings. Name it.');
  }
  return kind === 'column' ? { kind, column } : { kind, column, ...readCondition(options) };
}

/** @param notSensors the columns of the key and the time */
function readKnownAhead(
  given: string | readonly string[] = [],
  outcome: SeriesOutcomeKind,
  notSensors: readonly (string | undefined)[],
): string[] {
  if (outcome.kind === 'message' || outcome.kind === 'none') {
    return [];
  }
  const listed = typeof given === 'string' ? given.split(',') : given;
  const names = [...new Set(listed.map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length > MAX_KNOWN_AHEAD) {
    throw badField('Known ahead', `${names.length} columns are more than ${MAX_KNOWN_AHEAD}. Name fewer.`);
  }
  if (names.includes(outcome.column)) {
    throw badField(
      'Known ahead',
      `${show(outcome.column)} is the column of the outcome, which is to be predicted. Leave it out.`,
    );
  }
  const other = names.find((name) => notSensors.includes(name));
  if (other !== undefined) {
    throw badField('Known ahead', `${show(other)} is the column of the key or the time. Leave it out.`);
  }
  return names;
}

/** Other spellings of an operator: those of the switch node, and of programming languages. */
const ALIASES = new Map<string, EventOperator>(
  Object.entries({
    eq: '=',
    '==': '=',
    is: '=',
    neq: '!=',
    '≠': '!=',
    lt: '<',
    lte: '<=',
    '≤': '<=',
    gt: '>',
    gte: '>=',
    '≥': '>=',
  }),
);

function readCondition(options: SeriesOptions): {
  operator: EventOperator;
  value: number | string | boolean;
} {
  const written = filled(options.operator) ?? '=';
  const operator = ALIASES.get(written) ?? EVENT_OPERATORS.find((one) => one === written);
  if (operator === undefined) {
    throw badField('Operator', `${show(written)} is none of ${EVENT_OPERATORS.join(' ')}.`);
  }
  const value = comparedWith(options.value);
  if (operator !== '=' && operator !== '!=' && typeof value !== 'number') {
    throw badField('Value', `${show(options.value)} is not a number, and ${operator} compares numbers.`);
  }
  return { operator, value };
}

function comparedWith(given: unknown): number | string | boolean {
  if (typeof given === 'number' || typeof given === 'boolean') {
    return given;
  }
  const text = filled(given);
  if (text === undefined) {
    throw badField('Value', 'the event needs a value that the column is compared with.');
  }
  const number = Number(text);
  return Number.isFinite(number) ? number : text === 'true' ? true : text === 'false' ? false : text;
}

function parseWindows(text: string | undefined, ahead: number): number[] {
  if (text === undefined) {
    const day = ahead <= DAY ? [DAY] : [];
    return [...new Set([ahead, AUTO_FACTOR * ahead, ...day])].sort((a, b) => a - b);
  }
  const windows = parseDurations(text, 'Windows');
  if (windows.length > MAX_WINDOWS) {
    throw badField('Windows', `${windows.length} windows are more than ${MAX_WINDOWS}. Name fewer.`);
  }
  return windows;
}

function parseSchedule(text: string | undefined): TrainSchedule {
  if (text === undefined) {
    return { kind: 'auto' };
  }
  if (text.toLowerCase() === 'never') {
    return { kind: 'never' };
  }
  const rows = /^(\d+)\s*(?:rows?)?$/iu.exec(text);
  if (rows !== null && Number(rows[1]) > 0) {
    return { kind: 'rows', rows: Number(rows[1]) };
  }
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw badField(
      'Train set',
      `${show(text)} is not a schedule. Give auto, never, a duration such as 1d, or a number such as 500 rows.`,
    );
  }
  return { kind: 'interval', ms };
}

function parseLate(text: string): number {
  return /^0\s*[a-z]*$/iu.test(text) ? 0 : oneDuration(text, 'Late');
}

function checkKeep(given: number | string | undefined): number {
  const text = filled(given);
  if (text === undefined) {
    return DEFAULT_KEEP;
  }
  const keep = Number(/^([\d_, ]+)(?:rows?)?$/iu.exec(text)?.[1]?.replace(/[_, ]/gu, '') ?? NaN);
  if (!(keep >= 1 && keep <= MAX_KEEP)) {
    throw badField('Keep', `${show(text)} is not a number of rows from 1 to ${MAX_KEEP}.`);
  }
  return keep;
}

function checkZone(name: string | undefined): string {
  const zone = name === undefined ? localZone() : knownZone(name);
  if (zone === undefined) {
    throw badField('Time zone', `${show(name)} is not known. Give an IANA name such as Europe/Berlin.`);
  }
  return zone;
}
