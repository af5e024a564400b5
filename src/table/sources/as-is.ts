import type { Column } from '../cells/types';
import { retried, startJob } from '../encoder/host';
import type { AsIs } from '../files/check-as-is';
import type { AsIsBounds, PathOrigin } from '../files/origin';
import { storedAs } from '../parquet/arrow-types';
import { type TableFile, userFile } from '../storage/table-file';
import type { TableSource } from './table-source';

/** A Parquet file on disk whose columns already are these: `fileAsIs` may send it as it is. Nothing is read. */
export function fitsAsIs({ parquet, names }: TableSource, columns: readonly Column[]): boolean {
  return parquet !== undefined && storedAs(columns, names, parquet.stored);
}

/**
 * A Parquet file on disk whose columns already are these, to be sent byte for byte; undefined where it has
 * to be encoded again, or has more rows or bytes than `most`. Given as the table that was opened from it, it
 * must not have changed since. Errors: `file.unreadable`, `table.invalid`.
 */
export async function fileAsIs(
  file: string | TableSource,
  columns: readonly Column[],
  options: { signal?: AbortSignal; most?: AsIsBounds; onRead?: (part: number) => void } = {},
): Promise<TableFile | undefined> {
  const { signal, most = {}, onRead } = options;
  const origin: PathOrigin | undefined =
    typeof file === 'string' ? { kind: 'path', path: file } : file.parquet?.origin;
  if (origin === undefined) {
    return undefined;
  }
  const known = await retried(() =>
    startJob({ name: 'asIs', origin, columns: [...columns], most }, signal).result<AsIs | undefined>(
      (answer) => {
        if (answer.kind === 'read') {
          onRead?.(answer.part);
        }
      },
    ),
  );
  return known === undefined ? undefined : userFile(origin.path, 'parquet', known);
}
