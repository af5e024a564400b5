import { show } from '../cells/errors';
import { parseLocalNumber, type TextLook } from '../cells/local-formats';
import type { Settled } from './settled';

/** A text column that looks like something else. */
export type NamedLook = NonNullable<Settled['look']> & { name: string };

const NAMED = 5;

/** Says of columns that look alike how they look, where, and what to do; and how to keep them as they are. */
export interface LookWarning {
  problem: string;
  keep: string;
}

/** One warning for all columns that look alike. */
export function lookWarnings(list: readonly NamedLook[]): LookWarning[] {
  const likes: TextLook[] = ['number', 'either number', 'date', 'local date'];
  return likes.flatMap((like) => {
    const alike = list.filter((look) => look.like === like);
    return alike.length === 0 ? [] : [warning(like, alike)];
  });
}

function warning(like: TextLook, list: readonly NamedLook[]): LookWarning {
  const names = list.slice(0, NAMED).map(({ name }) => name);
  const shown = names.map((name) => `"${name}"`).join(', ');
  const more = list.length > NAMED ? ` and ${list.length - NAMED} more` : '';
  const are = list.length === 1 ? `Column ${shown} is text` : `Columns ${shown}${more} are text`;
  const { name, example } = list[0]!;
  const where = `${show(example.value)}, ${list.length === 1 ? '' : `column "${name}", `}row ${example.row + 1}`;
  const types = (type: string): string => JSON.stringify(Object.fromEntries(names.map((key) => [key, type])));
  const keep = `Column types ${types('text')} keeps ${list.length === 1 ? 'it' : 'them'} as text without this warning.`;
  return { problem: problem(), keep };

  function problem(): string {
    switch (like) {
      case 'number':
      case 'date':
        return `${are} that reads as ${like}s (${where}): set Column types ${types(like)}.`;
      case 'either number': {
        const text = String(example.value);
        const readings = `${parseLocalNumber(text, ',')} or ${parseLocalNumber(text, '.')}`;
        return `${are} that reads as numbers (${where}), but this can mean ${readings}: give numbers, or write them with a decimal point and without grouping.`;
      }
      case 'local date':
        return `${are} that looks like dates (${where}): write them as 2026-01-31 or 2026-01-31T12:00:00Z, since only ISO 8601 is read as dates.`;
    }
  }
}
