import { stat } from 'node:fs/promises';
import path from 'node:path';

import type { ColumnType, FileFormat, Label } from '../../table/cells/types';
import { fileSystemCode, isFolder, isPassing } from '../../util/files';
import { isObject } from '../../util/values';
import type { Task } from '../../wire/vocabulary';
import { type Refusal, unreadableNow } from '../refusal';
import type { StoredEntry } from './entry-store';

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
    (entry.task === 'regression' ||
      (entry.task === 'classification' && isListWith(entry.classes, isLabel))) &&
    isListWith(entry.features, isFeatureShape) &&
    isListWith(entry.systems, isText) &&
    isListWith(entry.ignoredOptions, isText) &&
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

function isListWith<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isLabel(value: unknown): value is Label {
  return isText(value) || typeof value === 'number' || typeof value === 'boolean';
}

/** An uploaded file: on disk, or its bytes. */
export type FileRef = {
  format: FileFormat;
  /** Types of columns that are known, where the format does not tell them. */
  types?: Readonly<Record<string, ColumnType>>;
} & (
  | {
      file: string;
      /** Its size. */
      bytes?: number;
      /** CRC32C that its bytes must have; left out where they were checked since the service started. */
      crc?: string;
      data?: undefined;
    }
  | { data: Uint8Array; file?: undefined; crc?: undefined }
);

/** A part's file as the workers read it; checked by them the first time after a start. */
export function fileRef(item: StoredEntry<UploadEntry>, part: PartName): FileRef {
  const info = item.entry[part]!;
  if (item.data !== undefined) {
    return { data: item.data, format: info.format };
  }
  const file = path.join(item.folder, fileName(part, info));
  const crc = item.verified ? undefined : info.arrived?.crc;
  return { file, format: info.format, bytes: info.arrived?.bytes, crc };
}

/** Name of a part's file in its folder. */
export function fileName(part: PartName, info: UploadPart): string {
  return `${part}.${info.format}`;
}

/**
 * What to answer where a stored file could not be read. Only one that is gone for good, or that has another size than
 * it had when it came, is `damaged`; anything else may pass.
 *
 * @param file `<root>/<id>/<name>`, of an EntryStore
 * @param bytes its size, where that is known
 */
export async function readFailure(
  what: string,
  { file, bytes }: { file: string; bytes?: number },
  error: unknown,
  damaged: (reason: string) => Refusal,
): Promise<Refusal> {
  const code = fileSystemCode(error);
  if (code !== undefined && isPassing(code)) {
    return unreadableNow(what, code);
  }
  try {
    const { size } = await stat(file);
    return bytes !== undefined && size !== bytes
      ? damaged(`it has ${size} bytes instead of ${bytes}`)
      : unreadableNow(what, code ?? 'for a moment');
  } catch (failure) {
    const why = fileSystemCode(failure) ?? 'for a moment';
    // If the root is missing too, its disk may come back.
    return why === 'ENOENT' && (await isFolder(path.dirname(path.dirname(file))))
      ? damaged('it is gone')
      : unreadableNow(what, why);
  }
}
