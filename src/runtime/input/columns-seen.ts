import { table } from '../lazy';

/** Columns named to a dialog at most; a wider table has its first ones named. */
const MAX_COLUMNS = 2_000;
/** Characters of a text that are looked at for a header line. */
const HEADER_CHARACTERS = 65_536;

const seen = new Map<string, string[]>();

/** Remembers the columns of the table that last came to a node, for the suggestions of its dialog. */
export function rememberColumns(nodeId: string, value: unknown): void {
  rememberNames(nodeId, columnNames(value));
}

/** The same for a file on disk. One that cannot be read changes nothing: the work with it says why. */
export async function rememberFileColumns(nodeId: string, path: string): Promise<void> {
  const names = await table()
    .fileColumns(path)
    .catch(() => []);
  rememberNames(nodeId, names);
}

function rememberNames(nodeId: string, names: string[]): void {
  if (names.length > 0) {
    seen.set(nodeId, names.slice(0, MAX_COLUMNS));
  }
}

/** Columns known from elsewhere, where the node has seen no table yet. */
export function offerColumns(nodeId: string, names: string[]): void {
  if (!seen.has(nodeId)) {
    rememberNames(nodeId, names);
  }
}

export function columnsSeen(nodeId: string): string[] {
  return seen.get(nodeId) ?? [];
}

const found = new Map<string, Readonly<Record<string, string>>>();

/** Remembers what the columns of the table that last came to a node were taken as. */
export function rememberTypes(nodeId: string, types: Readonly<Record<string, string>> | undefined): void {
  if (types !== undefined) {
    found.set(nodeId, types);
  }
}

/** The columns that a node has been sent, and what each was taken as; empty where that is not known. */
export function typesSeen(nodeId: string): Record<string, string> {
  const types = found.get(nodeId) ?? {};
  const names = [...new Set([...columnsSeen(nodeId), ...Object.keys(types)])].slice(0, MAX_COLUMNS);
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(types, name) ? types[name]! : '']));
}

export function forgetColumns(nodeId: string): void {
  seen.delete(nodeId);
  found.delete(nodeId);
}

/** Column names as far as a glance tells them; empty where it does not. The table is not read. */
export function columnNames(value: unknown): string[] {
  if (typeof value === 'string') {
    return headerNames(value.slice(0, HEADER_CHARACTERS));
  }
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) {
    return [];
  }
  if (Array.isArray(value)) {
    const row: unknown = value[0];
    if (Array.isArray(row)) {
      return row.filter((name) => typeof name === 'string');
    }
    return typeof row === 'object' && row !== null ? Object.keys(row) : [];
  }
  const fields = (value as { schema?: { fields?: unknown } }).schema?.fields;
  if (Array.isArray(fields)) {
    return fields.map((field: { name?: unknown }) => String(field.name));
  }
  return Object.keys(value);
}

function headerNames(text: string): string[] {
  const line = /^\uFEFF?([^\r\n]*)\r?\n/.exec(text)?.[1] ?? '';
  if (line === '' || /^\s*[[{]/.test(line)) {
    return [];
  }
  const delimiter = [',', ';', '\t'].reduce((best, mark) =>
    line.split(mark).length > line.split(best).length ? mark : best,
  );
  return line.split(delimiter).map((name) =>
    name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"'),
  );
}
