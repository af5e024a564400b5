import { crc32 } from 'node:zlib';

import type { ResidualForest } from '../../calibration/residuals';
import { columnSpecs } from '../../features/encode';
import type { Kernel } from '../../gaussian/kernel';
import { storedScores } from '../../gaussian/scores';
import { tablesOf } from '../../linear/linear';
import { LearnerError } from '../../types';
import type { Member, Part } from '../members';
import type { Model } from '../model';
import { type PackedForest, packForest, unpackForest } from './pack-forest';
import { type PackedTerms, packTerms, unpackTerms } from './pack-terms';
import { packTrees, unpackTrees } from './pack-trees';

/*
 * A model as bytes: "TPM8", the length and CRC-32 of the rest, the length of a JSON text, the text with every typed
 * array replaced by its position, and the arrays, each aligned to 8 bytes. Trees are bit-packed, and a linear model
 * is stored by its terms. Not compressed: terminating a thread while zlib sets up a stream in it aborts the process
 * (an assertion in Node), and these threads may be terminated.
 */
const MAGIC = 0x384d5054;
/**
 * "TPM4" had neither packed trees nor terms; readers of "TPM5" may know no kernel and no growth; those of "TPM6" no
 * kernel for classes; those of "TPM7" no linear terms that take values as numbers.
 */
const FORMER_MAGICS = [0x344d5054, 0x354d5054, 0x364d5054, 0x374d5054];
/** The format that `saveModel` writes. */
export const MODEL_FORMAT = 'TPM8';
/** The formats that `loadModel` reads. */
export const READ_FORMATS: readonly unknown[] = ['TPM4', 'TPM5', 'TPM6', 'TPM7', MODEL_FORMAT];
/** Formats of earlier versions, which are not read any more. */
export const OUTDATED_FORMATS: readonly unknown[] = ['TPM1', 'TPM2', 'TPM3'];
const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array };
type ArrayName = keyof typeof ARRAYS;

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

interface StoredModel extends Omit<Model, 'members' | 'residuals'> {
  members: (Omit<Member, 'parts'> & { parts: StoredPart[] })[];
  residuals: ResidualForest | PackedForest | undefined;
  /** Shared by all Gaussian processes. */
  kernel?: Kernel;
}

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
  out.writeUInt32LE(MAGIC, 0);
  out.writeUInt32LE(body.length, 4);
  out.writeUInt32LE(crc32(body), 8);
  body.copy(out, 16);
  return out;
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
  if (part.kind !== 'linear') {
    const { trees, ...rest } = part;
    return { ...rest, packed: packTrees(trees).bytes };
  }
  const { tables, ...rest } = part;
  return tables.terms ? { ...rest, terms: packTerms(tables.terms) } : part;
}

function fromStored(stored: StoredModel): Model {
  const { kernel, ...model } = stored;
  const specs = columnSpecs(stored.encoders);
  const scoresOf = kernel && storedScores(kernel);
  const whole = (part: StoredPart): Part => {
    if ('packed' in part && part.packed) {
      const { packed, ...rest } = part;
      return { ...rest, trees: unpackTrees(packed) } as Part;
    }
    if ('terms' in part && part.terms) {
      const { terms, ...rest } = part;
      return {
        ...rest,
        tables: tablesOf(unpackTerms(terms), part.base, specs, stored.centers ?? []),
      } as Part;
    }
    if ('ofFactor' in part && part.ofFactor && scoresOf) {
      const { ofFactor, ...rest } = part;
      return { ...rest, gaussian: scoresOf(ofFactor) } as Part;
    }
    if ('kernelWeights' in part && part.kernelWeights && kernel) {
      const { kernelWeights, ...rest } = part;
      return { ...rest, gaussian: { kernel, weights: kernelWeights } } as Part;
    }
    return part as Part;
  };
  const { residuals } = stored;
  return {
    ...model,
    members: stored.members.map((member) => ({ ...member, parts: member.parts.map(whole) })),
    residuals: residuals && 'packedTrees' in residuals ? unpackForest(residuals) : residuals,
  };
}

/** @throws LearnerError if the bytes are not a model, are damaged, or were written by a newer version */
export function loadModel(bytes: Uint8Array): Model {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 16 || ![MAGIC, ...FORMER_MAGICS].includes(buffer.readUInt32LE(0))) {
    throw new LearnerError('These bytes are not a model of this version.');
  }
  const packed = buffer.subarray(16);
  if (packed.length !== buffer.readUInt32LE(4) || crc32(packed) !== buffer.readUInt32LE(8)) {
    throw new LearnerError('The model is damaged: its checksum does not match.');
  }
  const body = new Uint8Array(packed.length);
  body.set(packed);
  const jsonLength = packed.readUInt32LE(0);
  const start = 8 + Math.ceil(jsonLength / 8) * 8;
  const stored = JSON.parse(packed.toString('utf8', 8, 8 + jsonLength), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    if ('$number' in value) {
      return Number(value.$number);
    }
    if (!('$array' in value)) {
      return value;
    }
    const { $array, at, length } = value as { $array: ArrayName; at: number; length: number };
    return new ARRAYS[$array](body.buffer, start + at, length);
  }) as StoredModel;
  return fromStored(stored);
}
