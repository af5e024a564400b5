import { isObject } from '../util/values';

/** A column that may be changed, and within what. */
export interface VaryColumn {
  column: string;
  /** The lowest and the highest value, in units of the column; left out: the usual range of the train set. */
  from?: number;
  to?: number;
  /** Only `from`, or 0, and whole steps from there. Left out: as fine as a thousandth of the range. */
  step?: number;
  /** What a unit of change costs, up or down; of words, what another word costs. Default 0. */
  cost?: number;
  /** What a unit more costs as long as it stays, and a unit less saves: an energy price. Default 0. */
  price?: number;
}

/** What each number of an entry must be; the dialog is handed the same. `hint`: what else is there for one that is too low. */
export type VaryNumbers = Readonly<
  Record<string, { readonly above?: number; readonly min?: number; readonly hint?: string }>
>;

export const VARY_NUMBERS: VaryNumbers & Record<Exclude<keyof VaryColumn, 'column'>, unknown> = {
  from: {},
  to: {},
  step: { above: 0 },
  cost: { min: 0, hint: 'what a lower value saves is its price' },
  price: {},
};

/** A dialog keeps a field that is left empty as an empty text, and a number as its text. */
export function filledIn(list: unknown): unknown {
  const readNumber = (value: unknown): unknown =>
    typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return Array.isArray(list)
    ? list.map((entry: unknown) =>
        isObject(entry)
          ? Object.fromEntries(
              Object.entries(entry)
                .filter(([, value]) => value !== '' && value !== null && value !== undefined)
                .map(([name, value]) => [name, name === 'column' ? value : readNumber(value)]),
            )
          : entry,
      )
    : list;
}

/** What is wrong with an entry, as the end of a sentence; undefined where nothing is. */
export function whyNotVary({ column, ...entry }: Record<string, unknown>): string | undefined {
  if (typeof column !== 'string' || column === '') {
    return 'has an entry that names no column';
  }
  for (const [name, value] of Object.entries(entry)) {
    if (!Object.hasOwn(VARY_NUMBERS, name)) {
      return `says "${name}" of "${column}"; known are ${Object.keys(VARY_NUMBERS).join(', ')}`;
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return `must have a number as "${name}" of "${column}"`;
    }
    const { above = -Infinity, min = -Infinity, hint } = (VARY_NUMBERS as VaryNumbers)[name]!;
    if (value <= above || value < min) {
      const bound = value <= above ? `above ${above}` : `of at least ${min}`;
      return `must have a ${name} ${bound} for "${column}"${hint === undefined ? '' : `: ${hint}`}`;
    }
  }
  return undefined;
}
