import { powerOfTwo } from '../../math/numeric';
import { gridExponent } from '../../trees/boosting/leaf-grid';
import { goesMissingLeft, isCategoryNode, LEAF, SET_WORDS, TreeBuilder, type Trees } from '../../trees/trees';
import { LearnerError } from '../../types';
import { BitReader, bitsFor, BitWriter } from './bit-stream';

/*
 * Bit-packed trees. Nodes are stored level by level, so that child indices are implicit: one bit marks a leaf; a
 * branch has its column, bin and side of missing values. Leaf values take 16 bits if they lie on the grid of their
 * tree (`roundToGrid`), else 32.
 */

const VALUE_BITS = 16;
const EXPONENT_BITS = 11;
/** Of a branch and of a leaf at least. */
const BRANCH_BITS = 9;
const LEAF_BITS = 10;
/** Added to the exponent of the grid's step; 0 means that values are not on a grid. */
const EXPONENT_BIAS = 1100;
/** Bits of the number of bytes before a set's constant tail. */
const SET_LENGTH_BITS = 6;

const float = new Float32Array(1);
const floatHalves = new Uint16Array(float.buffer);

export interface PackedTrees {
  bytes: Uint8Array;
  /** Where the values of each leaf began in `Trees.values`, in their new order. */
  leaves: number[];
}

export function packTrees(trees: Trees): PackedTrees {
  const { roots, feature, left, width } = trees;
  const out = new BitWriter();
  const featureBits = bitsFor(feature.reduce((most, one) => (one === LEAF ? most : Math.max(most, one)), 0));
  const leaves: number[] = [];
  /** Where the values of a leaf begin in `Trees.values` → its place in `leaves`; -1 before it has one. */
  const placeOf = new Int32Array(trees.values.length).fill(-1);
  let branches = 0;
  let shares = false;
  const orders = Array.from(roots, (root) => levels(trees, root));
  for (const nodes of orders) {
    for (const node of nodes) {
      if (feature[node] !== LEAF) {
        branches++;
      } else if (placeOf[left[node]] >= 0) {
        shares = true;
      } else {
        placeOf[left[node]] = leaves.length;
        leaves.push(left[node]);
      }
    }
  }
  out.writeCount(width);
  out.writeCount(roots.length);
  out.writeCount(branches);
  out.write(featureBits, 5);
  out.write(shares ? 1 : 0, 1);
  let known = 0;
  for (const nodes of orders) {
    const exponent = gridOf(trees, nodes);
    out.write(exponent === undefined ? 0 : exponent + EXPONENT_BIAS, EXPONENT_BITS);
    for (const node of nodes) {
      const isLeaf = feature[node] === LEAF;
      out.write(isLeaf ? 1 : 0, 1);
      if (!isLeaf) {
        packBranch(trees, node, featureBits, out);
        continue;
      }
      const place = placeOf[left[node]];
      if (shares) {
        out.write(place < known ? 1 : 0, 1);
        if (place < known) {
          out.writeCount(place);
          continue;
        }
      }
      known++;
      for (let k = 0; k < width; k++) {
        packValue(trees.values[left[node] + k], exponent, out);
      }
    }
  }
  return { bytes: out.finish(), leaves };
}

/** @throws LearnerError for bytes that are not trees */
export function unpackTrees(bytes: Uint8Array): Trees {
  const input = new BitReader(bytes);
  const width = input.readCount();
  const count = input.readCount();
  const branches = input.readCount();
  // Larger claims than bits are refused before allocating.
  const leaves = branches + count;
  const own = leaves > 0 ? width : 0;
  const bits = count * EXPONENT_BITS + branches * BRANCH_BITS + leaves * LEAF_BITS;
  if (width < 1 || Math.max(bits, own * VALUE_BITS) > bytes.length * 8) {
    throw new LearnerError('The model is damaged: it claims more trees than it can hold.');
  }
  const featureBits = input.read(5);
  const shares = input.read(1) === 1;
  const builder = new TreeBuilder(width);
  const values = new Float64Array(own);
  for (let tree = 0; tree < count; tree++) {
    const coded = input.read(EXPONENT_BITS);
    const step = coded === 0 ? undefined : powerOfTwo(coded - EXPONENT_BIAS);
    for (let node = builder.addRoot(); node < builder.nodes; node++) {
      if (input.read(1) === 0) {
        unpackBranch(builder, node, featureBits, input);
        if (builder.nodes > branches + leaves) {
          throw new LearnerError('The model is damaged: it has more nodes than it says.');
        }
      } else if (shares && input.read(1) === 1) {
        builder.shareLeaf(node, input.readCount() * width);
      } else {
        for (let k = 0; k < width; k++) {
          values[k] = unpackValue(step, input);
        }
        builder.setLeaf(node, values);
      }
    }
  }
  return builder.finish();
}

