import { crc32 } from 'node:zlib';

import type { Calibration } from '../calibration/calibrate';
import type { BucketFloor } from '../calibration/distribution';
import type { ResidualForest } from '../calibration/residuals';
import type { Kernel } from '../gaussian/kernel';
import { type GaussianScores, pointsOf, storedScores } from '../gaussian/scores';
import { type LinearTables, tablesOf } from '../linear/linear';
import { type Member, type Model, numberColumns, type Part } from '../model/model';
import { LearnerError } from '../types';
import {
  areAscending,
  areFinite,
  checkBackground,
  checkCenters,
  checkedColumns,
  checkGrowth,
  checkKernel,
  checkResiduals,
  checkRidge,
  checkTables,
  checkTerms,
  checkTrees,
  type Columns,
  fieldsOf,
  isArrayOf,
  isCount,
  isFiniteNumber,
  isRecord,
  must,
} from './checks';
import {
  type PackedForest,
  type PackedTerms,
  packForest,
  packTerms,
  packTrees,
  unpackForest,
  unpackTerms,
  unpackTrees,
} from './packing';

/*
 * A model as bytes: "TPMA", the length and CRC-32 of the rest, the length of a JSON text, the text with every typed
 * array replaced by its position, and the arrays, each aligned to 8 bytes. Trees are bit-packed, and a linear model
 * is stored by its terms. Not compressed: terminating a thread while zlib sets up a stream in it aborts the process
 * (an assertion in Node), and these threads may be terminated.
 */
/** The format that `saveModel` writes. */
export const MODEL_FORMAT = 'TPMA';
/**
 * The formats that `loadModel` reads. "TPM4" had neither packed trees nor terms; readers of "TPM5" may know no kernel and no
 * growth; those of "TPM6" no kernel for classes; those of "TPM7" no linear terms that take values as numbers; those of "TPM8"
 * no levels divided among columns and no additive kernel; those of "TPM9" no functions of one direction.
 */
export const READ_FORMATS: readonly unknown[] = [
  ...['TPM4', 'TPM5', 'TPM6', 'TPM7', 'TPM8', 'TPM9'],
  MODEL_FORMAT,
];
/** Formats of earlier versions, which are not read any more. */
export const OUTDATED_FORMATS: readonly unknown[] = ['TPM1', 'TPM2', 'TPM3'];
const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array };
type ArrayName = keyof typeof ARRAYS;

/** Equal models give equal bytes. */
export function saveModel(model: Model): Uint8Array {
  const arrays: { at: number; bytes: Uint8Array }[] = [];
  let size = 0;
  const text = JSON.stringify(toStored(model), (_key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { $number: String(value) };
    }
    if (!ArrayBuffer.isView(value)) {
      return value;
    }
    const array = value as Float64Array;
    const at = size;
    arrays.push({ at, bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) });
    size += Math.ceil(array.byteLength / 8) * 8;
    return { $array: array.constructor.name, at, length: array.length };
  });
  const json = Buffer.from(text);
  const start = 8 + Math.ceil(json.length / 8) * 8;
  const body = Buffer.alloc(start + size);
  body.writeUInt32LE(json.length, 0);
  json.copy(body, 8);
  for (const { at, bytes } of arrays) {
    body.set(bytes, start + at);
  }
  const out = Buffer.alloc(16 + body.length);
  out.write(MODEL_FORMAT, 'latin1');
  out.writeUInt32LE(body.length, 4);
  out.writeUInt32LE(crc32(body), 8);
  body.copy(out, 16);
  return out;
}

