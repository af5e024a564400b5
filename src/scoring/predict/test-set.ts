import { missingOf } from '../../client/errors';
import type { PredictResult } from '../../client/types';
import type { Label, TableFile } from '../../table';
import { isObject } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import { describeExcess, predictToEstimate, sizeExcess } from '../context/limits';
import { type Effects, type ExplainWish, readEffects } from '../explain/effects';
import type { ResolvedModel } from '../models/model-request';
import type { Evaluation } from '../types';
import type { Unlike } from '../unlike/unlike';
import type { Budget } from './bisection';

/**
 * Files up to this size are sent without their hash. A service that finds duplicates by it knows 32 bits and the size:
 * at hundreds of test sets a second two different ones would meet about daily, and a row would get another row's
 * prediction. Sending so few bytes again costs nothing; of a large file the hash saves the transfer.
 */
const NO_HASH_BYTES = 256 * 1024;
/** How many causes an answer may have if the model's columns are not known. */
const MANY_CAUSES = 500;

export interface ScoreOptions {
  signal: AbortSignal;
  retryPredict?: boolean;
  /** Highest estimated cost of the predict; 0: unlimited. */
  maxCost?: number;
  forceRefit?: boolean;
  /** Once it is used up, no predict is repeated. */
  budget?: Budget;
  /** What to explain with the prediction, where the service tells causes. */
  explain?: ExplainWish;
  onProgress?: (sentBytes: number, totalBytes: number) => void;
}

/** Predictions of the rows of a table. */
export interface Scored extends PredictResult {
  /** For a full distribution of a relative model: what to add to the borders of each row. */
  offsets?: readonly number[];
  /** Rows without a value to predict the change from, for a relative model: their prediction is NaN. */
  unpredicted?: number;
  /** The causes of the predictions, if asked for. */
  effects?: Effects;
  /** How unlike the train set each row is, if asked for. */
  unlike?: readonly Unlike[];
  /** How good the predictions are, if asked for. */
  evaluation?: Evaluation;
}

/**
 * Uploads one test set and predicts it. If predict refuses an upload that the service already had
 * (docs/architecture.md, "duplicates") or has lost since, it is sent again by force, once.
 *
 * @throws ServiceError `cost.exceeded`, `limit.exceeded` before anything is sent; `model.unknown` where the model is
 *   gone, or may be; `not_found` where it is the upload again; `response.invalid` when the answer has another number
 *   of rows than the test set
 */
export async function scoreFile(
  context: Context,
  model: ResolvedModel,
  file: TableFile,
  options: ScoreOptions,
): Promise<Scored> {
  const { signal, maxCost = 0 } = options;
  const limits = await context.service.limits.forChecks(signal);
  if (maxCost > 0) {
    const request = predictToEstimate(limits, model, { train: model.trainRows, test: file.rows });
    await context.service.costs.assertAtMost(maxCost, request, signal);
  }
  // Where no upload is kept, the rows go in as many requests as their size needs.
  if (file.bytes > (limits.dataset_max_size_bytes ?? Infinity) && context.service.keepsUploads) {
    const excess = describeExcess(sizeExcess(limits, file.bytes));
    throw new ServiceError('limit.exceeded', `The test set is too large: ${excess}.`);
  }
  const client = await context.service.client();
  const upload = (force: boolean) =>
    context.service.reach.of(
      client.uploadTestSet(
        { fitted_train_set_id: model.fittedId, x: file, force },
        { signal, onProgress: options.onProgress },
      ),
    );
  try {
    const sent = await upload(file.bytes <= NO_HASH_BYTES);
    let result: Scored;
    try {
      result = await predictUpload(context, model, sent.test_set_upload_id, options, file.rows);
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (!isUploadToBlame(error, sent.reused) || options.budget?.left === 0) {
        throw error;
      }
      if (options.budget !== undefined) {
        options.budget.left--;
      }
      const again = await upload(true);
      result = await predictUpload(context, model, again.test_set_upload_id, options, file.rows);
    }
    if (result.rows !== file.rows) {
      throw new ServiceError(
        'response.invalid',
        `The service answered ${result.rows} predictions for a test set of ${file.rows} rows.`,
      );
    }
    context.cards.markAlive(model.fittedId);
    return result;
  } catch (thrown) {
    throw noteIfDead(context, model, toServiceError(thrown));
  }
}

