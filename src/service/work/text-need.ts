import { DistinctCounter } from './distinct-counter';

/** What a text takes as a JavaScript string, beside its characters. */
const STRING_BYTES = 32;
/** What the learner takes for each text, and for each different token of the texts: measured on random words. */
const ENTRY_BYTES = 48;
const TOKEN_BYTES = 160;
/** As the learner does: of a text so many words count, and with each the pair with the one before. */
const MAX_WORDS = 60;
/** Fewer texts than this are never a matter of memory. */
const FEW_TEXTS = 1000;

const SPACE = 0;
const LETTER = 1;
const DIGIT = 2;
/** What a byte of UTF-8 belongs to. */
const KIND = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = byte > 127 || (byte > 64 && byte < 91) || (byte > 96 && byte < 123);
  return letter ? LETTER : byte > 47 && byte < 58 ? DIGIT : SPACE;
});

/**
 * About how much of the heap the learner needs for the different texts of a column: as strings and, to learn from
 * them, for their words and pairs of words. Growing such a table beyond the heap ends the process, not the thread, so
 * it has to be known before.
 */
export class TextNeed {
  private strings = 0;
  private texts = 0;
  private tokens: DistinctCounter | undefined;

  /** @param learns false where the texts are only looked up */
  constructor(private readonly learns: boolean) {}

  /** Bytes. */
  get bytes(): number {
    const tokens = this.tokens?.estimate() ?? 0;
    return this.strings + (this.learns ? this.texts * ENTRY_BYTES : 0) + tokens * TOKEN_BYTES;
  }

  /** Counts another text. */
  add(bytes: Uint8Array, from: number, to: number): void {
    this.texts += 1;
    this.strings += STRING_BYTES + (to - from) * (isAscii(bytes, from, to) ? 1 : 2);
    if (this.learns && this.texts > FEW_TEXTS) {
      this.tokens ??= new DistinctCounter();
      countTokens(this.tokens, bytes, from, to);
    }
  }
}

function countTokens(tokens: DistinctCounter, bytes: Uint8Array, from: number, to: number): void {
  let previous = 0;
  let words = 0;
  for (let at = from; at < to && words < MAX_WORDS;) {
    const kind = KIND[bytes[at]!]!;
    if (kind === SPACE) {
      at++;
      continue;
    }
    let hash = 0x811c9dc5;
    for (; at < to && KIND[bytes[at]!] === kind; at++) {
      // Letters of either case are one word.
      hash = Math.imul(hash ^ (bytes[at]! | 32), 0x01000193);
    }
    const word = mixed(hash);
    tokens.add(word);
    if (++words > 1) {
      tokens.add(mixed(Math.imul(previous, 31) ^ word));
    }
    previous = word;
  }
}

function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (bytes[i]! > 127) {
      return false;
    }
  }
  return true;
}
