/** What a text takes as a JavaScript string, beside its characters. */
const STRING_BYTES = 32;
/** What the learner takes for each text, and for the words that it counts, at most. */
const ENTRY_BYTES = 48;
const TOKENS_BYTES = 50e6;
/** So few texts have few words. */
const FEW_TEXTS = 1000;

/**
 * About how much of the heap the learner needs for the different texts of a column: growing beyond the heap may end
 * the process, not the thread, so it has to be known before.
 */
export class TextNeed {
  /** Bytes of the texts as strings. */
  strings = 0;
  private texts = 0;

  /** @param learns false where the texts are only looked up */
  constructor(private readonly learns: boolean) {}

  /** Bytes. */
  get bytes(): number {
    const learning = this.texts * ENTRY_BYTES + (this.texts > FEW_TEXTS ? TOKENS_BYTES : 0);
    return this.strings + (this.learns ? learning : 0);
  }

  /** Counts another text. */
  add(bytes: Uint8Array, from: number, to: number): void {
    this.texts += 1;
    this.strings += STRING_BYTES + (to - from) * (isAscii(bytes, from, to) ? 1 : 2);
  }
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (bytes[i]! > 127) {
      return false;
    }
  }
  return true;
}
