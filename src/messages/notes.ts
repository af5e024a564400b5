import { dateOfSerial, isLikelySerial } from '../table';

/**
 * What is told once of a column: a list or a value of bad quality that was left out, another unit, two values at once, or a
 * time that may be of a spreadsheet; of a device, a payload that nobody has decoded.
 */
export interface MessageNote {
  kind: 'list' | 'quality' | 'unit' | 'twice' | 'raw' | 'time';
  column: string;
  text: string;
}

const MAX_NOTES = 1000;

/** Tells of each column once what was left out of messages. */
export class Notes {
  private readonly told = new Set<string>();
  /** The unit of a column, from its first value with one. */
  private readonly units = new Map<string, string>();
  private hasTime = false;

  constructor(private readonly tell: (note: MessageNote) => void) {}

  /** @param areObjects its values are objects, which names do not help */
  list(column: string, unnamed: number, areObjects: boolean): void {
    const which = column === '' ? 'The list' : `The list "${column}"`;
    const [what, help] = areObjects
      ? [unnamed === 1 ? 'object' : 'objects', 'If they are readings, send the list by itself.']
      : [unnamed === 1 ? 'value' : 'values', 'The field Names of list values gives names.'];
    this.once({
      kind: 'list',
      column,
      text: `${which} has ${unnamed} ${what} without a name: left out, as in later messages. ${help}`,
    });
  }

  bad(column: string): void {
    this.once({
      kind: 'quality',
      column,
      text: `Column "${column}": a value came with a bad quality or status. It is missing, as others like it will be.`,
    });
  }

  twice(column: string): void {
    this.once({
      kind: 'twice',
      column,
      text: `Column "${column}": one message had two values of the same time. The later one counts, as in later messages.`,
    });
  }

  /** A time of a reading. A simulation, whose seconds begin at 0, comes by the numbers of spreadsheets too: only the first is told. */
  time(column: string, value: unknown): void {
    if (!this.hasTime && isLikelySerial(value)) {
      const text = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
      this.once({
        kind: 'time',
        column,
        text: `Column "${column}": ${value} is read as seconds since 1970 (${text(value * 1000)}). If it is a date of a spreadsheet (${text(dateOfSerial(value))}), name the column "date", or send it as text.`,
      });
    }
    this.hasTime = true;
  }

  /** @param source as the shape is named */
  raw(source: string, key: string): void {
    this.once({
      kind: 'raw',
      column: key,
      text: `${source}, device "${key}": its payload is not decoded, so no values are read from it, nor from later ones. Set up a decoder for the device where its messages come from (codec, payload formatter), or wire a node that decodes them in front.`,
    });
  }

  /** Whether a value is in the unit of the first one of its column; of another one it is told. */
  isInUnit(column: string, unit: string, text: string): boolean {
    const first = this.units.get(column) ?? unit;
    if (first === unit) {
      if (this.units.size < MAX_NOTES) {
        this.units.set(column, unit);
      }
      return true;
    }
    this.once({
      kind: 'unit',
      column,
      text: `Column "${column}": "${text}" is in ${unit}, and values before it were in ${first}. Values in another unit are missing: send them in a column of their own.`,
    });
    return false;
  }

  private once(note: MessageNote): void {
    const which = `${note.kind} ${note.column}`;
    if (!this.told.has(which) && this.told.size < MAX_NOTES) {
      this.told.add(which);
      this.tell(note);
    }
  }
}
