import { invalidTable } from '../cells/errors';
import type { LongText } from '../text/byte-text';
import { parseJson } from './parse';

const BRACKET = 93;

/** Characters of text that are parsed at a time. */
const PART = 128 * 1024;

/**
 * The elements of a JSON array in long text, parsed a part at a time: the text is cut at commas of the
 * array's own level, and each part is given to JSON.parse.
 */
export class JsonElements implements Iterable<unknown[]> {
  /** Where the text goes on after the array's closing bracket, once the last part was read. */
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
    for (let at = from; at < text.length; at++) {
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
      } else if (code === 44 && depth === 0 && at - from >= PART) {
        return at;
      }
    }
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

/** The names of the members of an object, in valid JSON text, as often as they stand there. */
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
