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
  type Split,
  TreeBuilder,
  type Trees,
} from '../trees/trees';
import { BitReader, type Bits, bitsFor, BitWriter } from './bits';
import { checked, f64, must, u8 } from './checks';

/*
 * Bit-packed trees. Nodes are stored level by level, so that child indices are implicit: one bit marks a leaf; a
 * branch has its column, bin and side of missing values. Leaf values take 16 bits if they lie on the grid of their
 * tree (`roundToGrid`), else 32. The functions that begin with `code` write what they are given, or read it: they return it.
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
  const { roots, feature, left, values, width } = trees;
  const orders = Array.from(roots, (root) => levels(trees, root));
  const leaves: number[] = [];
  /** Where the values of a leaf begin in `Trees.values` → its place in `leaves`; -1 before it has one. */
  const placeOf = new Int32Array(values.length).fill(-1);
  let ends = 0;
  for (const nodes of orders) {
    for (const node of nodes) {
      if (feature[node] === LEAF) {
        ends++;
        if (placeOf[left[node]] < 0) {
          placeOf[left[node]] = leaves.push(left[node]) - 1;
        }
      }
    }
  }
  const bits = new BitWriter();
  const featureBits = bitsFor(feature.reduce((most, one) => (one === LEAF ? most : Math.max(most, one)), 0));
  const shares = leaves.length < ends;
  bits.count(width);
  bits.count(roots.length);
  bits.count(feature.length - ends);
  bits.code(5, featureBits);
  bits.flag(shares);
  let known = 0;
  for (const nodes of orders) {
    const step = codeStep(bits, findGrid(trees, nodes));
    for (const node of nodes) {
      const at = left[node];
      if (!bits.flag(feature[node] === LEAF)) {
        codeSplit(bits, featureBits, readSplit(trees, node));
      } else if (shares && bits.flag(placeOf[at] < known)) {
        bits.count(placeOf[at]);
      } else {
        known++;
        for (let k = 0; k < width; k++) {
          codeValue(bits, step, values[at + k]);
        }
      }
    }
  }
  return { bytes: bits.finish(), leaves };
}

