import fs from 'node:fs';

import { asBytes } from '../../util/values';
import { toServiceError } from '../../wire/service-error';
import { table } from '../lazy';
import type { NodeRuntime } from '../node-runtime';
import type { Shown, StatusKind } from '../status/status-line';

/** The most columns that a dialog is offered; of a wider table, the first ones. */
const MAX_COLUMNS = 2_000;
/** How many characters of a text are searched for a header line. */
const HEADER_CHARACTERS = 65_536;
const NEW_LINE = 10;

const seen = new Map<string, string[]>();

/** Remembers the columns of the last table a node received, as suggestions for its dialog. */
export function rememberColumns(nodeId: string, value: unknown): void {
  rememberNames(nodeId, columnNames(value));
}

/** The same for a file on disk. An unreadable file changes nothing here; the request reports it. */
export async function rememberFileColumns(nodeId: string, path: string): Promise<void> {
  rememberNames(nodeId, await fileColumnNames(path));
}

/** Column names of a file on disk; none where it cannot be read. */
export function fileColumnNames(path: string): Promise<string[]> {
  return table()
    .openTableFile(path)
    .then(
      ({ names }) => [...names],
      () => [],
    );
}

export function rememberNames(nodeId: string, names: readonly string[]): void {
  if (names.length > 0) {
    seen.set(nodeId, names.slice(0, MAX_COLUMNS));
  }
}

/** Adds columns to those that came before, where they come a few at a time. */
export function addColumns(nodeId: string, names: readonly string[]): void {
  const known = columnsSeen(nodeId);
  if (names.some((name) => !known.includes(name))) {
    rememberNames(nodeId, [...new Set([...known, ...names])]);
  }
}

/** Columns known from elsewhere, used until the node has received a table. */
export function offerColumns(nodeId: string, names: string[]): void {
  if (!seen.has(nodeId)) {
    rememberNames(nodeId, names);
  }
}

/** Where their names were not at hand, they are those that have types. */
export function columnsSeen(nodeId: string): string[] {
  return seen.get(nodeId) ?? Object.keys(found.get(nodeId) ?? {});
}

const found = new Map<string, Readonly<Record<string, string>>>();

/** Remembers the types found in the last table a node received. */
export function rememberTypes(nodeId: string, types: Readonly<Record<string, string>> | undefined): void {
  if (types !== undefined) {
    found.set(nodeId, types);
  }
}

/** The columns a node has received with the type found in each; an empty text if the type is not known. */
export function typesSeen(nodeId: string): Record<string, string> {
  const types = found.get(nodeId) ?? {};
  const names = [...new Set([...columnsSeen(nodeId), ...Object.keys(types)])].slice(0, MAX_COLUMNS);
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(types, name) ? types[name]! : '']));
}

/** Of a node that is removed, its last reading too. */
export function forgetColumns(nodeId: string): void {
  seen.delete(nodeId);
  found.delete(nodeId);
  lastReadings.delete(nodeId);
}

/** Column names that are known without reading the table; empty if they are not. */
export function columnNames(value: unknown): string[] {
  try {
    const bytes = asBytes(value);
    const text = typeof value === 'string' ? value : bytes && firstLine(bytes.subarray(0, HEADER_CHARACTERS));
    return text === undefined ? table().namesAtHand(value) : headerNames(text.slice(0, HEADER_CHARACTERS));
  } catch {
    // A Proxy, a getter or too many names: reading the table reports it.
    return [];
  }
}

/** The first line of text in bytes, as a file node gives it; empty for what is no text, or has no other line. */
function firstLine(bytes: Uint8Array): string {
  const end = bytes.indexOf(NEW_LINE) + 1;
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  if (line.includes(0)) {
    return '';
  }
  const text = line.toString('utf8');
  return text.includes('\ufffd') ? new TextDecoder('windows-1252').decode(line) : text;
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

/** A reading as it was read from a message, for the dialog. */
export interface LastReading {
  /** The name of the shape that the message has; undefined where it was read plainly. */
  shape?: string;
  key?: string;
  /** In ISO 8601, or as the message has it; undefined: that of its arrival. */
  time?: string;
  values: Record<string, unknown>;
  /** How many readings the message had. */
  readings: number;
}

const lastReadings = new Map<string, () => LastReading>();

/** The last message of a node, as it was read. */
export function lastReading(nodeId: string): LastReading | undefined {
  return lastReadings.get(nodeId)?.();
}

/** @param reading what tells it, where somebody asks: most are never looked at */
export function rememberReading(nodeId: string, reading: () => LastReading): void {
  lastReadings.set(nodeId, reading);
}

/** What a node kept, once it is open: its status, and the columns that dialogs offer. */
export interface KeptShown {
  status: Shown & { kind: StatusKind };
  columns: readonly string[];
}

/**
 * Once the flows have started: what the node kept is opened and shown. Where it cannot be opened, the code of the error
 * is shown; the first message will tell the rest. Nothing is shown where nothing is kept.
 */
export function showKept<Opened>(
  runtime: NodeRuntime,
  keeper: { folder(): string; open(): Promise<Opened> },
  shownOf: (opened: Opened) => KeptShown,
): void {
  const { status: line, id } = runtime;
  runtime.whenStarted(() => {
    void show().catch((error: unknown) => line.fail(toServiceError(error).code));
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(keeper.folder())) {
      return;
    }
    const { status, columns } = shownOf(await keeper.open());
    line.showIdle(status);
    addColumns(id, columns);
  }
}
