import { encodeBatches, profileTable, readBatches } from '../../../table';
import { ServiceError } from '../../../wire/service-error';
import type { LegacyPredictRequest } from '../../../wire/types';
import type { Context } from '../../context/context';
import type { PredictRequest } from '../../types';
import type { Attachment } from '../answers/attach-predictions';
import type { Scored } from '../test-set/test-set';
import { type Attached, attachToTable, MessageTable, type OwnTable, ROW_BYTES } from './message-table';
import { UnreadTable } from './unread-table';

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
