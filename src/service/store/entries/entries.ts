import type { Label } from '../../../table/cells/types';
import { isObject } from '../../../util/values';
import type { Task } from '../../../wire/vocabulary';

export type SetKind = 'train' | 'test';
export type PartName = 'x' | 'y';

/** One file of an upload, as announced and, once it has arrived, as it is. */
export interface UploadPart {
  format: 'csv' | 'parquet';
  /** Announced size in bytes. */
  announcedBytes?: number;
  /** Announced hash: CRC32C where it can be read as one, else an opaque key for finding duplicates. */
  announcedHash?: string;
  /** How many PUTs make up the file. */
  chunks: number;
  arrived?: { bytes: number; crc: string };
}

/** `upload.json` in the upload's folder; written when the last file has arrived. */
export interface UploadEntry {
  version: 1;
  id: string;
  set: SetKind;
  /** Test sets: the fitted train set that it was prepared for. */
  fittedId?: string;
  description?: string;
  createdAt: number;
  x: UploadPart;
  y?: UploadPart;
}

/** How a feature was trained: its name and what its values are. */
export interface FeatureShape {
  name: string;
  kind: 'number' | 'date' | 'text';
  /** The type in the train file, to read a test file's column alike. */
  type: 'number' | 'integer' | 'bigint' | 'boolean' | 'text' | 'date';
}

/** `model.json` in the model's folder; written when `model.bin` is safe. */
export interface ModelEntry {
  version: 1;
  /** Of `model.bin`. Entries of other versions of this package have another one, or none. */
  format?: string;
  id: string;
  trainSetUploadId: string;
  /** Same key, same fit: what makes a refit needless. */
  fitKey: string;
  task: Task;
  targetName: string;
  features: FeatureShape[];
  classes?: Label[];
  /** The classes are whole numbers, some beyond 2^53, held as text. */
  longClasses?: true;
  rows: number;
  systems: string[];
  config: Record<string, unknown>;
  /** Options that the learner worked with, its defaults included. */
  usedOptions: Record<string, unknown>;
  ignoredOptions: string[];
  report?: unknown;
  bytes: number;
  crc: string;
  createdAt: number;
}

/** Both hold as far as the fields that the service works with; what else a file says is left alone. */
export function isUploadEntry(value: unknown, id: string): value is UploadEntry {
  const entry = value as Partial<UploadEntry> | null | undefined;
  return (
    entry?.version === 1 &&
    entry.id === id &&
    (entry.set === 'train' || entry.set === 'test') &&
    typeof entry.createdAt === 'number' &&
    isArrivedPart(entry.x) &&
    (entry.set === 'test' ? typeof entry.fittedId === 'string' : isArrivedPart(entry.y))
  );
}

function isArrivedPart(part: UploadPart | undefined): boolean {
  return (
    (part?.format === 'csv' || part?.format === 'parquet') &&
    typeof part.arrived?.bytes === 'number' &&
    typeof part.arrived.crc === 'string'
  );
}

export function isModelEntry(value: unknown, id: string): value is ModelEntry {
  const entry = value as Partial<ModelEntry> | null | undefined;
  return (
    entry?.version === 1 &&
    entry.id === id &&
    typeof entry.fitKey === 'string' &&
    typeof entry.trainSetUploadId === 'string' &&
    (entry.task === 'regression' || (entry.task === 'classification' && isListOf(entry.classes, isLabel))) &&
    isListOf(entry.features, isFeatureShape) &&
    isListOf(entry.systems, isText) &&
    isListOf(entry.ignoredOptions, isText) &&
    isObject(entry.usedOptions) &&
    isObject(entry.config) &&
    typeof entry.bytes === 'number' &&
    typeof entry.crc === 'string' &&
    typeof entry.createdAt === 'number'
  );
}

function isFeatureShape(value: unknown): value is FeatureShape {
  const shape = value as Partial<FeatureShape> | null;
  return isText(shape?.name) && KINDS.has(shape.kind!) && TYPES.has(shape.type!);
}

const KINDS = new Set<FeatureShape['kind']>(['number', 'date', 'text']);
const TYPES = new Set<FeatureShape['type']>(['number', 'integer', 'bigint', 'boolean', 'text', 'date']);

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isLabel(value: unknown): value is Label {
  return isText(value) || typeof value === 'number' || typeof value === 'boolean';
}
