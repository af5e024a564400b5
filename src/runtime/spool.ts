import { ServiceError } from '../wire/service-error';

/** What `msg.parts` may say (Node-RED user guide, "Understanding msg.parts"). */
export interface PartInfo {
  id?: string;
  index?: number;
  count?: number;
  /** What was split: `string`, `buffer`, `array`, `object`. */
  type?: string;
  /** The text that stood between the parts of a split string. */
  ch?: unknown;
  /** The property that a part of a split object was. */
  key?: string;
}

/** Takes the parts of one sequence, in order, and gives them back as one table value. */
export interface Spool {
  add(value: unknown, part: PartInfo): void | Promise<void>;
  finish(): unknown;
  discard(): void;
}

type Kind = 'rows' | 'text' | 'bytes' | 'properties';

/** Keeps the parts in memory: rows, arrays of rows, pieces of a text or of bytes, properties of a split object. */
export class MemorySpool implements Spool {
  private kind: Kind | undefined;
  private items: unknown[] = [];
  private separator = '';

  add(value: unknown, part: PartInfo): void {
    const kind = kindOf(value, part);
    if (kind === undefined || (this.kind !== undefined && this.kind !== kind)) {
      const where = part.index === undefined ? 'A part' : `Part ${part.index + 1}`;
      const wanted = this.kind === undefined ? 'a row, an array of rows, text or bytes' : NAMES[this.kind];
      throw new ServiceError('table.invalid', `${where} of the sequence is not ${wanted}.`);
    }
    this.kind = kind;
    if (kind === 'properties') this.items.push([part.key, value]);
    else if (kind === 'rows' && Array.isArray(value)) for (const row of value) this.items.push(row);
    else this.items.push(value);
    if (kind === 'text' && typeof part.ch === 'string') this.separator = part.ch;
  }

  finish(): unknown {
    const { items } = this;
    this.items = [];
    if (this.kind === 'text') return items.join(this.separator);
    if (this.kind === 'bytes') return Buffer.concat(items as Buffer[]);
    if (this.kind === 'properties') return Object.fromEntries(items as [string, unknown][]);
    return items;
  }

  discard(): void {
    this.items = [];
  }
}

const NAMES: Record<Kind, string> = {
  rows: 'a row or an array of rows, as the parts before it are',
  text: 'text, as the parts before it are',
  bytes: 'a Buffer, as the parts before it are',
  properties: 'a property of the split object, as the parts before it are',
};

function kindOf(value: unknown, part: PartInfo): Kind | undefined {
  if (typeof value === 'string') return 'text';
  if (Buffer.isBuffer(value)) return 'bytes';
  if (part.type === 'object' && typeof part.key === 'string') return 'properties';
  return typeof value === 'object' && value !== null ? 'rows' : undefined;
}
