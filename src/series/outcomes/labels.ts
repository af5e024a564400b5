/** Outcomes that messages bring: numbers, or labels; the first one decides. */
export class Labels {
  kind: 'number' | 'label' | undefined;
  readonly words: (string | boolean)[] = [];

  /** The number that an outcome is held as; undefined where it is not of the kind that came first. */
  codeOf(value: unknown): number | undefined {
    const kind = typeof value === 'number' && Number.isFinite(value) ? 'number' : 'label';
    const isLabel = (typeof value === 'string' && value !== '') || typeof value === 'boolean';
    if (kind === 'label' && !isLabel) {
      return undefined;
    }
    this.kind ??= kind;
    if (this.kind === 'number') {
      return kind === 'number' ? (value as number) : undefined;
    }
    const word = isLabel ? value : String(value);
    const known = this.words.indexOf(word);
    return known >= 0 ? known : this.words.push(word) - 1;
  }

  restore({ kind, words }: { kind?: 'number' | 'label'; words: (string | boolean)[] }): void {
    this.kind = kind;
    this.words.splice(0, this.words.length, ...words);
  }

  cell(code: number): number | string | boolean {
    return this.kind === 'number' ? code : this.words[code]!;
  }

  /** What outcomes must be, in a sentence. */
  get expected(): string {
    return this.kind === 'number' ? 'a number, as the ones before' : 'a number, text, or true or false';
  }
}
