import { SliceSizer } from '../../util/concurrency';
import type { Column, Row } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import { batchesOf, type ReadOptions } from '../columns/read-batches';
import { plainCells, type SliceColumn, type SliceSource, type TableForm } from '../columns/slices';
import {
  encodeTrainBatches,
  type TrainSetFiles,
  type TrainSetFilesOptions,
} from '../encoder/encode-train-set';
import { retried } from '../encoder/host';
import { type ProfileOptions, profileSource, type TableProfile } from '../inference/profile';
import { typedRows, valueRows } from './read-rows';
import type { Block, TableSource } from './table-source';

/** A table in memory, which this thread reads slice by slice. */
export class LocalSource implements TableSource {
  constructor(private readonly source: SliceSource) {}

  get form(): TableForm {
    return this.source.form;
  }

  get names(): readonly string[] {
    return this.source.names;
  }

  get rowCount(): number | undefined {
    return this.source.rowCount;
  }

  get objects(): readonly Row[] | undefined {
    return this.source.objects;
  }

  profile(options: ProfileOptions): Promise<TableProfile> {
    return profileSource(this.source, options);
  }

  batches(columns: readonly Column[], options: ReadOptions): AsyncIterable<ColumnBatch> {
    return batchesOf(this.source, columns, options);
  }

  async readRows(signal?: AbortSignal): Promise<Row[]> {
    return this.objects?.slice() ?? (await valueRows(this.source, signal)) ?? typedRows(this, signal);
  }

  async *blocks(signal?: AbortSignal): AsyncIterable<Block> {
    const { names } = this;
    const sizer = new SliceSizer(names.length);
    for await (const slice of this.source.slices({ sizer, signal })) {
      yield { rows: slice.rows, names, columns: names.map((_, index) => kept(slice.column(index))) };
      await sizer.step(signal);
    }
  }

  encodeTrainSet({ columns }: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles> {
    return retried(() =>
      encodeTrainBatches(columns, this.batches(columns, { signal: options.signal }), options),
    );
  }
}

/** A copy of the cells. Fields stay fields, since their types settle over all blocks. */
function kept(column: SliceColumn): SliceColumn {
  return column.kind === 'fields' ? column : { kind: 'values', cells: Array.from(plainCells(column)) };
}
