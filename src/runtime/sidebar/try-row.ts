import { isObject } from '../../util/json';
import { ServiceError } from '../../wire/service-error';
import type { Red } from '../node-red';
import { causeTextOf } from '../requests/predict/cause-words';
import { serviceState } from './services';

const TIMEOUT_MS = 60_000;
const BAND = [0.1, 0.5, 0.9];

/** What the form of *Try it* sends. */
interface TryRequest {
  model?: unknown;
  row?: unknown;
}

/** A prediction of one row, with its causes where the service tells them. */
export interface TriedRow {
  /** Of classes: label → probability. Of numbers: quantile → value. */
  prediction: unknown;
  why?: unknown;
}

/** Predicts one row, as a predict node would. @throws ServiceError as a predict does */
export async function tryRow(red: Red, id: string, { model, row }: TryRequest): Promise<TriedRow> {
  if (typeof model !== 'string' || !isObject(row)) {
    throw new ServiceError('config.invalid', 'A model and a row are needed.');
  }
  const connection = serviceState(red, id).connection();
  const card = connection.cards.get(model);
  if (card === undefined) {
    throw new ServiceError('model.unknown', `There is no model "${model}" that answers now.`);
  }
  const isClass = card.task === 'classification';
  const property = 'prediction';
  const predictor = connection.predictor({ causeText: causeTextOf(red) });
  const { table } = await predictor
    .predict(
      {
        table: { value: [row] },
        model: card,
        outputType: isClass ? 'probas' : 'quantiles',
        ...(!isClass && { quantiles: BAND }),
        missingColumns: 'fill',
        property,
        // Of other services causes are asked by hundreds of rows more.
        explain: connection.service.tellsCauses,
      },
      { signal: AbortSignal.timeout(TIMEOUT_MS) },
    )
    .finally(() => predictor.close());
  const [first] = table as Record<string, unknown>[];
  return {
    prediction: isClass ? first?.[`${property}_probabilities`] : first?.[property],
    ...(first?.[`${property}_why`] !== undefined && { why: first[`${property}_why`] }),
  };
}
