import type { Background } from '../../model/background';
import { type Part, partScores } from '../../model/members';

const known = new WeakMap<Part, { background: Background; scores: Float64Array }>();

/**
 * What one part adds up to for the background rows, before its weight, and votes before they are turned into scores: rows ×
 * width. Cached, because a stream of single rows asks for it every time.
 */
export function backgroundScores(part: Part, background: Background): Float64Array {
  let own = known.get(part);
  if (own?.background !== background) {
    const { columns, numbers = [], rows } = background;
    const all = Int32Array.from({ length: rows }, (_, row) => row);
    const sums: Part = part.kind === 'votes' ? { ...part, kind: 'trees' } : part;
    own = { background, scores: partScores(sums, { columns, numbers }, all) };
    known.set(part, own);
  }
  return own.scores;
}
