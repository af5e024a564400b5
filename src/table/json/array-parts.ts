import { parseJson } from '../../util/values';
import { invalidTable } from '../cells/errors';
import { MAX_COLUMNS, MAX_TEXT, tooWide } from '../columns/header';
import type { LongText } from '../text/byte-text';

const BRACKET = 93;

/** Characters of text that are parsed at a time. */
const PART = 128 * 1024;

/**
 * The elements of a JSON array in long text, parsed a part at a time: the text is cut at commas of the
 * array's own level, and each part is given to JSON.parse.
 */
export class JsonElements implements Iterable<unknown[]> {
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
      const closed = this.text.charCodeAt(cut) === BRACKET;
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
export function endOfObject(text: LongText, open: number): number {
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
export function memberNames(text: string): string[] {
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
