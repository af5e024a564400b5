import { ServiceError } from '../service-error';
import { DEFAULT_OUTPUT_TYPE, OUTPUTS, type OutputType } from '../vocabulary';
import { type DistributionPrediction, DISTRIBUTIONS } from './distributions';
import { invalidPrediction, type PredictionContext, type PredictionKind } from './kind';
import { type PointPrediction, POINTS } from './points';

export type { Digits, PredictionContext, Telling } from './kind';
export { likeliest } from './points';

/** Predictions in one form, whatever shape the service answered with. */
export type Prediction = PointPrediction | DistributionPrediction;

type PredictionOf<Kind extends Prediction['kind']> = Extract<Prediction, { kind: Kind }>;

const KINDS = { ...POINTS, ...DISTRIBUTIONS };

/** What is particular to a prediction. */
export function findKind({ kind }: Pick<Prediction, 'kind'>): PredictionKind<Prediction> {
  return KINDS[kind];
}

/** What is particular to the predictions of an output type. */
export function kindOfOutput(output: OutputType): PredictionKind<Prediction> {
  return findKind(OUTPUTS[output]);
}

/**
 * Reads the `prediction` of a predict response (S 4.4; shapes as docs/architecture.md settles them).
 * @throws ServiceError `response.invalid`, naming the place, for a shape that the request doesn't allow.
 */
export function readPrediction(raw: unknown, context: PredictionContext): Prediction {
  const output = context.output_type ?? DEFAULT_OUTPUT_TYPE[context.task];
  const isPlain = context.legacy === true && Array.isArray(raw) && output === 'full';
  const prediction = (isPlain ? KINDS.numbers : kindOfOutput(output)).read(raw, context);
  const rows = rowCount(prediction);
  if (context.rows !== undefined && rows !== context.rows) {
    throw invalidPrediction('prediction', `has ${rows} rows where the test set has ${context.rows}`);
  }
  return prediction;
}

/** Number of rows predicted. */
export function rowCount(prediction: Prediction): number {
  return findKind(prediction).rows(prediction);
}

/** The rows from `from` to `to` (exclusive), as a prediction of their own. */
export function slicePrediction(prediction: Prediction, from: number, to: number): Prediction {
  return findKind(prediction).pickRows(prediction, (list) => list.slice(from, to));
}

/**
 * Predictions of consecutive parts of one test set, as one.
 * @throws ServiceError `response.invalid` where the parts are of different kinds, quantiles or borders.
 */
export function joinPredictions(parts: readonly Prediction[]): Prediction {
  const [first, ...others] = parts;
  if (first === undefined) {
    throw new ServiceError('internal', 'There are no predictions to join.');
  }
  const odd = others.find(({ kind }) => kind !== first.kind);
  if (odd !== undefined) {
    throw invalidPrediction('prediction', `is ${odd.kind} in one part and ${first.kind} in another`);
  }
  return others.length === 0 ? first : findKind(first).join(parts);
}

/** The service's own shape of `prediction` again. @param offsets added to it before, for a relative model */
export function toService(prediction: Prediction, offsets?: readonly number[]): unknown {
  return findKind(prediction).toService(prediction, offsets);
}

/** A prediction of the kind that was asked for. @throws ServiceError `response.invalid` for another */
export function assertKind<Kind extends Prediction['kind']>(
  prediction: Prediction,
  kind: Kind,
): PredictionOf<Kind> {
  if (prediction.kind !== kind) {
    throw new ServiceError(
      'response.invalid',
      `The service answered ${prediction.kind}, which was not asked for.`,
    );
  }
  return prediction as PredictionOf<Kind>;
}
