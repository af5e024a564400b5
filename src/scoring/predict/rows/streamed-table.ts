import {
  addCounts,
  type Column,
  type ColumnBatch,
  fileAsIs,
  readBatches,
  type TableFile,
  type TableSource,
} from '../../../table';
import type { Context } from '../../context/context';
import type { ResolvedModel } from '../../models/model-request';
import type { TrainSetComparison, Unlike } from '../../unlike/unlike';
import type { Attachment } from '../answers/attach-predictions';
import { withUnlike } from '../causes/unlike-rows';
import { rowsPerTestSet, scoreInParts } from '../test-set/parts';
import { type Scored, scoreFile } from '../test-set/test-set';
import {
  type Attached,
  attachToTable,
  LoneTable,
  type OwnTable,
  ROW_BYTES,
  type Scoring,
} from './message-table';

export interface StreamingOptions {
  missingColumns?: 'error' | 'fill';
  /** A Parquet file on disk that has the columns already, so that it may be uploaded unchanged. */
  asIs?: boolean;
}

/** A table too large to hold in memory, or of unknown length: read as it is sent. */
export class StreamedTable extends LoneTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;

  constructor(
    private readonly opened: OwnTable,
    override readonly columns: readonly Column[],
    private readonly choices: StreamingOptions,
  ) {
    super();
  }

  async score({ context, model, options, hooks, comparison }: Scoring): Promise<Scored> {
    const { source } = this.opened;
    const columns = model.columns.length > 0 ? model.columns : this.columns;
    let done = 0;
    const showPredicting = (): void => hooks?.onStatus?.({ key: 'predicting', done, total: source.rowCount });
    let uploaded = false;
    // After the first part, progress is counted in scored rows, not in uploaded bytes.
    const onUpload = (sent: number, total: number, allSent = sent >= total): void => {
      uploaded ||= allSent;
      if (uploaded || done > 0) {
        showPredicting();
      } else {
        hooks?.onStatus?.({ key: 'uploading', sent, total });
      }
    };
    const file = await this.wholeFile(context, columns, model, { signal: options.signal, comparison });
    if (file !== undefined) {
      return scoreFile(context, model, file, { ...options, onProgress: onUpload });
    }
    const read = this.batches(columns, options.signal);
    const unlike: Unlike[] = [];
    const batches = comparison === undefined ? read : withUnlike(comparison, columns, read, unlike);
    const scored = await scoreInParts(context, model, columns, batches, {
      ...options,
      rows: source.rowCount,
      onUpload,
      onRows: (rows) => {
        done += rows;
        showPredicting();
      },
    });
    return comparison === undefined ? scored : { ...scored, unlike };
  }

  override source(): Promise<TableSource> {
    return Promise.resolve(this.opened.source);
  }

  attach(attachment: Attachment, signal: AbortSignal): Promise<Attached> {
    return attachToTable(this.opened, attachment, signal);
  }

  /** Its rows; counts the cells that are taken as missing. */
  private async *batches(columns: readonly Column[], signal: AbortSignal): AsyncIterable<ColumnBatch> {
    const { missingColumns } = this.choices;
    for await (const batch of readBatches(this.opened.source, columns, { missingColumns, signal })) {
      if (batch.cleaned !== undefined) {
        addCounts((this.cleaned ??= {}), batch.cleaned);
      }
      yield batch;
    }
  }

  /** The Parquet file, if it has the columns and need not be split, to be sent unchanged. */
  private async wholeFile(
    context: Context,
    columns: readonly Column[],
    model: ResolvedModel,
    { signal, comparison }: { signal: AbortSignal; comparison?: TrainSetComparison },
  ): Promise<TableFile | undefined> {
    // A relative model needs the rows here, to add its predictions to; so does a comparison.
    if (this.choices.asIs !== true || model.relativeTo !== undefined || comparison !== undefined) {
      return undefined;
    }
    const rows = await rowsPerTestSet(context, model, columns.length, signal);
    const { dataset_max_size_bytes: bytes } = await context.service.limits.forChecks(signal);
    return fileAsIs(this.opened.source, columns, { signal, most: { rows, bytes } });
  }
}