/** Predicts a test set that has been uploaded. */
export async function predictUpload(
  context: Context,
  model: ResolvedModel,
  testSetUploadId: string,
  options: ScoreOptions,
  rows = context.cards.upload(testSetUploadId)?.rows,
): Promise<Scored> {
  const client = await context.service.client();
  const asked = context.service.tellsCauses ? options.explain : undefined;
  const config = asked === undefined ? model.options : withExplain(model, asked);
  const result = await context.service.reach.of(
    client.predict(
      {
        rows,
        classes: model.classes?.length,
        test_set_upload_id: testSetUploadId,
        fitted_train_set_id: model.fittedId,
        task: model.task,
        output_type: model.outputType,
        ...(model.quantiles !== undefined && { quantiles: model.quantiles }),
        ...(Object.keys(config).length > 0 && { svc_config: config }),
        ...(asked !== undefined && { causes: model.columns.length || MANY_CAUSES }),
        ...(options.forceRefit === true && { force_refit: true }),
        ...(options.retryPredict === true && { retryAmbiguous: true }),
      },
      { signal: options.signal },
    ),
  );
  const { explanation, ...metadata } = result.metadata;
  const scored = withKnownLabels({ ...result, metadata }, model.classes);
  return asked === undefined ? scored : { ...scored, effects: readEffects(explanation) };
}

/** The embedded service takes this as an option of its own (docs/embedded-service.md). */
function withExplain(
  { options, relativeTo }: ResolvedModel,
  { groups, label, above }: ExplainWish,
): Record<string, unknown> {
  const inner = isObject(options.inference_config) ? options.inference_config : {};
  const explain: Record<string, unknown> = { GROUPS: groups };
  if (label !== undefined) {
    explain.LABEL = label;
  }
  // The service only knows the change that a relative model predicts, not the level.
  if (above !== undefined && relativeTo === undefined) {
    explain.ABOVE = above;
  }
  return { ...options, inference_config: { ...inner, EXPLAIN: explain } };
}

/** If the service says that it has no such model: marks its card dead, and says in the error what to do. */
export function noteIfDead(context: Context, model: ResolvedModel, error: ServiceError): ServiceError {
  if (error.code !== 'model.unknown') {
    return error;
  }
  context.cards.markDead(model.fittedId);
  return new ServiceError(
    'model.unknown',
    `The service does not have the model "${model.name}" any more. Fit it again. (${error.message})`,
    error.cause,
  );
}

/**
 * Whether the upload, not the model, may be why predict failed. An ambiguous 404 can mean either, so the upload is
 * retried first; only if that fails too is the model considered gone.
 */
function isUploadToBlame(error: ServiceError, reused: boolean): boolean {
  const missing = missingOf(error);
  if (missing !== undefined) {
    return missing === 'upload' || missing === 'unclear';
  }
  return reused && ['not_found', 'model.unknown', 'validation.failed', 'duplicate'].includes(error.code);
}

/**
 * Labels as the train set had them. Where some labels are integers beyond 2^53, all are text here, but a service answers
 * the smaller ones as numbers: one model, one type of label.
 */
function withKnownLabels(result: PredictResult, classes: readonly Label[] | undefined): PredictResult {
  if (classes === undefined || classes.length === 0 || !classes.every((label) => typeof label === 'string')) {
    return result;
  }
  const known = new Set<Label>(classes);
  const ofTrainSet = (label: Label): Label =>
    typeof label === 'number' && known.has(String(label)) ? String(label) : label;
  const { prediction, metadata } = result;
  return {
    ...result,
    prediction:
      prediction.kind === 'labels'
        ? { ...prediction, values: prediction.values.map(ofTrainSet) }
        : prediction,
    metadata:
      metadata.classes === undefined ? metadata : { ...metadata, classes: metadata.classes.map(ofTrainSet) },
  };
}
