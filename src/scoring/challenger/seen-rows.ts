import { Yielder } from '../../util/event-loop';
import { sortedCopy } from '../../util/sort';
import type { SeenRows } from '../reference/types';

/** Whether a model has seen a row. */
export const UNSEEN = 0;
export const SEEN = 1;
/** The model may have learned from it: it was fitted on more rows than are remembered. */
export const UNCERTAIN = 2;

/** Most digests kept of a train set: of a longer one, the lowest, which are a random sample. */
const MAX_KEPT = 20_000;
const BYTES = 6;

export async function keepDigests(digests: Float64Array): Promise<SeenRows> {
  const sorted = await sortedCopy(digests);
  const bytes = Buffer.alloc(Math.min(sorted.length, MAX_KEPT) * BYTES);
  let kept = 0;
  for (let at = 0; at < sorted.length && kept < MAX_KEPT; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) {
      bytes.writeUIntBE(sorted[at]!, kept * BYTES, BYTES);
      kept++;
    }
  }
  return { rows: digests.length, digests: bytes.toString('base64', 0, kept * BYTES) };
}

/** Per row of another table, by its digest: SEEN, UNSEEN or UNCERTAIN. */
export async function whichSeen({ digests: text }: SeenRows, digests: Float64Array): Promise<Uint8Array> {
  const bytes = Buffer.from(text, 'base64');
  const kept = new Set<number>();
  let highest = 0;
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) {
    highest = bytes.readUIntBE(at, BYTES);
    kept.add(highest);
  }
  const all = kept.size < MAX_KEPT;
  const verdicts = new Uint8Array(digests.length);
  const yielder = new Yielder();
  for (let row = 0; row < digests.length; row++) {
    const digest = digests[row]!;
    verdicts[row] = kept.has(digest) ? SEEN : all || digest < highest ? UNSEEN : UNCERTAIN;
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return verdicts;
}
