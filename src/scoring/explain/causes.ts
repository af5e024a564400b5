import type { Label } from '../../table';
import type { Cause, CauseText } from '../types';
import { causeText } from './cause-text';
import type { Effects, ExplainWish } from './effects';

/** Causes that a row is given, the ones of most effect. */
const TOLD = 3;

/** What is attached to a row: its causes, or null where it is not explained. */
export type CausesOf = (row: number, cellOf: (column: string) => unknown) => Cause[] | null;

/**
 * The causes of each row, the ones of most effect first.
 *
 * @param classes the labels of the model in their order; undefined for numbers
 * @param write makes the text; default English
 */
export function causesOf(
  { causes, usual, rows }: Effects,
  { above }: Pick<ExplainWish, 'above'>,
  classes: readonly Label[] | undefined,
  write: CauseText = causeText,
): CausesOf {
  return (row, cellOf) => {
    const own = rows.get(row);
    if (own === undefined || (above !== undefined && !(own.prediction > above))) {
      return null;
    }
    return own.effects
      .map((effect, i) => ({ effect, i }))
      .filter(({ effect }) => effect !== 0)
      .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
      .slice(0, TOLD)
      .map(({ effect, i }) => {
        const value = cellOf(causes[i]!);
        // Of a truth value or a date, a range of numbers says nothing.
        const range =
          typeof value === 'boolean' || value instanceof Date ? undefined : (usual[i] ?? undefined);
        const cause = { column: causes[i]!, value, ...(range && { usual: range }), effect };
        return {
          ...cause,
          text: write(cause, own.of === undefined ? undefined : (classes?.[own.of] ?? own.of)),
        };
      });
  };
}
