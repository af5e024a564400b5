import { missingOf } from '../../client/errors';
import {
  addCounts,
  type Column,
  type ColumnBatch,
  encodeBatches,
  fileAsIs,
  profileTable,
  readBatches,
  type TableFile,
  type TableSource,
} from '../../table';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { LegacyPredictRequest } from '../../wire/types';
import type { Context } from '../context/context';
import type { ResolvedModel } from '../models/model-request';
import type { PredictRequest, UploadCard } from '../types';
import type { TrainSetComparison, Unlike } from '../unlike/unlike';
import type { Attachment } from './attach';
import {
  type Attached,
  attachToTable,
  LoneTable,
  MessageTable,
  type OwnTable,
  ROW_BYTES,
  type Scoring,
  UnreadTable,
} from './message-table';
import { rowsPerTestSet, scoreInParts } from './parts';
import { noteIfDead, predictUpload, type Scored, scoreFile } from './test-set';
import { withUnlike } from './why';

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

/** A test set that was uploaded before. */
export class UploadedSet extends LoneTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;

  /** @param card where it was uploaded from here */
  constructor(
    private readonly id: string,
    private readonly card: UploadCard | undefined,
  ) {
    super();
  }

  async score({ context, model: named, options }: Scoring): Promise<Scored> {
    const { id, card } = this;
    // A test set belongs to the model that it was uploaded for, even if its name now refers to a newer one.
    const model: ResolvedModel = {
      ...named,
      fittedId: card?.fitted_train_set_id ?? named.fittedId,
      classes: card?.classes ?? named.classes,
    };
    if (model.relativeTo !== undefined) {
      throw new ServiceError(
        'config.invalid',
        `The model "${model.name}" predicts the change from "${model.relativeTo}", and the rows of an upload are not here to add it to: give the table to the predict node.`,
      );
    }
    const letGo = context.cards.hold(model.fittedId);
    try {
      return await predictUpload(context, model, id, options);
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (missingOf(error) === 'model') {
        throw noteIfDead(context, model, error);
      }
      // The upload id may be the wrong one, so the model is not marked dead.
      throw error.code === 'not_found' || error.code === 'model.unknown'
        ? new ServiceError(
            'not_found',
            `The service has no test set ${id}, or no model ${model.name}: ${error.message}`,
            error.cause,
          )
        : error;
    } finally {
      letGo();
    }
  }

  /** Its rows are not here. */
  attach(): Attached {
    return {};
  }
}

/**
 * A table for the deprecated route (S 4.7): sent as CSV, columns unchecked, to the model `modelId`. The service may
 * drop the route at any time.
 */
export class LegacyTable extends MessageTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;
  private readonly unread: UnreadTable | undefined;
  private opened: OwnTable | undefined;

  constructor(private readonly request: PredictRequest) {
    super();
    this.unread = request.table && new UnreadTable(request.table);
  }

  async score(context: Context, options: { retryPredict?: boolean; signal: AbortSignal }): Promise<Scored> {
    const { data, table } = this.checkedRequest();
    const { signal } = options;
    this.opened = await table.open(signal);
    const { source } = this.opened;
    const { columns } = await profileTable(source, { signal });
    const rows = readBatches(source, columns, { signal });
    const file = await encodeBatches(columns, rows, { format: 'csv', signal });
    try {
      const client = await context.service.client();
      const request = { data, file, ...(options.retryPredict === true && { retryAmbiguous: true }) };
      const result = await client.predictLegacy(request, { signal });
      if (result.rows !== file.rows) {
        throw new ServiceError(
          'response.invalid',
          `The service answered ${result.rows} predictions for a table of ${file.rows} rows.`,
        );
      }
      return result;
    } finally {
      await file.dispose();
    }
  }

  attach(attachment: Attachment, signal: AbortSignal): Attached | Promise<Attached> {
    return this.opened === undefined ? {} : attachToTable(this.opened, attachment, signal);
  }

  private checkedRequest(): { data: LegacyPredictRequest; table: UnreadTable } {
    const { modelId, task, outputType, options } = this.request;
    if (modelId === undefined) {
      throw new ServiceError(
        'model.unknown',
        'The v1 route takes its model from msg.model_id, which is missing.',
      );
    }
    if (task === undefined) {
      throw new ServiceError(
        'config.invalid',
        'The v1 route needs a task: set it in the dialog or msg.task.',
      );
    }
    if (this.unread === undefined) {
      throw new ServiceError('table.empty', 'There is no table: the v1 route takes rows, not an upload id.');
    }
    if (outputType !== undefined && !['probas', 'preds', 'mean', 'full'].includes(outputType)) {
      throw new ServiceError('config.invalid', `The v1 route has no output type ${outputType}.`);
    }
    const data = {
      ...options,
      model_id: modelId,
      task,
      ...(outputType !== undefined && { output_type: outputType }),
    } as LegacyPredictRequest;
    return { data, table: this.unread };
  }
}
