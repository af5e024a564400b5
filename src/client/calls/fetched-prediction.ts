import type { Static } from '@sinclair/typebox';

import type { PredictResponseSchema } from '../../wire/schemas';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { malformedAnswer, parseAnswer } from '../errors/answer';
import type { Call } from '../retry/deadline';
import type { RequestPlan } from '../retry/request';
import { downloadFile } from '../storage/download';
import type { Core } from './core';

/**
 * The prediction of an answer: in the answer itself, or fetched from the signed URL that the answer has in its place.
 * @throws ServiceError `predict.unknown` where it cannot be fetched: by then the predict has been carried out, and
 *   another one would cost again; `service.unavailable` where predicts are free
 */
export async function predictionOf(
  core: Core,
  call: Call,
  plan: Pick<RequestPlan, 'maxBytes' | 'labels'>,
  { prediction, prediction_uri: uri }: Static<typeof PredictResponseSchema>,
): Promise<unknown> {
  if (prediction !== undefined && prediction !== null) {
    return prediction;
  }
  if (uri === undefined || uri === null) {
    throw malformedAnswer('predict', 'prediction is required');
  }
  let text: string;
  try {
    const { wiring, gates } = core;
    const bytes = await downloadFile(wiring, call, gates.storage, uri, 'prediction', plan.maxBytes!);
    text = bytes.toString('utf8');
  } catch (error) {
    if (call.ending === 'cancelled') {
      throw error;
    }
    const { message, cause } = toServiceError(error);
    throw lostPrediction(core, message, cause);
  }
  const value = parseAnswer(text, plan.labels === 'preds' ? 'preds' : undefined);
  if (typeof value !== 'object' || value === null) {
    throw lostPrediction(core, `It is not JSON (${text.length} characters).`);
  }
  return value;
}

function lostPrediction(
  { settings: { free } }: Core,
  reason: string,
  cause?: ServiceError['cause'],
): ServiceError {
  const message = `The service has predicted, but its prediction could not be fetched. ${reason}`;
  return free
    ? new ServiceError('service.unavailable', message, cause)
    : new ServiceError(
        'predict.unknown',
        `${message} The predict has been carried out and may have been metered, so it is not repeated.`,
        cause,
      );
}
