import type { SeenRows } from '../reference/types';

/** What a row of a table is to a model. */
export const UNSEEN = 0;
export const SEEN = 1;
/** The model may have learned from it: it was fitted on more rows than are remembered. */
export const UNCERTAIN = 2;

/** Digests that are kept of a train set: of a longer one those that are lowest, which is a sample by chance. */
const MAX_KEPT = 20_000;
const BYTES = 6;

export function keepDigests(digests: Float64Array): SeenRows {
  const kept = Float64Array.from(new Set(digests)).sort().subarray(0, MAX_KEPT);
  const bytes = Buffer.alloc(kept.length * BYTES);
  kept.forEach((digest, at) => bytes.writeUIntBE(digest, at * BYTES, BYTES));
  return { rows: digests.length, digests: bytes.toString('base64') };
}

/** Of each row of another table, by its digest: SEEN, UNSEEN or UNCERTAIN. */
export function whichSeen({ digests: text }: SeenRows, digests: Float64Array): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  const kept = new Set<number>();
  let highest = 0;
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) {
    highest = bytes.readUIntBE(at, BYTES);
    kept.add(highest);
  }
  const all = kept.size < MAX_KEPT;
  return Uint8Array.from(digests, (digest) =>
    kept.has(digest) ? SEEN : all || digest < highest ? UNSEEN : UNCERTAIN,
  );
}
