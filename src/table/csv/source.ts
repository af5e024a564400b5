import { TextDecoder } from 'node:util';

import { emptyTable, invalidTable } from '../cells/errors';
import { parseNumber } from '../cells/parse-number';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import { wideEncoding } from '../text/sniff';
import { notUtf8 } from '../text/utf8-error';
import { CsvParser } from './parser';

/** Characters of text that are parsed at a time: about a millisecond of work. */
export const PIECE = 64 * 1024;

export interface Pieces {
  (): Iterable<string> | AsyncIterable<string>;
  /** The part of the text that was given out last, 0 to 1, where its size is known. */
  reached?: () => number;
}

/** A table in CSV text, read anew each time from re-readable pieces of text. */
export class CsvSource implements SliceSource {
  private constructor(
    readonly form: TableForm,
    readonly names: readonly string[],
    readonly delimiter: string,
    private readonly pieces: Pieces,
  ) {}

  /**
   * Finds the delimiter and reads the header. Errors: `table.empty` for no text, `table.invalid` for a
   * header that cannot be one.
   */
  static async open(form: TableForm, pieces: Pieces, delimiter?: string): Promise<CsvSource> {
    let head = '';
    let more = false;
    for await (const piece of pieces()) {
      if (head.length >= PIECE) {
        more = true;
        break;
      }
      head += piece;
    }
    if (head.trim() === '') {
      throw emptyTable('The text is empty; a CSV table needs a header line and rows.');
    }
    const told = SEPARATOR_LINE.exec(head);
    if (told !== null) {
      head = head.slice(told[0].length);
      pieces = without(pieces, told[0].length);
    }
    const found = told?.[1] ?? delimiter ?? findDelimiter(head, !more);
    const parser = new CsvParser(found);
    parser.push(head, !more);
    if (parser.names === undefined) {
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    checkHeader(parser.names);
    return new CsvSource(form, parser.names, found, pieces);
  }

  async *slices({ sizer, signal }: SliceOptions): AsyncIterable<Slice> {
    const parser = new CsvParser(this.delimiter);
    for await (const piece of this.pieces()) {
      parser.push(piece, false);
      if (parser.ready > 0) {
        yield this.slice(parser);
      } else {
        // A long field: no row is complete, so nobody else gives the event loop its turn.
        await sizer.step(signal);
      }
    }
    parser.push('', true);
    if (parser.ready > 0) {
      yield this.slice(parser);
    }
  }

  private slice(parser: CsvParser): Slice {
    const { first, rows, columns } = parser.take();
    // A spreadsheet copies its cells with tabs between them, as they look where it runs.
    const grouped = this.delimiter === '\t';
    const comma = grouped || this.delimiter === ';';
    return {
      first,
      rows,
      part: this.pieces.reached?.(),
      column: (index) => ({ kind: 'fields', cells: columns[index]!, comma, grouped }),
    };
  }
}

/** What spreadsheets take for a word about the delimiter, not for a row. */
const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i;

/** The text without its first characters. */
function without(pieces: Pieces, characters: number): Pieces {
  const rest = async function* (): AsyncIterable<string> {
    let left = characters;
    for await (const piece of pieces()) {
      yield piece.slice(left);
      left = Math.max(0, left - piece.length);
    }
  };
  return Object.assign(rest, { reached: pieces.reached });
}

function checkHeader(names: readonly string[]): void {
  const numbers = names.map((name) => parseNumber(name, false));
  if (numbers.every((value) => value !== undefined && !Number.isNaN(value))) {
    if (!numbers.every((value) => Number.isInteger(value)) || new Set(names).size < names.length) {
      throw invalidTable(
        'The first line holds numbers only. A CSV table needs a header line with column names.',
      );
    }
  }
  checkNames(names);
}

const DELIMITERS = [',', ';', '\t'];
const SAMPLE_ROWS = 50;

/**
 * The delimiter with which the first rows all have the same number of fields, the largest such number;
 * where none does so, the one that splits the header into most fields.
 */
function findDelimiter(head: string, last: boolean): string {
  let best = { delimiter: ',', even: false, fields: 1 };
  for (const delimiter of DELIMITERS) {
    const { even, fields } = tryDelimiter(head, delimiter, last);
    if (fields > 1 && (even === best.even ? fields > best.fields : even)) {
      best = { delimiter, even, fields };
    }
  }
  return best.delimiter;
}

function tryDelimiter(head: string, delimiter: string, last: boolean): { even: boolean; fields: number } {
  const parser = new CsvParser(delimiter);
  try {
    const lines = head.split('\n', SAMPLE_ROWS + 1);
    const whole = last && lines.length <= SAMPLE_ROWS;
    parser.push(lines.slice(0, whole ? lines.length : SAMPLE_ROWS).join('\n'), whole);
    return { even: true, fields: parser.names?.length ?? 1 };
  } catch {
    return { even: false, fields: parser.names?.length ?? 1 };
  }
}

/** The pieces of a string; a byte order mark at its start is dropped. */
export function stringPieces(text: string): Pieces {
  let reached = 0;
  const pieces = function* (): Iterable<string> {
    for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at += PIECE) {
      reached = Math.min(1, (at + PIECE) / text.length);
      yield text.slice(at, at + PIECE);
    }
  };
  return Object.assign(pieces, { reached: () => reached });
}

/**
 * The text in bytes, decoded as a stream so that a character cut in two by a chunk stays whole: UTF-8, or
 * UTF-16 where a byte order mark says so. Bytes that are no such text are `table.invalid`.
 *
 * @param size bytes of all chunks
 */
export function decodedPieces(
  chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
): Pieces {
  let reached = 0;
  const refuse = async ({ encoding }: TextDecoder): Promise<never> => {
    throw encoding === 'utf-8'
      ? await notUtf8(chunks())
      : invalidTable(`The text is not the ${encoding.toUpperCase()} that its first bytes say it is.`);
  };
  const pieces = async function* (): AsyncIterable<string> {
    let decoder: TextDecoder | undefined;
    let done = 0;
    for await (const chunk of chunks()) {
      decoder ??= decoderFor(chunk);
      const text = decode(decoder, chunk) ?? (await refuse(decoder));
      done += chunk.length;
      reached = Math.min(1, done / size);
      yield* stringChunks(text);
    }
    if (decoder !== undefined) {
      yield decode(decoder) ?? (await refuse(decoder));
    }
  };
  return Object.assign(pieces, { reached: () => reached });
}

function* stringChunks(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += PIECE) {
    yield text.slice(at, at + PIECE);
  }
}

function decoderFor(start: Uint8Array): TextDecoder {
  return new TextDecoder(wideEncoding(start) ?? 'utf-8', { fatal: true });
}

/** The text of a chunk, or of what is left at the end; undefined where it is none. */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string | undefined {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    return undefined;
  }
}

/** The parts of a buffer, a piece each. */
export function bufferChunks(bytes: Uint8Array): () => Iterable<Uint8Array> {
  return function* () {
    for (let at = 0; at < bytes.length; at += PIECE) {
      yield bytes.subarray(at, at + PIECE);
    }
  };
}