/** @throws LearnerError if the bytes are not a model, are damaged, or were written by a newer version */
export function loadModel(bytes: Uint8Array): Model {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 16 || !READ_FORMATS.includes(buffer.toString('latin1', 0, 4))) {
    throw new LearnerError('These bytes are not a model of this version.');
  }
  const packed = buffer.subarray(16);
  if (packed.length !== buffer.readUInt32LE(4) || crc32(packed) !== buffer.readUInt32LE(8)) {
    throw new LearnerError('The model is damaged: its checksum does not match.');
  }
  const body = new Uint8Array(packed.length);
  body.set(packed);
  must(packed.length >= 8, 'it ends too early');
  const jsonLength = packed.readUInt32LE(0);
  const start = 8 + Math.ceil(jsonLength / 8) * 8;
  must(start <= packed.length, 'it ends too early');
  return fromStored(parsed(packed.toString('utf8', 8, 8 + jsonLength), body.subarray(start)));
}

/**
 * The value of the text, with its arrays. No two of them share bytes, so all of them together are no larger than the file.
 *
 * @throws LearnerError
 */
function parsed(text: string, bytes: Uint8Array): unknown {
  let left = bytes.length;
  const arrayOf = (value: object): unknown => {
    const { $array: name, at, length } = value as { $array: unknown; at: unknown; length: unknown };
    must(typeof name === 'string' && Object.hasOwn(ARRAYS, name), 'an array is of no known type');
    const type = ARRAYS[name as ArrayName];
    must(isCount(at, bytes.length) && at % 8 === 0 && isCount(length, bytes.length), 'an array is nowhere');
    const size = length * type.BYTES_PER_ELEMENT;
    left -= size;
    must(at + size <= bytes.length && left >= 0, 'its arrays are larger than the file');
    return new type(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, length);
  };
  try {
    return JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== 'object' || value === null) {
        return value;
      }
      return '$number' in value ? Number(value.$number) : '$array' in value ? arrayOf(value) : value;
    });
  } catch (error) {
    // A text nested too deep ends as a RangeError.
    must(!(error instanceof SyntaxError || error instanceof RangeError), 'its text cannot be read');
    throw error;
  }
}

/** Far more than any fit produces. */
const MOST_MEMBERS = 256;
const MOST_PARTS = 256;
const MOST_BUCKETS = 4096;
/** Of the tables of all linear models together. Their terms, which are stored, take up to 250 times less. */
const MOST_TABLE_BYTES = 512e6;

/** A part with its trees packed, or with terms in place of tables. */
type StoredPart =
  | Exclude<Part, { kind: 'gaussian' }>
  | (Omit<Part, 'trees' | 'tables'> & {
      packed?: Uint8Array;
      terms?: PackedTerms;
      /** The weights of a Gaussian process's factor. Older models store those of its kernel. */
      ofFactor?: Float32Array;
      kernelWeights?: Float64Array;
    });

/** A model as it is stored. */
interface StoredModel extends Omit<Model, 'members' | 'residuals'> {
  members: (Omit<Member, 'parts'> & { parts: StoredPart[] })[];
  residuals: ResidualForest | PackedForest | undefined;
  /** Shared by all Gaussian processes. */
  kernel?: Kernel;
}

function toStored(model: Model): StoredModel {
  const members = model.members.map((member) => ({ ...member, parts: member.parts.map(toStoredPart) }));
  const kernel = model.members.flatMap(({ parts }) => parts).find((part) => part.kind === 'gaussian')
    ?.gaussian.kernel;
  return {
    ...model,
    members,
    residuals: model.residuals && packForest(model.residuals),
    ...(kernel && { kernel }),
  };
}

function toStoredPart(part: Part): StoredPart {
  if (part.kind === 'gaussian') {
    const { gaussian, ...rest } = part;
    const { weights, ofFactor } = gaussian;
    return { ...rest, ...(ofFactor ? { ofFactor } : { kernelWeights: weights }) };
  }
  if (part.kind === 'ridge') {
    return part;
  }
  if (part.kind !== 'linear') {
    const { trees, ...rest } = part;
    return { ...rest, packed: packTrees(trees).bytes };
  }
  const { tables, ...rest } = part;
  return tables.terms ? { ...rest, terms: packTerms(tables.terms) } : part;
}

