import { isObject } from '../../util/values';
import type { Message } from '../node-red';

/** A name in the list of columns of the csv node, in quotes or as it is. */
const LISTED = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;

/**
 * The csv node says in `msg.columns` which columns it read, and writes only those where the message comes to one again. So
 * columns that the payload has gained are added to the list. A list that does not name all columns is somebody's choice.
 *
 * @param before the payload as it came
 */
export function listAddedColumns(msg: Message, before: unknown): void {
  const { columns } = msg;
  if (typeof columns !== 'string' || columns === '') {
    return;
  }
  const [old, row] = [before, msg.payload].map((one): unknown => (Array.isArray(one) ? one[0] : one));
  const listed = new Set(
    [...columns.matchAll(LISTED)].map(([, inQuotes, bare]) => inQuotes?.replaceAll('""', '"') ?? bare),
  );
  if (!isObject(old) || !isObject(row) || !Object.keys(old).every((name) => listed.has(name))) {
    return;
  }
  const added = Object.keys(row).filter((name) => !listed.has(name) && !isObject(row[name]));
  if (added.length > 0) {
    msg.columns = [columns, ...added.map(quoted)].join(',');
  }
}

function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
