import { yieldToEventLoop } from '../../util/concurrency';
import { parseJson } from '../../util/values';
import { emptyTable, invalidTable, type Row, setCell, show } from '../cells/types';
import { assertWidth, MAX_COLUMNS, MAX_TEXT, plainNames, tooWide } from '../columns/header';
import type { Slice, SliceColumn, SliceOptions, SliceSource, TableForm } from '../columns/slices';
import { type LongText, Utf8Text } from '../text/decode';
import { KeyUnion, openValue, RowsTable } from './tables';

/** JSON text up to this many characters is parsed in one go: a few milliseconds. */
const WHOLE = 512 * 1024;
const OPENING = 91;
const BRACE = 123;
const BRACE_END = 125;
const COMMA = 44;

/**
 * A table in JSON text: an array of objects or of arrays, one object, an object of arrays, or objects line
 * by line. Long text is parsed in slices, so the event loop stays free.
 */
export async function openJsonText(text: LongText, signal?: AbortSignal): Promise<SliceSource> {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  if (text.length <= WHOLE) {
    const whole = text.slice(start);
    const value = parseWhole(whole);
    demandDistinctColumns(whole, value);
    return openValue(value, 'parsed', signal);
  }
  const head = takeHead(text, start);
  const at = start + Math.max(0, head.search(/\S/));
  if (text.charCodeAt(at) === OPENING && /^\[\s*\{/.test(head.slice(at - start))) {
    return JsonRowsSource.open(text, at + 1, signal);
  }
  const value = await parseLong(text, at, signal);
  return openValue(value, 'parsed', signal);
}

const HEAD = 64 * 1024;

/** Some text from a position on, not cut inside a character. */
function takeHead(text: LongText, at: number): string {
  let end = Math.min(text.length, at + HEAD);
  while (text instanceof Utf8Text && end < text.length && (text.charCodeAt(end) & 0xc0) === 0x80) {
    end--;
  }
  return text.slice(at, end);
}

/** How many units of the text a piece of it spans. */
function countUnits(text: LongText, piece: string): number {
  return text instanceof Utf8Text ? Buffer.byteLength(piece) : piece.length;
}

function parseWhole(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const { rows, wrong } = parseLines(text);
    if (wrong === undefined) {
      return rows;
    }
    throw rows.length > 0 ? wrongLine(wrong) : notJson(error);
  }
}

/** JSON.parse silently keeps only the last of two columns with the same name. */
function demandDistinctColumns(text: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || !Object.values(value).every(Array.isArray)) {
    return;
  }
  const seen = new Set<string>();
  for (const key of memberNames(text)) {
    if (seen.has(key)) {
      throw twice(key);
    }
    seen.add(key);
  }
}

function twice(key: string): Error {
  return invalidTable(`Column "${key}" appears twice in the JSON text. Every column needs its own name.`);
}

function notJson(error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return invalidTable(`The text begins like JSON but is not valid JSON: ${reason}.`);
}

/** Objects line by line (NDJSON), up to the first line, counted from 0, that is not an object. */
function parseLines(text: string): { rows: unknown[]; lines: number; wrong?: number } {
  const rows: unknown[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') {
      continue;
    }
    const row = line.trimStart().startsWith('{') ? parsed(line) : undefined;
    if (row === undefined) {
      return { rows, lines: lines.length, wrong: index };
    }
    rows.push(row);
  }
  return { rows, lines: lines.length };
}

