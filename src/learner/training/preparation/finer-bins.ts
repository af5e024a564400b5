import type { Encoder } from '../../features/encode';
import { finerBorders } from '../../features/finer-borders';
import { square } from '../../math/numeric';
import type { Random } from '../../math/random';
import type { BoostRules } from '../../trees/boosting/boost';
import { isCategoryNode, LEAF, type Trees } from '../../trees/trees';
import type { FeatureColumn } from '../../types';
import { FINER_BINS } from '../tuned';
import { encodeAll, type Encoded } from './encoded';
import { tryBoosting } from './trial';

export interface FinerInput {
  features: FeatureColumn[];
  /** Of the candidate for low-noise targets. */
  rules: BoostRules;
  /** Class and part of each row. */
  codes: Int32Array;
  classes: number;
  part: Uint8Array;
  parts: number;
  maxBins: number;
  /** For the new borders, and for the trial on each part. */
  random: (stream: number) => Random;
}

/**
 * Moves borders closer together where the trees of a trial split most; returns the table unchanged if that gains
 * nothing. Only the choice of bins depends on the target: their new borders lie between all of their values.
 */
export function withFinerBins(table: Encoded, input: FinerInput): Encoded {
  const { part, parts } = input;
  const { encoders } = table;
  const isMany = (encoder: Encoder) =>
    encoder.type === 'number' && encoder.borders.length >= FINER_BINS.borders;
  if (part.length < FINER_BINS.rows || parts < 2 || !encoders.some(isMany)) {
    return table;
  }
  const { curve, trees } = tryBoosting(table, {
    ...input,
    rules: quick(input),
    heldOut: 0,
    random: input.random(1),
  });
  if (1 - Math.min(...curve) / curve[0] < FINER_BINS.explained) {
    return table;
  }
  const splits = splitsOf(trees, table);
  let isChanged = false;
  const finer = encoders.map((encoder, e) => {
    const column = table.firstColumn[e];
    const values = table.numbers[column];
    if (!isMany(encoder) || encoder.type !== 'number' || values === undefined) {
      return encoder;
    }
    const borders = finerBorders(values, encoder.borders, splits[column], input.maxBins, input.random(0));
    isChanged ||= borders !== undefined;
    return borders ? { ...encoder, borders } : encoder;
  });
  if (!isChanged) {
    return table;
  }
  const changed = encodeAll(finer, input.features);
  return isBetter(changed, table, input) ? changed : table;
}

/** The rules of a trial: few and quick trees. */
function quick({ rules }: FinerInput): BoostRules {
  return { ...rules, learningRate: FINER_BINS.learningRate, maxIterations: FINER_BINS.iterations };
}

/** Whether the new borders are better on the held-out parts. */
function isBetter(changed: Encoded, table: Encoded, input: FinerInput): boolean {
  const gains: number[] = [];
  for (let heldOut = 0; heldOut < Math.min(FINER_BINS.parts, input.parts); heldOut++) {
    // Each tree sees all rows: sampling would make more of a difference than the borders do.
    const rules = { ...quick(input), rowSample: 1 };
    const [before, after] = [table, changed].map(
      (one) => tryBoosting(one, { ...input, rules, heldOut, random: input.random(1 + heldOut) }).losses,
    );
    before.forEach((loss, i) => gains.push(loss - after[i]));
  }
  const sum = gains.reduce((total, gain) => total + gain, 0);
  const squares = gains.reduce((total, gain) => total + square(gain - sum / gains.length), 0);
  return sum > FINER_BINS.errors * Math.sqrt(squares);
}

/** How often trees split after each bin of each numeric column. */
function splitsOf(trees: Trees, { specs }: Encoded): Int32Array[] {
  const splits = specs.map(({ bins }) => new Int32Array(bins));
  trees.feature.forEach((column, node) => {
    if (column !== LEAF && !isCategoryNode(trees, node)) {
      splits[column][trees.bin[node]]++;
    }
  });
  return splits;
}