/**
 * The model of what a file holds, which may be anything. All that predicting and explaining rest on is checked here, in
 * one pass over its numbers, so that they end, and read nothing beyond their arrays.
 *
 * @throws LearnerError
 */
function fromStored(value: unknown): Model {
  must(isRecord(value), 'it holds no model');
  const { kernel, ...stored } = value as unknown as StoredModel;
  const columns = checkedColumns(stored.features, stored.encoders);
  const width = checkedWidth(stored);
  checkCenters(stored.centers, columns);
  checkGrowth(stored.growth, columns);
  const read = new PartReader(columns, width, stored.centers ?? [], kernel);
  const members = membersOf(stored.members, width, (part) => read.part(part));
  checkBackground(stored.background, columns, alongLines(members));
  return { ...stored, members, residuals: residualsOf(stored, columns.specs.length) };
}

/** Checks how scores become answers. @returns scores per row */
function checkedWidth({ task, classes, center, scale, report, ...stored }: StoredModel): number {
  must(Array.isArray(classes) && isRecord(report), 'it holds no classes, or no report');
  must(isFiniteNumber(center) && isFiniteNumber(scale), 'it has no scale');
  if (task === 'regression') {
    must(stored.calibration === undefined && classes.length === 0, 'it is of numbers and of classes');
    must([undefined, true].includes(stored.meanOfDistribution), 'its mean is of no known kind');
    return 1;
  }
  must(task === 'classification' && stored.residuals === undefined, 'it is of no known task');
  must(
    classes.length > 0 && classes.every((label) => ['string', 'number', 'boolean'].includes(typeof label)),
    'a class has no label',
  );
  checkCalibration(stored.calibration, classes.length);
  const { threshold } = stored;
  must(
    threshold === undefined ||
      (isRecord(threshold) &&
        classes.length === 2 &&
        isCount(threshold.of, 1) &&
        isFiniteNumber(threshold.at)),
    'its threshold is of no class',
  );
  return classes.length === 2 ? 1 : classes.length;
}

function checkCalibration(value: Calibration | undefined, classes: number): void {
  const { temperature, noise, priors, averageScores, softmaxTemperature, balance } =
    fieldsOf<Calibration>(value);
  must(
    [temperature, softmaxTemperature].every((one) => isFiniteNumber(one) && one > 0) &&
      isFiniteNumber(noise) &&
      noise >= 0 &&
      noise <= 1 &&
      isArrayOf(Float64Array, priors, classes) &&
      areFinite(priors) &&
      priors.every((prior) => prior >= 0) &&
      typeof averageScores === 'boolean' &&
      typeof balance === 'boolean',
    'it is not calibrated',
  );
}

function membersOf(stored: unknown, width: number, read: (part: StoredPart) => Part): Member[] {
  must(Array.isArray(stored) && stored.length > 0 && stored.length <= MOST_MEMBERS, 'it has no members');
  return stored.map((value: unknown) => {
    const member = (isRecord(value) ? value : {}) as unknown as StoredModel['members'][number];
    const { weight, parts } = member;
    must(
      isFiniteNumber(weight) && member.width === width && Array.isArray(parts) && parts.length <= MOST_PARTS,
      'a member has no parts',
    );
    return { weight, width, parts: parts.map(read) };
  });
}

/** Reads the parts of all members. */
class PartReader {
  private tableBytes = 0;
  private readonly scoresOf: ((ofFactor: Float32Array) => GaussianScores) | undefined;

  constructor(
    private readonly columns: Columns,
    private readonly width: number,
    private readonly centers: NonNullable<Model['centers']>,
    private readonly kernel: Kernel | undefined,
  ) {
    if (kernel !== undefined) {
      checkKernel(kernel, columns);
      this.scoresOf = storedScores(kernel);
    }
  }

