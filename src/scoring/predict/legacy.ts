import { encodeBatches, openTable, openTableFile, profileTable, readBatches } from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { LegacyPredictRequest } from '../../wire/types';
import type { Context } from '../context/context';
import type { PredictOutcome, PredictRequest, PredictSettings } from '../types';
import { outcomeOf } from './outcome';

/**
 * Predicts by the deprecated route (S 4.7): the table goes as CSV, columns unchecked, to a model by `modelId`.
 * The service may drop the route at any time.
 */
export async function runLegacy(
  { context, settings }: { context: Context; settings: PredictSettings },
  request: PredictRequest,
  signal: AbortSignal,
): Promise<PredictOutcome> {
  const { modelId, task, outputType, options, table: input } = request;
  if (modelId === undefined || modelId === '') {
    throw new ServiceError(
      'model.unknown',
      'The v1 route takes its model from msg.model_id, which is missing.',
    );
  }
  if (task === undefined) {
    throw new ServiceError('config.invalid', 'The v1 route needs a task: set it in the dialog or msg.task.');
  }
  if (input === undefined) {
    throw new ServiceError('table.empty', 'There is no table: the v1 route takes rows, not an upload id.');
  }
  if (outputType !== undefined && !['probas', 'preds', 'mean', 'full'].includes(outputType)) {
    throw new ServiceError('config.invalid', `The v1 route has no output type ${outputType}.`);
  }
  const value = 'value' in input ? input.value : undefined;
  const source =
    'path' in input ? await openTableFile(input.path, { signal }) : await openTable(value, { signal });
  const { columns } = await profileTable(source, { signal });
  const file = await encodeBatches(columns, readBatches(source, columns, { signal }), {
    format: 'csv',
    signal,
  });
  try {
    const client = await context.client();
    const data = {
      ...options,
      model_id: modelId,
      task,
      ...(outputType !== undefined && { output_type: outputType }),
    } as LegacyPredictRequest;
    const result = await client.predictLegacy(
      { data, file, ...(settings.retryPredict === true && { retryAmbiguous: true }) },
      { signal },
    );
    if (result.rows !== file.rows) {
      throw new ServiceError(
        'response.invalid',
        `The service answered ${result.rows} predictions for a table of ${file.rows} rows.`,
      );
    }
    return await outcomeOf(
      result,
      { kind: 'stream', source, value, columns },
      { name: modelId, classes: undefined },
      request.property === undefined || request.property === '' ? 'prediction' : request.property,
      signal,
    );
  } finally {
    await file.dispose();
  }
}
