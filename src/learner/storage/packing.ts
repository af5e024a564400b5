import type { ResidualForest } from '../calibration/residuals';
import type { TermRule } from '../linear/design';
import type { LinearTerms } from '../linear/linear';
import { powerOfTwo } from '../math/numeric';
import {
  goesMissingLeft,
  gridExponent,
  isCategoryNode,
  LEAF,
  SET_WORDS,
  TreeBuilder,
  type Trees,
} from '../trees/trees';
import { isArrayOf, must } from './checks';

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

interface PackedTrees {
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
  const isRoom = Math.max(bits, own * VALUE_BITS) <= bytes.length * 8;
  must(width >= 1 && isRoom, 'it claims more trees than it can hold');
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
        must(builder.nodes <= branches + leaves, 'it has more nodes than it says');
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
  must(length <= bytes.length, 'it has a set of too many categories');
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
    must(members.length + count <= MAX_ATOMS_LISTED, 'a leaf claims too many rows');
    for (let i = 0, atom = 0; i < count; i++) {
      atom += input.read(bits);
      members.push(atom);
    }
    offsets[leaf + 1] = members.length;
  }
  return { ...rest, trees, offsets, members: Uint16Array.from(members) };
}

/** The terms of a linear model as arrays. `numbers` holds those of all rules, one after another. */
export interface PackedTerms {
  columns: Uint16Array;
  kinds: Uint8Array;
  numbers: Float64Array;
  /** The bin of each category, one after another. */
  bins: Uint8Array;
  wholeIfNearer?: true;
  weights: Float32Array;
}

const KINDS = ['ordered', 'missing', 'category', 'number', 'whole'] as const;

export function packTerms({ columns, rules, wholeIfNearer, weights }: LinearTerms): PackedTerms {
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
    ...(wholeIfNearer && { wholeIfNearer }),
    weights,
  };
}

/** @throws LearnerError if a rule is invalid */
export function unpackTerms({
  columns,
  kinds,
  numbers,
  bins,
  wholeIfNearer,
  weights,
}: PackedTerms): LinearTerms {
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
        must(false, 'it has a term of no known kind');
    }
  });
  return { columns, rules, ...(wholeIfNearer !== undefined && { wholeIfNearer }), weights };
}

/** Writes bit-packed integers. */
class BitWriter {
  private bytes = new Uint8Array(1024);
  private size = 0;
  private held = 0;
  private heldBits = 0;

  /** @param bits at most 24; `value` is below 2^bits */
  write(value: number, bits: number): void {
    this.held |= value << this.heldBits;
    this.heldBits += bits;
    while (this.heldBits >= 8) {
      this.put(this.held & 0xff);
      this.held >>>= 8;
      this.heldBits -= 8;
    }
  }

  /** A non-negative integer below 2^32, seven bits at a time (LEB128). */
  writeCount(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) {
      this.write(128 | (rest & 127), 8);
    }
    this.write(rest, 8);
  }

  finish(): Uint8Array {
    if (this.heldBits > 0) {
      this.put(this.held);
    }
    return this.bytes.slice(0, this.size);
  }

  private put(byte: number): void {
    if (this.size === this.bytes.length) {
      const larger = new Uint8Array(this.size * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.size++] = byte;
  }
}

const LARGEST = 2 ** 32;

/** Reads what `BitWriter` wrote. */
class BitReader {
  private at = 0;
  private held = 0;
  private heldBits = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** @throws LearnerError past the end */
  read(bits: number): number {
    while (this.heldBits < bits) {
      must(this.at < this.bytes.length, 'it ends too early');
      this.held |= this.bytes[this.at++] << this.heldBits;
      this.heldBits += 8;
    }
    const value = this.held & ((1 << bits) - 1);
    this.held >>>= bits;
    this.heldBits -= bits;
    return value;
  }

  /** @throws LearnerError past the end, and for a number of 2^32 or more */
  readCount(): number {
    for (let value = 0, scale = 1; scale < LARGEST; scale *= 128) {
      const byte = this.read(8);
      value += (byte & 127) * scale;
      if (byte < 128 && value < LARGEST) {
        return value;
      }
    }
    must(false, 'it counts further than it can hold');
  }
}

/** Bits that integers from 0 to `largest` need. */
function bitsFor(largest: number): number {
  return 32 - Math.clz32(largest);
}
