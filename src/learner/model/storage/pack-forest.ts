import type { ResidualForest } from '../../calibration/residuals';
import { LearnerError } from '../../types';
import { BitReader, bitsFor, BitWriter } from './bit-stream';
import { packTrees, unpackTrees } from './pack-trees';
import { isArrayOf, must } from './soundness';

/** A residual forest with bit-packed trees and leaves. */
export interface PackedForest extends Omit<ResidualForest, 'trees' | 'offsets' | 'members'> {
  packedTrees: Uint8Array;
  /** Per leaf, its number of atoms, then the gaps between them in ascending order. */
  leaves: Uint8Array;
}

const GAP_BITS = 4;
/** Far more than any fit produces. */
const MAX_ATOMS_LISTED = 1 << 23;

/** The order of atoms in a leaf does not matter, so they are sorted. */
export function packForest({ trees, offsets, members, ...rest }: ResidualForest): PackedForest {
  const { bytes, leaves } = packTrees(trees);
  const out = new BitWriter();
  for (const leaf of leaves) {
    const atoms = members.slice(offsets[leaf], offsets[leaf + 1]).sort();
    const gaps = atoms.map((atom, i) => atom - (i > 0 ? atoms[i - 1] : 0));
    const bits = bitsFor(gaps.reduce((most, gap) => Math.max(most, gap), 0));
    out.writeCount(atoms.length);
    out.write(bits, GAP_BITS);
    for (const gap of gaps) {
      out.write(gap, bits);
    }
  }
  return { ...rest, packedTrees: bytes, leaves: out.finish() };
}

/** @throws LearnerError for bytes that are not a forest */
export function unpackForest({ packedTrees, leaves, ...rest }: PackedForest): ResidualForest {
  must(isArrayOf(Uint8Array, packedTrees) && isArrayOf(Uint8Array, leaves), 'its residuals are no bytes');
  const trees = unpackTrees(packedTrees);
  const input = new BitReader(leaves);
  const offsets = new Int32Array(trees.values.length + 1);
  const members: number[] = [];
  for (let leaf = 0; leaf < trees.values.length; leaf++) {
    const count = input.readCount();
    const bits = input.read(GAP_BITS);
    // Gaps of 0 bits take no space in the file, but their atoms would take memory.
    if (members.length + count > MAX_ATOMS_LISTED) {
      throw new LearnerError('The model is damaged: a leaf claims too many rows.');
    }
    for (let i = 0, atom = 0; i < count; i++) {
      atom += input.read(bits);
      members.push(atom);
    }
    offsets[leaf + 1] = members.length;
  }
  return { ...rest, trees, offsets, members: Uint16Array.from(members) };
}
