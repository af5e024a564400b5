import { crc32 } from 'node:zlib';

import type { Kernel } from '../gaussian/kernel';
import { countPoints, type GaussianScores, storedScores } from '../gaussian/scores';
import { expandTerms, type LinearTables } from '../linear/linear';
import { type Member, type Model, numberColumns, type Part } from '../model/model';
import { LearnerError } from '../types';
import { among, areFinite, checked, f32, f64, isFiniteNumber, isRecord, listOf, must, upTo } from './checks';
import {
  checkAnswers,
  checkBackground,
  checkBuckets,
  checkTerms,
  type Columns,
  readColumns,
  readKernel,
  readRidge,
  residualsOf,
  storedTables,
  treesOf,
} from './fields';
import { MODEL_FORMAT, READ_FORMATS } from './formats';
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
  const isPlace = upTo(bytes.length);
  const arrayOf = (value: object): unknown => {
    const { $array: name, at, length } = value as { $array: unknown; at: number; length: number };
    must(typeof name === 'string' && Object.hasOwn(ARRAYS, name), 'an array is of no known type');
    const type = ARRAYS[name as ArrayName];
    must(isPlace(at) && at % 8 === 0 && isPlace(length), 'an array is nowhere');
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
/** Of the tables of all linear models together. Their terms, which are stored, take up to 250 times less. */
const MOST_TABLE_BYTES = 512e6;

/** A part with its trees packed, with terms in place of tables, or with the weights of a Gaussian process alone. */
type StoredPart = Pick<Part, 'kind' | 'weight' | 'base'> & {
  packed?: Uint8Array;
  terms?: PackedTerms;
  /** The weights of a Gaussian process's factor. Older models store those of its kernel. */
  ofFactor?: Float32Array;
  kernelWeights?: Float64Array;
  /** Of older models, and of a function of one direction. */
  trees?: unknown;
  tables?: unknown;
  ridge?: unknown;
};

/** A model as it is stored. */
interface StoredModel extends Omit<Model, 'members' | 'residuals'> {
  members: (Omit<Member, 'parts'> & { parts: StoredPart[] })[];
  residuals: PackedForest | undefined;
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
  switch (part.kind) {
    case 'gaussian': {
      const { gaussian, ...rest } = part;
      const { weights, ofFactor } = gaussian;
      return { ...rest, ...(ofFactor ? { ofFactor } : { kernelWeights: weights }) };
    }
    case 'linear': {
      const { tables, ...rest } = part;
      return tables.terms ? { ...rest, terms: packTerms(tables.terms) } : part;
    }
    case 'ridge':
      return part;
    default: {
      const { trees, ...rest } = part;
      return { ...rest, packed: packTrees(trees).bytes };
    }
  }
}

/** The model of what a file holds, which may be anything. @throws LearnerError */
function fromStored(value: unknown): Model {
  const { kernel, ...stored } = checked<StoredModel>(value, { 'it holds no model': {} });
  const columns = readColumns(stored.features, stored.encoders);
  const width = checkAnswers(stored as Model, columns);
  const reader = new PartReader(columns, width, stored.centers ?? [], kernel);
  const members = reader.members(stored.members);
  if (stored.background !== undefined) {
    checkBackground(stored.background, columns, alongLines(members));
  }
  if (stored.task === 'classification') {
    return { ...stored, members, residuals: undefined };
  }
  checkBuckets(stored as Model);
  const { residuals } = stored;
  const forest = isRecord(residuals) && 'packedTrees' in residuals ? unpackForest(residuals) : residuals;
  return { ...stored, members, residuals: residualsOf(forest, columns.specs.length) };
}

/** Reads the parts of all members. */
class PartReader {
  private tableBytes = 0;
  private readonly kernel: Kernel | undefined;
  private readonly scoresOf: ((ofFactor: Float32Array) => GaussianScores) | undefined;

  constructor(
    private readonly columns: Columns,
    private readonly width: number,
    private readonly centers: NonNullable<Model['centers']>,
    kernel: unknown,
  ) {
    if (kernel !== undefined) {
      this.kernel = readKernel(kernel, columns);
      this.scoresOf = storedScores(this.kernel);
    }
  }

  members(stored: unknown): Member[] {
    must(listOf([1, MOST_MEMBERS])(stored), 'it has no members');
    const { width } = this;
    return (stored as unknown[]).map((value) => {
      const { weight, parts } = checked<StoredModel['members'][number]>(value, {
        'a member has no parts': {
          weight: isFiniteNumber,
          width: among([width]),
          parts: listOf([0, MOST_PARTS]),
        },
      });
      return { weight, width, parts: parts.map((part) => this.part(part)) };
    });
  }

  private part(value: unknown): Part {
    const { columns, width } = this;
    const part = checked<StoredPart>(value, {
      'a part is nothing': {},
      'a part has no base': { weight: isFiniteNumber, base: f64(width, areFinite) },
    });
    const { kind, weight, base } = part;
    switch (kind) {
      case 'trees':
      case 'votes': {
        const trees = 'packed' in part ? unpackTrees(part.packed) : part.trees;
        return { kind, weight, base, trees: treesOf(trees, columns.specs.length, width) };
      }
      case 'linear':
        return { kind, weight, base, tables: this.tables(part) };
      case 'gaussian':
        return { kind, weight, base, gaussian: this.gaussian(part) };
      case 'ridge':
        must(width === 1, 'a function of one direction is of classes');
        return { kind, weight, base, ridge: readRidge(part.ridge, columns) };
      default:
        must(false, 'a part is of no known kind');
    }
  }

  private tables(part: StoredPart): LinearTables {
    const { columns, width } = this;
    if (!('terms' in part)) {
      return storedTables(part.tables, columns, width);
    }
    const terms = unpackTerms(part.terms);
    checkTerms(terms, columns, width);
    for (const column of new Set(terms.columns)) {
      this.tableBytes += columns.specs[column].bins * width * 4;
    }
    must(this.tableBytes <= MOST_TABLE_BYTES, 'its linear models are too large');
    return expandTerms(terms, part.base, columns.specs, this.centers);
  }

  private gaussian(part: StoredPart): GaussianScores {
    const { kernel, scoresOf, width } = this;
    must(kernel !== undefined && scoresOf !== undefined, 'a Gaussian process has no kernel');
    const length = width * countPoints(kernel);
    if (f32(length, areFinite)(part.ofFactor)) {
      const scores = scoresOf(part.ofFactor);
      must(areFinite(scores.weights), 'the points of a Gaussian process are alike');
      return scores;
    }
    const { kernelWeights } = checked<StoredPart>(part, {
      'a Gaussian process lacks weights': { kernelWeights: f64(length, areFinite) },
    });
    return { kernel, weights: kernelWeights! };
  }
}

/** Columns that a line or a direction of some member takes as numbers. */
function alongLines(members: Member[]): Set<number> {
  const parts = members.flatMap((member) => member.parts);
  return new Set(parts.flatMap((part) => (part.kind === 'gaussian' ? [] : Array.from(numberColumns(part)))));
}
