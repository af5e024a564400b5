/** What a text takes as a JavaScript string, besides its characters. */
const STRING_BYTES = 32;
/** What the learner takes at most for each text and the words it counts. */
const ENTRY_BYTES = 48;
const TOKENS_BYTES = 50e6;
/** Up to this many texts, words hardly count. */
const FEW_TEXTS = 1000;

/**
 * About how much heap the learner needs for the different texts of a column. It must be known before: running out of
 * heap may end the process, not just the thread.
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
