import { comparableLabel } from '../../metrics/answer-costs';
import type { Label } from '../../table';

/** Each label as an index of a model's classes; −1 for one that it does not know. */
export function codesOfLabels(classes: readonly Label[], labels: readonly Label[]): number[] {
  const at = new Map(classes.map((label, index) => [comparableLabel(label), index]));
  return labels.map((label) => at.get(comparableLabel(label)) ?? -1);
}
