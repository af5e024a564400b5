import { invalid } from '../refusal';

/** Deeper nesting would exhaust the stack of code that walks through it. */
const MAX_DEPTH = 64;
/**
 * Lists, objects and properties of a body, which cost far more to parse and check than the numbers of a list: half a
 * million of them blocked the HTTP thread for seconds.
 */
const MAX_NODES = 20_000;
/** Values of its lists, each of which costs a little: four million held the thread for three quarters of a second. */
const MAX_VALUES = 1_500_000;
/** Texts among them, which cost more than numbers. */
const MAX_TEXTS = 150_000;

/** How much structure a body may have. */
export interface JsonBounds {
  /** Lists, objects and properties. */
  nodes: number;
  /** Values of lists. */
  values: number;
  /** Texts, names of properties included. */
  texts: number;
}

const OF_CONFIG: JsonBounds = { nodes: MAX_NODES, values: MAX_VALUES, texts: MAX_TEXTS };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Bounds the structure of a JSON text before it is parsed. JSON's syntax characters are single bytes in UTF-8, so the
 * bytes can be scanned as they are.
 *
 * @throws Refusal 422
 */
export function assertJsonShape(bytes: Uint8Array, most: JsonBounds = OF_CONFIG): void {
  let depth = 0;
  let nodes = 0;
  let values = 0;
  let texts = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        texts += 1;
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        nodes += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COLON:
        nodes += 1;
        break;
      default:
        continue;
    }
    if (depth > MAX_DEPTH) {
      throw invalid(`The request body nests more than ${MAX_DEPTH} levels.`);
    }
    if (nodes > most.nodes) {
      throw invalid(`The request body has more than ${most.nodes} lists, objects and properties.`);
    }
    if (values > most.values || texts > most.texts) {
      throw invalid(`The request body has more than ${most.values} values, or ${most.texts} texts.`);
    }
  }
}

/** End of the string that begins at `at`. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = at;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
  } while (end >= 0 && isEscaped(bytes, end));
  return end < 0 ? bytes.length : end;
}

/** Whether an odd number of backslashes comes before it. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let before = at;
  while (bytes[before - 1] === BACKSLASH) {
    before -= 1;
  }
  return (at - before) % 2 === 1;
}
