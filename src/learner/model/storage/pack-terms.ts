import type { TermRule } from '../../linear/design';
import type { LinearTerms } from '../../linear/linear';
import { LearnerError } from '../../types';
import { isArrayOf, must } from './soundness';

/** The terms of a linear model as arrays. `numbers` holds those of all rules, one after another. */
export interface PackedTerms {
  columns: Uint16Array;
  kinds: Uint8Array;
  numbers: Float64Array;
  /** The bin of each category, one after another. */
  bins: Uint8Array;
  weights: Float32Array;
}

const KINDS = ['ordered', 'missing', 'category', 'number', 'whole'] as const;

export function packTerms({ columns, rules, weights }: LinearTerms): PackedTerms {
  const numbers = rules.flatMap((rule) => {
    switch (rule.kind) {
      case 'number':
      case 'whole':
        return [rule.mean, rule.scale, rule.low, rule.high];
      case 'ordered':
        return [rule.mean, rule.scale];
      case 'missing':
        return [rule.share];
      case 'category':
        return [];
    }
  });
  return {
    columns,
    kinds: Uint8Array.from(rules, ({ kind }) => KINDS.indexOf(kind)),
    numbers: Float64Array.from(numbers),
    bins: Uint8Array.from(rules.flatMap((rule) => (rule.kind === 'category' ? [rule.bin] : []))),
    weights,
  };
}

/** @throws LearnerError if a rule is invalid */
export function unpackTerms({ columns, kinds, numbers, bins, weights }: PackedTerms): LinearTerms {
  must(
    isArrayOf(Uint8Array, kinds) && isArrayOf(Float64Array, numbers) && isArrayOf(Uint8Array, bins),
    'its terms are no numbers',
  );
  let number = 0;
  let category = 0;
  const rules = Array.from(kinds, (code): TermRule => {
    const kind = KINDS[code];
    switch (kind) {
      case 'number':
      case 'whole':
        return {
          kind,
          mean: numbers[number++],
          scale: numbers[number++],
          low: numbers[number++],
          high: numbers[number++],
        };
      case 'ordered':
        return { kind, mean: numbers[number++], scale: numbers[number++] };
      case 'missing':
        return { kind, share: numbers[number++] };
      case 'category':
        return { kind, bin: bins[category++] };
      default:
        throw new LearnerError('The model is damaged: it has a term of no known kind.');
    }
  });
  return { columns, rules, weights };
}
