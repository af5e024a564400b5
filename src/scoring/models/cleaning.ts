import { type Column, knownZone } from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { CleaningChoices } from '../types';

const known = new WeakMap<readonly Column[], Map<string, readonly Column[]>>();

/**
 * The columns of a model, read as the card says, except where the request asks for more: words that mean
 * "missing", another zone for text without one, unreadable cells as missing values. The same list for the same choices.
 *
 * @throws ServiceError `config.invalid` for a zone that is not known
 */
export function cleanedColumns(columns: readonly Column[], choices: CleaningChoices): readonly Column[] {
  const { missingWords = [], unreadable, timezone } = choices;
  if (missingWords.length === 0 && unreadable === undefined && timezone === undefined) {
    return columns;
  }
  const key = JSON.stringify([missingWords, unreadable, timezone]);
  const lists = known.get(columns) ?? new Map<string, readonly Column[]>();
  known.set(columns, lists);
  const found = lists.get(key) ?? columns.map((column) => cleaned(column, choices));
  lists.set(key, found);
  return found;
}

function cleaned(column: Column, { missingWords = [], unreadable, timezone }: CleaningChoices): Column {
  const words = [...new Set([...(column.missing ?? []), ...missingWords])];
  const result: Column = { ...column };
  if (words.length > 0) {
    result.missing = words;
  }
  if (unreadable !== undefined) {
    result.unreadable = unreadable === 'missing' ? 'missing' : undefined;
  }
  if (timezone !== undefined && column.type === 'date') {
    result.zone = assertZone(timezone);
  }
  return result;
}

/** @throws ServiceError `config.invalid` */
function assertZone(name: string): string {
  const zone = knownZone(name);
  if (zone === undefined) {
    throw new ServiceError(
      'config.invalid',
      `"${name}" is not a time zone. Give a name such as Europe/Berlin, America/New_York or UTC.`,
    );
  }
  return zone;
}

/** Whether what a card says of reading a column can be followed. */
export function isReadable({ zone, missing }: Column): boolean {
  const words: unknown = missing ?? [];
  return (
    (zone === undefined || (typeof zone === 'string' && knownZone(zone) !== undefined)) &&
    Array.isArray(words) &&
    words.every((word) => typeof word === 'string')
  );
}
