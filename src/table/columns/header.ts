import { listNames } from '../cells/errors';

/** The names of columns, and what the user is told of them. */
export interface Header {
  names: string[];
  warning?: string;
}

/**
 * The names that the header of a text file or of an array of arrays gives to its columns, without white space around
 * them. One that is empty or comes again is changed as pandas does: to `Unnamed: 0` (by its place), to `a.1`.
 */
export function headerOf(written: readonly string[]): Header {
  const taken = new Set(written.map((name) => name.trim()));
  const seen = new Set<string>();
  const changed: string[] = [];
  const names = written.map((raw, index) => {
    const own = raw.trim();
    if (own !== '' && !seen.has(own)) {
      seen.add(own);
      return own;
    }
    const name = freeName(own, index, taken);
    taken.add(name);
    seen.add(name);
    changed.push(name);
    return name;
  });
  if (changed.length === 0) {
    return { names };
  }
  return {
    names,
    warning: `The header has names that are empty or come again: these columns are called ${listNames(changed)}, here and when the model predicts.`,
  };
}

function freeName(name: string, index: number, taken: ReadonlySet<string>): string {
  let candidate = name === '' ? `Unnamed: ${index}` : `${name}.1`;
  for (let count = name === '' ? 1 : 2; taken.has(candidate); count++) {
    candidate = name === '' ? `Unnamed: ${index}.${count}` : `${name}.${count}`;
  }
  return candidate;
}

const UNNAMED = /^Unnamed: \d+$/;

/**
 * Finds columns by name: as it is, else without white space around it. A model that was trained when columns could be
 * without a name finds the only one that has none.
 */
export class ColumnPlaces {
  private readonly exact: ReadonlyMap<string, number>;
  private readonly plain: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.exact = new Map(names.map((name, index) => [name, index]));
    // Of names that are alike, the first.
    this.plain = new Map(names.map((name, index) => [name.trim(), index] as const).reverse());
    const unnamed = names.findIndex((name) => UNNAMED.test(name));
    if (unnamed >= 0 && !this.plain.has('')) {
      this.plain = new Map([...this.plain, ['', unnamed]]);
    }
  }

  /** The place of a column, from 0; undefined where the table has none of that name. */
  of(name: string): number | undefined {
    return this.exact.get(name) ?? this.plain.get(name.trim());
  }
}
