import { findMissing } from '../client/errors';
import type { PredictResult } from '../client/types';
import type { Evaluation } from '../models/cards';
import { describeExcess, predictToEstimate, sizeExcess } from '../models/limits';
import type { ResolvedModel } from '../models/model-request';
import type { Context } from '../models/service';
import type { Label } from '../table/cells/types';
import type { TableFile } from '../table/storage/table-file';
import { isObject } from '../util/values';
import { ServiceError, toServiceError } from '../wire/service-error';
import { type Effects, type ExplainWish, readEffects } from './causes';
import type { Failed, Result } from './queue';
import type { Unlike } from './unlike';

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

/** What test sets are scored with: the model, and how its predicts are made. */
export interface Scoring {
  context: Context;
  model: ResolvedModel;
  options: ScoreOptions;
}

/** Predictions of the rows of a table. */
export interface Scored extends PredictResult {
  /** For a relative model: what was added to the prediction of each row. */
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
export async function scoreFile(scoring: Scoring, file: TableFile): Promise<Scored> {
  const { context, model, options } = scoring;
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
      result = await predictUpload(scoring, { id: sent.test_set_upload_id, rows: file.rows });
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (!isUploadToBlame(error, sent.reused) || options.budget?.left === 0) {
        throw error;
      }
      if (options.budget !== undefined) {
        options.budget.left--;
      }
      const again = await upload(true);
      result = await predictUpload(scoring, { id: again.test_set_upload_id, rows: file.rows });
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
    throw noteIfDead(scoring, toServiceError(thrown));
  }
}

/** Predicts a test set that has been uploaded. @param rows of it, where they are known */
export async function predictUpload(
  { context, model, options }: Scoring,
  { id, rows }: { id: string; rows: number | undefined },
): Promise<Scored> {
  const client = await context.service.client();
  const asked = context.service.tellsCauses ? options.explain : undefined;
  const config = asked === undefined ? model.options : withExplain(model, asked);
  const result = await context.service.reach.of(
    client.predict(
      {
        rows,
        classes: model.classes?.length,
        test_set_upload_id: id,
        fitted_train_set_id: model.fittedId,
        task: model.task,
        output_type: model.outputType,
        ...(model.quantiles !== undefined && { quantiles: [...model.quantiles] }),
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
export function noteIfDead(
  { context, model }: Pick<Scoring, 'context' | 'model'>,
  error: ServiceError,
): ServiceError {
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
  const missing = findMissing(error);
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

/** Most predict requests for one batch, including the first. */
export const MAX_PREDICTS = 32;

interface Group<Item> {
  items: Item[];
  /** The items surely fail together: their other half has passed, so the culprit is among them. */
  mustFail?: boolean;
  /** The second half of what failed, where this is the first half. */
  other?: Group<Item>;
}

/** The first half is on top. */
function pushHalves<Item>(groups: Group<Item>[], items: Item[]): void {
  const middle = items.length >> 1;
  const second: Group<Item> = { items: items.slice(middle) };
  groups.push(second, { items: items.slice(0, middle), other: second });
}

/** Each refused with the same error. */
function refusals<Item>(items: readonly Item[], error: unknown): Failed<Item>[] {
  return items.map((message) => ({ message, error }));
}

/** Predict requests that a batch may still make to find what the service refuses. */
export interface Budget {
  left: number;
}

interface Halving<Item, Outcome> {
  /** Scores these together: their results, or it throws before the first. */
  score: (items: Item[]) => AsyncIterable<Result<Item, Outcome>>;
  /** Shared by the groups that a batch is sent in; the first predict of each is free. */
  budget: Budget;
}

/**
 * Scores items together; if the service refuses their content (422), in halves, in order, until each culprit is alone.
 * When the budget of predicts is used up, the rest share the refusal.
 */
export async function* scoreByHalves<Item, Outcome>(
  items: Item[],
  { score, budget }: Halving<Item, Outcome>,
): AsyncGenerator<Result<Item, Outcome>> {
  budget.left++;
  const groups: Group<Item>[] = [{ items }];
  let last: ServiceError | undefined;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.mustFail === true && group.items.length > 1) {
      pushHalves(groups, group.items);
      continue;
    }
    if (budget.left <= 0) {
      // The first predict is free, so this is a part of a group that failed.
      yield* refusals(group.items, last!);
      continue;
    }
    budget.left--;
    try {
      yield* score(group.items);
      if (group.other !== undefined) {
        group.other.mustFail = true;
      }
    } catch (thrown) {
      const error = toServiceError(thrown);
      const verdict = judge(error);
      if (error.code === 'cost.exceeded') {
        // Found by an estimate: nothing was sent.
        budget.left++;
      }
      if (verdict === 'split') {
        last = error;
        if (group.items.length > 1) {
          pushHalves(groups, group.items);
          continue;
        }
      }
      yield* refusals(group.items, error);
      if (verdict === 'end') {
        yield* refusals(
          groups.splice(0).flatMap((other) => other.items),
          error,
        );
      }
    }
  }
}

/**
 * What follows from an error. `split`: a smaller group may pass. `fail`: these items fail, other groups may pass.
 * `end`: every group would get it, so all remaining items fail.
 */
function judge({ code }: ServiceError): 'split' | 'fail' | 'end' {
  switch (code) {
    // The service objects to what the rows hold, or to how many they are.
    case 'cost.exceeded':
    case 'validation.failed':
    case 'limit.exceeded':
      return 'split';
    case 'predict.unknown':
    case 'response.invalid':
      return 'fail';
    default:
      return 'end';
  }
}