function parsed(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

function wrongLine(index: number): Error {
  return invalidTable(`Line ${index + 1} of the text is not a JSON object, as the lines before it are.`);
}

/** Long text that is not an array of objects: its top-level parts are parsed one after the other. */
async function parseLong(text: LongText, at: number, signal?: AbortSignal): Promise<unknown> {
  if (text.charCodeAt(at) === OPENING) {
    const elements = new JsonElements(text, at + 1);
    const list = await gather(elements, signal);
    demandEnd(text, elements.end);
    return list;
  }
  const newline = text.indexOf('\n', at);
  if (newline > 0 && newline < WHOLE && isWhole(text.slice(at, newline))) {
    return parseLongLines(text, at, signal);
  }
  return parseMembers(text, at, signal);
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

async function parseLongLines(text: LongText, at: number, signal?: AbortSignal): Promise<unknown[]> {
  const list: unknown[] = [];
  let line = linesBefore(text, at);
  while (at < text.length) {
    let end = text.indexOf('\n', Math.min(text.length, at + WHOLE / 4));
    end = end < 0 ? text.length : end;
    if (end - at > WHOLE) {
      endOfObject(text, lineStart(text, at, at + WHOLE / 4));
    }
    const { rows, lines, wrong } = parseLines(text.slice(at, end));
    if (wrong !== undefined) {
      throw wrongLine(line + wrong);
    }
    line += lines;
    for (const row of rows) {
      list.push(row);
    }
    at = end + 1;
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return list;
}

/** Where the line begins that `at` is in, from `first` on. */
function lineStart(text: LongText, first: number, at: number): number {
  while (at > first && text.charCodeAt(at - 1) !== 10) {
    at--;
  }
  return at;
}

/** Lines that end before a position near the start of the text. */
function linesBefore(text: LongText, at: number): number {
  let lines = 0;
  for (let i = 0; i < at; i++) {
    lines += text.charCodeAt(i) === 10 ? 1 : 0;
  }
  return lines;
}

async function gather(elements: JsonElements, signal?: AbortSignal): Promise<unknown[]> {
  const list: unknown[] = [];
  for (const part of elements) {
    for (const value of part) {
      list.push(value);
    }
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return list;
}

/** Refuses text after the end of the table: a second table would be ignored silently. */
function demandEnd(text: LongText, end: number): void {
  const at = skipSpace(text, end);
  if (at < text.length) {
    const unit = text instanceof Utf8Text ? 'byte' : 'position';
    throw invalidTable(
      `The text begins like JSON but is not valid JSON: ${show(takeHead(text, at))} follows the end of the table, at ${unit} ${at}.`,
    );
  }
}

/** An object with long arrays: each array is parsed in parts. */
async function parseMembers(text: LongText, start: number, signal?: AbortSignal): Promise<unknown> {
  const table: Record<string, unknown> = {};
  let columns = 0;
  let at = skipSpace(text, start + 1);
  for (;;) {
    const match = /^"(?:[^"\\]|\\.)*"\s*:\s*/.exec(takeHead(text, at));
    if (match === null) {
      // Parsing all of it at once gives an error with its position.
      return parseRow(text, start, signal);
    }
    const key = JSON.parse(match[0].slice(0, match[0].lastIndexOf('"') + 1)) as string;
    at += countUnits(text, match[0]);
    if (text.charCodeAt(at) !== OPENING) {
      return parseRow(text, start, signal);
    }
    const elements = new JsonElements(text, at + 1);
    const list = await gather(elements, signal);
    if (Object.hasOwn(table, key)) {
      throw twice(key);
    }
    setCell(table, key, list);
    assertWidth(++columns);
    at = skipSpace(text, elements.end);
    if (text.charCodeAt(at) === BRACE_END) {
      at = skipSpace(text, at + 1);
      // What follows may be the next line of NDJSON.
      return at === text.length ? table : parseRow(text, start, signal);
    }
    if (text.charCodeAt(at) !== COMMA) {
      return parseRow(text, start, signal);
    }
    at = skipSpace(text, at + 1);
  }
}

/** One object with plain values, or lines of objects of which the first is long. */
async function parseRow(text: LongText, at: number, signal?: AbortSignal): Promise<unknown> {
  const end = endOfObject(text, at);
  const next = skipSpace(text, end);
  if (next === text.length) {
    return parseWhole(text.slice(at));
  }
  if (text.charCodeAt(next) !== BRACE) {
    demandEnd(text, end);
  }
  return parseLongLines(text, at, signal);
}

function skipSpace(text: LongText, at: number): number {
  while (at < text.length && text.charCodeAt(at) <= 32) {
    at++;
  }
  return at;
}

/** A long array of objects, parsed again in slices each time it is read: the rows are never all in memory. */
class JsonRowsSource implements SliceSource {
  readonly form: TableForm = 'parsed';
  readonly names: readonly string[];

  private constructor(
    private readonly text: LongText,
    private readonly start: number,
    private readonly keys: readonly string[],
    readonly rowCount: number,
  ) {
    this.names = plainNames(keys);
  }

  static async open(text: LongText, start: number, signal?: AbortSignal): Promise<JsonRowsSource> {
    const union = new KeyUnion();
    let rows = 0;
    const elements = new JsonElements(text, start);
    for (const part of elements) {
      for (const row of part) {
        rows++;
        if (typeof row !== 'object' || row === null || Array.isArray(row)) {
          throw invalidTable(`Row ${rows} of the JSON text is not an object.`);
        }
        union.add(row as Row);
      }
      await yieldToEventLoop();
      signal?.throwIfAborted();
    }
    demandEnd(text, elements.end);
    if (union.list.length === 0) {
      throw emptyTable('The rows have no columns: every object is empty.');
    }
    return new JsonRowsSource(text, start, union.list, rows);
  }

  async *slices(options: SliceOptions): AsyncIterable<Slice> {
    let first = 0;
    for (const part of new JsonElements(this.text, this.start)) {
      const rows = new RowsTable('parsed', part as Row[], this.keys);
      for (const slice of rows.slices(options)) {
        const offset = first;
        yield {
          first: offset + slice.first,
          rows: slice.rows,
          column: (index): SliceColumn => slice.column(index),
        };
      }
      first += part.length;
      await yieldToEventLoop();
    }
  }
}

const CLOSING = 93;

/** Characters of text that are parsed at a time. */
const PART = 128 * 1024;

/**
 * The elements of a JSON array in long text, parsed a part at a time: the text is cut at commas of the
 * array's own level, and each part is given to JSON.parse.
 */
class JsonElements implements Iterable<unknown[]> {
  /** Position after the array's closing bracket, once the last part has been read. */
  end = 0;
  private rows = 0;

  /** @param start the position after the opening bracket */
  constructor(
    private readonly text: LongText,
    private readonly start: number,
  ) {}

  *[Symbol.iterator](): Iterator<unknown[]> {
    let from = this.start;
    for (;;) {
      const cut = this.findCut(from);
      const closed = this.text.charCodeAt(cut) === CLOSING;
      const part = this.parse(from, cut);
      if (part.length === 0 && !(closed && from === this.start)) {
        throw invalidTable(
          `The JSON text is not valid after row ${this.rows}: a value is missing at a comma.`,
        );
      }
      this.rows += part.length;
      yield part;
      if (closed) {
        this.end = cut + 1;
        return;
      }
      from = cut + 1;
    }
  }

  /** The first comma of this level at least a part away, or the closing bracket. */
  private findCut(from: number): number {
    const { text } = this;
    let depth = 0;
    let row = from;
    let values = 0;
    let at = from;
    for (let end = endOfRow(text, row); at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        at = endOfString(text, at);
      } else if (code === 123 || code === 91) {
        depth++;
      } else if (code === 125 || code === 93) {
        if (depth === 0) {
          if (code === 125) {
            throw invalidTable(`The JSON text is not valid after row ${this.rows}: "}" closes nothing.`);
          }
          return at;
        }
        depth--;
      } else if (code === 44 && depth > 0) {
        if (depth === 1 && ++values >= MAX_COLUMNS) {
          throw tooWide();
        }
      } else if (code === 44) {
        if (at - from >= PART) {
          return at;
        }
        row = at;
        end = endOfRow(text, row);
        values = 0;
      }
    }
    assertRowLength(at - row);
    throw invalidTable('The JSON text ends inside an array; it was cut off.');
  }

  private parse(from: number, to: number): unknown[] {
    const part = this.text.slice(from, to);
    try {
      return parseJson(`[${part}]`) as unknown[];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw invalidTable(`The JSON text is not valid after row ${this.rows}: ${reason}.`);
    }
  }
}

/**
 * Where the object that begins at `open` ends, without parsing it: one that has too many values would hold the event loop.
 * @throws ServiceError `limit.exceeded` for too many values, `table.invalid` for too long a row or one without an end
 */
function endOfObject(text: LongText, open: number): number {
  let depth = 0;
  let values = 0;
  let at = open;
  for (const end = endOfRow(text, open); at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = endOfString(text, at);
    } else if (code === 123 || code === 91) {
      depth++;
    } else if ((code === 125 || code === 93) && --depth <= 0) {
      return at + 1;
    } else if (code === 44 && depth === 1 && ++values >= MAX_COLUMNS) {
      throw tooWide();
    }
  }
  assertRowLength(at - open);
  throw invalidTable('The JSON text ends inside an object; it was cut off.');
}

/** Where the text ends, or the row that begins at `from` is too long to be read. */
function endOfRow(text: LongText, from: number): number {
  return Math.min(text.length, from + MAX_TEXT + 1);
}

function assertRowLength(length: number): void {
  if (length > MAX_TEXT) {
    throw invalidTable(
      `A row of the JSON text is longer than ${MAX_TEXT / 2 ** 20} million characters. Is this a table?`,
    );
  }
}

/** Where the string that begins at `open` has its closing quote. */
function endOfString(text: LongText, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) {
      slashes++;
    }
    if (slashes % 2 === 0) {
      return at;
    }
  }
  throw invalidTable('The JSON text ends inside a string; it was cut off.');
}

/** The names of an object's members in valid JSON text, duplicates included. */
function memberNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let nameFollows = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      const end = endOfString(text, at);
      if (nameFollows) {
        names.push(JSON.parse(text.slice(at, end + 1)) as string);
        nameFollows = false;
      }
      at = end;
    } else if (code === 123 || code === 91) {
      depth++;
      nameFollows = depth === 1;
    } else if (code === 125 || code === 93) {
      depth--;
    } else if (code === 44 && depth === 1) {
      nameFollows = true;
    }
  }
  return names;
}