  part(value: StoredPart): Part {
    must(isRecord(value), 'a part is nothing');
    const { kind, weight, base } = value;
    must(
      isFiniteNumber(weight) && isArrayOf(Float64Array, base, this.width) && areFinite(base),
      'a part has no base',
    );
    switch (kind) {
      case 'trees':
      case 'votes': {
        const trees: unknown =
          'packed' in value ? unpackedTrees(value.packed) : (value as Part & { kind: 'trees' }).trees;
        checkTrees(trees, this.columns.specs.length, this.width);
        return { kind, weight, base, trees };
      }
      case 'linear':
        return { kind, weight, base, tables: this.tables(value, base) };
      case 'gaussian':
        return { kind, weight, base, gaussian: this.gaussian(value) };
      case 'ridge': {
        const { ridge } = value as { ridge?: unknown };
        must(this.width === 1, 'a function of one direction is of classes');
        checkRidge(ridge, this.columns);
        return { kind, weight, base, ridge };
      }
      default:
        must(false, 'a part is of no known kind');
    }
  }

  private tables(value: StoredPart, base: Float64Array): LinearTables {
    const { columns, width } = this;
    if (!('terms' in value)) {
      const { tables } = value as Part & { kind: 'linear' };
      checkTables(tables, columns, width);
      return tables;
    }
    must(isRecord(value.terms), 'a linear model has no terms');
    const terms = unpackTerms(value.terms);
    checkTerms(terms, columns, width);
    for (const column of new Set(terms.columns)) {
      this.tableBytes += columns.specs[column].bins * width * 4;
    }
    must(this.tableBytes <= MOST_TABLE_BYTES, 'its linear models are too large');
    return tablesOf(terms, base, columns.specs, this.centers);
  }

  private gaussian(value: StoredPart): GaussianScores {
    const { kernel, scoresOf, width } = this;
    must(kernel !== undefined && scoresOf !== undefined, 'a Gaussian process has no kernel');
    const { ofFactor, kernelWeights } = value as { ofFactor?: unknown; kernelWeights?: unknown };
    const length = width * pointsOf(kernel);
    if (isArrayOf(Float32Array, ofFactor, length) && areFinite(ofFactor)) {
      const scores = scoresOf(ofFactor);
      must(areFinite(scores.weights), 'the points of a Gaussian process are alike');
      return scores;
    }
    must(
      isArrayOf(Float64Array, kernelWeights, length) && areFinite(kernelWeights),
      'a Gaussian process lacks weights',
    );
    return { kernel, weights: kernelWeights };
  }
}

function unpackedTrees(packed: unknown): unknown {
  must(isArrayOf(Uint8Array, packed), 'its trees are no bytes');
  return unpackTrees(packed);
}

/** Columns that a line or a direction of some member takes as numbers. */
function alongLines(members: Member[]): Set<number> {
  const parts = members.flatMap((member) => member.parts);
  return new Set(parts.flatMap((part) => (part.kind === 'gaussian' ? [] : Array.from(numberColumns(part)))));
}

function checkFloor(floor: BucketFloor | undefined, buckets: number): void {
  if (floor === undefined) {
    return;
  }
  const { weight, shares } = fieldsOf<BucketFloor>(floor);
  must(
    isFiniteNumber(weight) &&
      weight >= 0 &&
      weight <= 1 &&
      isArrayOf(Float64Array, shares, buckets) &&
      shares.every((share) => share > 0 && share <= 1),
    'the floor of its distribution is of no buckets',
  );
}

/** @param columns without that of the prediction */
function residualsOf(
  { task, residuals, borders, floor }: StoredModel,
  columns: number,
): ResidualForest | undefined {
  if (task === 'classification') {
    return undefined;
  }
  must(
    isArrayOf(Float64Array, borders) &&
      borders.length > 1 &&
      borders.length <= MOST_BUCKETS &&
      areAscending(borders),
    'the borders of its distribution do not ascend',
  );
  checkFloor(floor, borders.length - 1);
  must(isRecord(residuals), 'it has no residuals');
  const forest: unknown =
    'packedTrees' in residuals ? unpackForest(residuals as unknown as PackedForest) : residuals;
  checkResiduals(forest, columns);
  return forest;
}