/** The nodes of a tree, level by level. */
function levels({ feature, left }: Trees, root: number): number[] {
  const nodes = [root];
  for (let i = 0; i < nodes.length; i++) {
    if (feature[nodes[i]] !== LEAF) {
      nodes.push(left[nodes[i]], left[nodes[i]] + 1);
    }
  }
  return nodes;
}

function packBranch(trees: Trees, node: number, featureBits: number, out: BitWriter): void {
  const isCategory = isCategoryNode(trees, node);
  out.write(trees.feature[node], featureBits);
  out.write(isCategory ? 1 : 0, 1);
  if (isCategory) {
    packSet(trees.sets.subarray(trees.setAt[node], trees.setAt[node] + SET_WORDS), out);
  } else {
    out.write(trees.bin[node], 8);
    out.write(goesMissingLeft(trees, node) ? 1 : 0, 1);
  }
}

function unpackBranch(builder: TreeBuilder, node: number, featureBits: number, input: BitReader): void {
  const column = input.read(featureBits);
  if (input.read(1) === 1) {
    const set = unpackSet(input);
    builder.split(node, { column, bin: 0, missingLeft: (set[0] & 1) === 1, set });
  } else {
    const bin = input.read(8);
    builder.split(node, { column, bin, missingLeft: input.read(1) === 1, set: undefined });
  }
}

/** Drops trailing bytes that are all 0 or all 255: categories that no row of the node has share a side. */
function packSet(set: Int32Array, out: BitWriter): void {
  const byteOf = (i: number) => (set[i >> 2] >>> ((i & 3) * 8)) & 0xff;
  let length = SET_WORDS * 4;
  const last = byteOf(length - 1);
  const isFilled = last === 0 || last === 255;
  while (isFilled && length > 0 && byteOf(length - 1) === last) {
    length--;
  }
  out.write(length, SET_LENGTH_BITS);
  out.write(last & 1, 1);
  for (let i = 0; i < length; i++) {
    out.write(byteOf(i), 8);
  }
}

function unpackSet(input: BitReader): Int32Array {
  const length = input.read(SET_LENGTH_BITS);
  const set = new Int32Array(SET_WORDS).fill(input.read(1) === 1 ? -1 : 0);
  const bytes = new Uint8Array(set.length * 4);
  if (length > bytes.length) {
    throw new LearnerError('The model is damaged: it has a set of too many categories.');
  }
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = i < length ? input.read(8) : set[0] & 0xff;
  }
  return set.map(
    (_, w) => bytes[w * 4] | (bytes[w * 4 + 1] << 8) | (bytes[w * 4 + 2] << 16) | (bytes[w * 4 + 3] << 24),
  );
}

/** The exponent of the grid on which all values of a tree lie, if there is one. */
function gridOf({ feature, left, values, width }: Trees, nodes: number[]): number | undefined {
  const own: number[] = [];
  for (const node of nodes) {
    for (let k = 0; feature[node] === LEAF && k < width; k++) {
      own.push(values[left[node] + k]);
    }
  }
  const exponent = gridExponent(own.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  if (exponent === undefined) {
    return undefined;
  }
  const step = powerOfTwo(exponent);
  return own.every((value) => Number.isInteger(value / step)) ? exponent : undefined;
}

function packValue(value: number, exponent: number | undefined, out: BitWriter): void {
  if (exponent !== undefined) {
    out.write((value / powerOfTwo(exponent)) & 0xffff, VALUE_BITS);
    return;
  }
  float[0] = value;
  out.write(floatHalves[0], 16);
  out.write(floatHalves[1], 16);
}

function unpackValue(step: number | undefined, input: BitReader): number {
  if (step !== undefined) {
    return ((input.read(VALUE_BITS) << 16) >> 16) * step;
  }
  floatHalves[0] = input.read(16);
  floatHalves[1] = input.read(16);
  return float[0];
}