/** @throws LearnerError for what is no bytes, or bytes that are not trees */
export function unpackTrees(packed: unknown): Trees {
  must(u8()(packed), 'its trees are no bytes');
  const bits = new BitReader(packed);
  const width = bits.count();
  const count = bits.count();
  const branches = bits.count();
  // Larger claims than bits are refused before allocating.
  const leaves = branches + count;
  const own = leaves > 0 ? width : 0;
  const least = count * EXPONENT_BITS + branches * BRANCH_BITS + leaves * LEAF_BITS;
  const isRoom = Math.max(least, own * VALUE_BITS) <= packed.length * 8;
  must(width >= 1 && isRoom, 'it claims more trees than it can hold');
  const featureBits = bits.code(5);
  const shares = bits.flag();
  const builder = new TreeBuilder(width);
  const values = new Float64Array(own);
  for (let tree = 0; tree < count; tree++) {
    const step = codeStep(bits);
    for (let node = builder.addRoot(); node < builder.nodes; node++) {
      if (!bits.flag()) {
        builder.split(node, codeSplit(bits, featureBits));
        must(builder.nodes <= branches + leaves, 'it has more nodes than it says');
      } else if (shares && bits.flag()) {
        builder.shareLeaf(node, bits.count() * width);
      } else {
        for (let k = 0; k < width; k++) {
          values[k] = codeValue(bits, step);
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

function readSplit(trees: Trees, node: number): Split {
  const { feature, bin, sets, setAt } = trees;
  const at = setAt[node];
  const set = isCategoryNode(trees, node) ? sets.subarray(at, at + SET_WORDS) : undefined;
  return { column: feature[node], bin: bin[node], missingLeft: goesMissingLeft(trees, node), set };
}

/** The exponent of the grid on which all values of a tree lie, if there is one. */
function findGrid({ feature, left, values, width }: Trees, nodes: number[]): number | undefined {
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

/** The step of the grid of a tree's values, if they are on one. */
function codeStep(bits: Bits, exponent?: number): number | undefined {
  const coded = bits.code(EXPONENT_BITS, exponent === undefined ? 0 : exponent + EXPONENT_BIAS);
  return coded === 0 ? undefined : powerOfTwo(coded - EXPONENT_BIAS);
}

function codeSplit(bits: Bits, featureBits: number, split?: Split): Split {
  const column = bits.code(featureBits, split?.column);
  if (bits.flag(split?.set !== undefined)) {
    const set = codeSet(bits, split?.set);
    return { column, bin: 0, missingLeft: (set[0] & 1) === 1, set };
  }
  const bin = bits.code(8, split?.bin);
  return { column, bin, missingLeft: bits.flag(split?.missingLeft), set: undefined };
}

/** Drops trailing bytes that are all 0 or all 255: categories that no row of the node has share a side. */
function codeSet(bits: Bits, set: Int32Array = new Int32Array(SET_WORDS)): Int32Array {
  const byteOf = (i: number) => (set[i >> 2] >>> ((i & 3) * 8)) & 0xff;
  const bytes = SET_WORDS * 4;
  const last = byteOf(bytes - 1);
  let most = bytes;
  while ((last === 0 || last === 255) && most > 0 && byteOf(most - 1) === last) {
    most--;
  }
  const length = bits.code(SET_LENGTH_BITS, most);
  const coded = new Int32Array(SET_WORDS).fill(bits.flag((last & 1) === 1) ? -1 : 0);
  must(length <= bytes, 'it has a set of too many categories');
  for (let i = 0; i < length; i++) {
    const shift = (i & 3) * 8;
    coded[i >> 2] = (coded[i >> 2] & ~(0xff << shift)) | (bits.code(8, byteOf(i)) << shift);
  }
  return coded;
}

function codeValue(bits: Bits, step: number | undefined, value = 0): number {
  if (step !== undefined) {
    return ((bits.code(VALUE_BITS, (value / step) & 0xffff) << 16) >> 16) * step;
  }
  float[0] = value;
  floatHalves[0] = bits.code(16, floatHalves[0]);
  floatHalves[1] = bits.code(16, floatHalves[1]);
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
  const bits = new BitWriter();
  for (const leaf of leaves) {
    codeAtoms(bits, [], members.slice(offsets[leaf], offsets[leaf + 1]).sort());
  }
  return { ...rest, packedTrees: bytes, leaves: bits.finish() };
}

/** @throws LearnerError for bytes that are not a forest */
export function unpackForest(packed: PackedForest): ResidualForest {
  const { packedTrees, leaves, ...rest } = checked<PackedForest>(packed, {
    'its residuals are no bytes': { packedTrees: u8(), leaves: u8() },
  });
  const trees = unpackTrees(packedTrees);
  const bits = new BitReader(leaves);
  const offsets = new Int32Array(trees.values.length + 1);
  const members: number[] = [];
  for (let leaf = 0; leaf < trees.values.length; leaf++) {
    codeAtoms(bits, members);
    offsets[leaf + 1] = members.length;
  }
  return { ...rest, trees, offsets, members: Uint16Array.from(members) };
}

/** Adds the atoms of a leaf to `listed`. @param atoms ascending */
function codeAtoms(bits: Bits, listed: number[], atoms?: Uint16Array): void {
  const gaps = atoms?.map((atom, i) => atom - (i > 0 ? atoms[i - 1] : 0));
  const count = bits.count(atoms?.length);
  const gapBits = bits.code(GAP_BITS, bitsFor(gaps?.reduce((most, gap) => Math.max(most, gap), 0) ?? 0));
  // Gaps of 0 bits take no space in the file, but their atoms would take memory.
  must(listed.length + count <= MAX_ATOMS_LISTED, 'a leaf claims too many rows');
  for (let i = 0, atom = 0; i < count; i++) {
    atom += bits.code(gapBits, gaps?.[i]);
    listed.push(atom);
  }
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

/** The kinds of rules, which are stored by their places here, and the numbers of each. */
const RULES = [
  ['ordered', ['mean', 'scale']],
  ['missing', ['share']],
  ['category', ['bin']],
  ['number', ['mean', 'scale', 'low', 'high']],
  ['whole', ['mean', 'scale', 'low', 'high']],
] as const;
const KINDS = RULES.map(([kind]) => kind);

export function packTerms({ columns, rules, wholeIfNearer, weights }: LinearTerms): PackedTerms {
  const numbersOf = (rule: TermRule) =>
    RULES[KINDS.indexOf(rule.kind)][1].map((name) => (rule as unknown as Record<string, number>)[name]);
  const isCategory = ({ kind }: TermRule) => kind === 'category';
  return {
    columns,
    kinds: Uint8Array.from(rules, ({ kind }) => KINDS.indexOf(kind)),
    numbers: Float64Array.from(rules.filter((rule) => !isCategory(rule)).flatMap(numbersOf)),
    bins: Uint8Array.from(rules.filter(isCategory).flatMap(numbersOf)),
    ...(wholeIfNearer && { wholeIfNearer }),
    weights,
  };
}

/** @throws LearnerError if a rule is invalid */
export function unpackTerms(packed: unknown): LinearTerms {
  const { columns, kinds, numbers, bins, wholeIfNearer, weights } = checked<PackedTerms>(packed, {
    'a linear model has no terms': {},
    'its terms are no numbers': { kinds: u8(), numbers: f64(), bins: u8() },
  });
  const [number, bin] = [numbers.values(), bins.values()];
  const rules = Array.from(kinds, (code) => {
    must(code < RULES.length, 'it has a term of no known kind');
    const [kind, names] = RULES[code];
    const from = kind === 'category' ? bin : number;
    const own = names.map((name) => [name, from.next().value]);
    return { kind, ...Object.fromEntries(own) } as TermRule;
  });
  return { columns, rules, ...(wholeIfNearer !== undefined && { wholeIfNearer }), weights };
}
