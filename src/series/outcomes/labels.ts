import { show } from '../../table';
import { ServiceError } from '../../wire/service-error';

/** Different labels that messages may bring, and the characters of one. */
const MAX_LABELS = 1000;
const MAX_CHARACTERS = 1000;

export type OutcomeValue = number | string | boolean;

/** Outcomes that messages bring: all numbers or all labels, as the first one is. */
export class Labels {
  kind: 'number' | 'label' | undefined;
  readonly words: (string | boolean)[] = [];

  /** Whether a value is an outcome, of the kind that came first. */
  accepts(value: unknown): value is OutcomeValue {
    return isNumber(value) || (this.kind !== 'number' && isLabel(value));
  }

  /**
   * The number that an outcome is held as. The first one decides the kind.
   *
   * @throws ServiceError limit.exceeded
   */
  codeOf(value: OutcomeValue): number {
    this.kind ??= isNumber(value) ? 'number' : 'label';
    if (this.kind === 'number') {
      return Number(value);
    }
    const word = isNumber(value) ? String(value) : value;
    const known = this.words.indexOf(word);
    if (known >= 0) {
      return known;
    }
    if (this.words.length >= MAX_LABELS || String(word).length > MAX_CHARACTERS) {
      throw new ServiceError(
        'limit.exceeded',
        `The outcome ${show(word)} would be one more than the ${MAX_LABELS} labels that a series may have, or has more than ${MAX_CHARACTERS} characters. Send a class, such as "good" or "bad", or a number.`,
      );
    }
    return this.words.push(word) - 1;
  }

  restore({ kind, words }: { kind?: 'number' | 'label'; words: (string | boolean)[] }): void {
    this.kind = kind;
    this.words.splice(0, this.words.length, ...words);
  }

  cell(code: number): number | string | boolean {
    return this.kind === 'number' ? code : this.words[code]!;
  }

  /** What outcomes must be, to complete an error message. */
  get expected(): string {
    return this.kind === 'number' ? 'a number, like the ones before' : 'a number, text, or true or false';
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isLabel(value: unknown): value is string | boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'boolean';
}
