import { cloneJson } from '../../util/json';
import { type Prediction, toService } from '../../wire/prediction';
import type { CausesOf } from '../explain/causes';
import type { ResolvedModel } from '../models/model-request';
import type { PredictOutcome, PredictRequest } from '../types';
import { answeredBy } from './answers/answered-labels';
import { attachmentOf } from './answers/attach-predictions';
import { flatColumns } from './answers/flat-columns';
import type { MessageTable } from './rows/message-table';
import type { Scored } from './test-set/test-set';

/** What a result says about the model that made it. */
export type OutcomeModel = Pick<ResolvedModel, 'name' | 'version'> &
  Partial<Pick<ResolvedModel, 'fittedId' | 'classes' | 'answers' | 'rarer'>>;

/**
 * The result of a message: its own prediction, its own copy of the metadata, and its table with the predictions
 * attached. A promise only where the table is so large that this is done in slices.
 */
export function outcomeOf(
  scored: Scored,
  table: MessageTable,
  model: OutcomeModel,
  { property = 'prediction', flat, times }: Pick<PredictRequest, 'property' | 'flat' | 'times'>,
  signal: AbortSignal,
  why?: CausesOf,
): PredictOutcome | Promise<PredictOutcome> {
  const classes = scored.metadata.classes ?? model.classes;
  const answered = answeredBy(model.answers, scored.prediction, classes);
  const outcome: PredictOutcome = {
    prediction: serviceForm(
      answered?.labelsOnly === true ? { ...scored, prediction: answered.labels } : scored,
    ),
    metadata: { ...cloneJson(scored.metadata), test_set_num_rows: scored.rows },
    modelName: model.name,
  };
  if (model.fittedId !== undefined) {
    const { name, version, fittedId: id } = model;
    outcome.predictedBy = { name, ...(version !== undefined && { version }), fitted_train_set_id: id };
  }
  if (table.cleaned !== undefined) {
    outcome.cleaned = { cells_missing: table.cleaned };
  }
  if (scored.evaluation !== undefined) {
    outcome.evaluation = scored.evaluation;
  }
  const { unlike } = scored;
  const attachment = {
    ...attachmentOf(scored.prediction, property, classes, answered),
    why,
    ...(unlike !== undefined && { unlike: (row: number) => unlike[row]! }),
    ...(flat === true && {
      flat: flatColumns(scored.prediction, {
        ...{ property, classes, rarer: model.rarer, times },
        ...(answered !== undefined && { answered: answered.labels.values }),
      }),
    }),
  };
  const attached = table.attach(attachment, signal);
  return attached instanceof Promise
    ? attached.then((late) => Object.assign(outcome, late))
    : Object.assign(outcome, attached);
}

/** The service's own format; the borders of a relative model differ from row to row: [row][border]. */
function serviceForm({ prediction, offsets }: Scored): unknown {
  const own = toService(prediction);
  if (prediction.kind !== 'full' || offsets === undefined) {
    return own;
  }
  const { borders } = prediction.value;
  return { ...(own as object), borders: offsets.map((offset) => borders.map((border) => border + offset)) };
}

/** Bytes of a result while it waits to be delivered in order. */
export function outcomeBytes(prediction: Prediction, rows: number): number {
  switch (prediction.kind) {
    case 'probas':
      return rows * (prediction.values[0]?.length ?? 0) * 24;
    case 'quantiles':
      return rows * prediction.quantiles.length * 24;
    case 'main':
      return rows * (3 + prediction.quantiles.length) * 24;
    case 'full':
      return rows * prediction.value.borders.length * 8 + prediction.value.borders.length * 8;
    default:
      return rows * 24;
  }
}
