import path from 'node:path';

import type { ColumnType, FileFormat } from '../../../table/cells/types';
import type { PartName, UploadEntry, UploadPart } from './entries';
import type { StoredEntry } from './entry-store';

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
