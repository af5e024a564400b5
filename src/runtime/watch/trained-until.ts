import type { ModelCard, Reference } from '../../connection';

/** Until when a model has learned from the rows of a machine, in milliseconds since 1970. */
export type TrainedUntil = (key: string | null | undefined) => number;

/** Of each machine, where that is known. */
export function untilByKey(reference: Reference | undefined): ReadonlyMap<string, number> | undefined {
  return reference?.until && new Map(reference.until.map(({ key, to }) => [key, to]));
}

/**
 * Machines may be behind each other: what counts is a machine's own newest row, and one that is none of the model's is
 * new to it. Where no machine is named, or none is known, it is the newest row of all.
 */
export function trainedUntil(
  card: Pick<ModelCard, 'trained_until'> | undefined,
  byKey: ReadonlyMap<string, number> | undefined,
): TrainedUntil {
  const newest = card?.trained_until === undefined ? -Infinity : Date.parse(card.trained_until);
  return (key) =>
    key === undefined || key === null || byKey === undefined ? newest : (byKey.get(key) ?? -Infinity);
}
