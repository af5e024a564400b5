import { ServiceError } from '../wire/service-error';

/** What a topic tells of a reading. */
export interface TopicParts {
  key?: string;
  /** The column of a single value, and what stands before the columns of an object. */
  column?: string;
  /** The column of a single value only: the levels at a `#`. */
  rest?: string;
}

/**
 * A topic with places for the key and the column. `+` is the key and `#` the rest of the topic, which is the column of a
 * single value: `shellies/+/#`. Or they are written, and `+` is any level: `{key}/status/{column}`; a `{column}` at the
 * end is the rest, and stands before the columns of an object as well.
 */
export class TopicPattern {
  private readonly levels: readonly string[];
  private readonly isWritten: boolean;

  constructor(readonly text: string) {
    this.levels = text.split('/');
    this.isWritten = text.includes('{key}') || text.includes('{column}');
  }

  /** Whether a text is such a pattern: one key at most, and a rest only at the end. */
  static isValid(text: string): boolean {
    const levels = text.split('/');
    const keys = levels.filter((level) => level === '{key}').length;
    const columns = levels.filter((level) => level === '{column}').length;
    const isPlain = levels.every(
      (level, i) =>
        level === '+' ||
        level === '{key}' ||
        level === '{column}' ||
        (level === '#' ? i === levels.length - 1 : !/[+#{}]/.test(level)),
    );
    const any = levels.filter((level) => level === '+').length;
    return isPlain && columns <= 1 && (keys + columns > 0 ? keys <= 1 : any === 1);
  }

  /**
   * What the dialog refuses as well (`topic` in nodes/dialogs/validators.js): anything but one +, or `{key}` and `{column}`,
   * and a # before the end.
   *
   * @throws ServiceError `config.invalid`
   */
  static parse(text: string): TopicPattern {
    if (!TopicPattern.isValid(text)) {
      throw new ServiceError(
        'config.invalid',
        `The field Key must be a topic with one + where the key is, such as plant/+/#, or with {key} and {column}, such as {key}/status/{column}, not "${text}".`,
      );
    }
    return new TopicPattern(text);
  }

  /** undefined where a topic does not fit. */
  match(topic: string): TopicParts | undefined {
    const given = topic.split('/');
    const { levels } = this;
    const last = levels.at(-1)!;
    const isOpen = last === '#' || last === '{column}';
    const fixed = isOpen ? levels.length - 1 : levels.length;
    if (isOpen ? given.length < fixed + (last === '#' ? 0 : 1) : given.length !== fixed) {
      return undefined;
    }
    const parts: TopicParts = {};
    for (let i = 0; i < fixed; i++) {
      const level = levels[i]!;
      if (level === '{key}' || (level === '+' && !this.isWritten)) {
        parts.key = given[i];
      } else if (level === '{column}') {
        parts.column = given[i];
      } else if (level !== '+' && level !== given[i]) {
        return undefined;
      }
    }
    if (isOpen) {
      const rest = given.slice(fixed).join('/');
      if (last === '{column}') {
        parts.column = rest;
      } else if (rest !== '') {
        parts.rest = rest;
      }
    }
    return parts.key === '' || parts.column === '' ? undefined : parts;
  }
}

/** The last two levels of a topic: the column of a single value, and the key before it. */
export function lastLevels(topic: unknown): TopicParts {
  const levels = typeof topic === 'string' ? topic.split('/').filter((level) => level !== '') : [];
  return { column: levels.at(-1), key: levels.at(-2) };
}
