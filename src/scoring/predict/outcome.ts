import { readRows } from '../../table';
import { cloneJson } from '../../util/json';
import { type Prediction, toService } from '../../wire/prediction';
import type { PredictMetadata } from '../../wire/types';
import type { PredictOutcome } from '../types';
import { attach, attachInPlace, attachmentOf } from './attach-predictions';
import type { MessageTable } from './message';

export interface Scored {
  prediction: Prediction;
  metadata: PredictMetadata;
  rows: number;
  /** A full distribution of a relative model: what is added to the borders, for each row. */
  offsets?: readonly number[];
}

/** What a message gets: its own prediction, its own copy of the metadata, its table with the predictions attached. */
export async function outcomeOf(
  scored: Scored,
  table: MessageTable | undefined,
  model: { name: string; classes: readonly (string | number | boolean)[] | undefined },
  property: string,
  signal: AbortSignal,
): Promise<PredictOutcome> {
  const outcome = bareOutcome(scored, model.name);
  const attachment = attachmentOf(scored.prediction, property, scored.metadata.classes ?? model.classes);
  switch (table?.kind) {
    case 'batch':
    case 'stream':
      outcome.table = await attach(table.value, table.source.form, attachment, () =>
        readRows(table.source, { signal }),
      );
      break;
    default:
      break;
  }
  return outcome;
}

/** The same for a message of a few rows, whose copies the predictions go into; at once, without a promise. */
export function smallOutcome(
  scored: Scored,
  table: Extract<MessageTable, { kind: 'small' }>,
  model: { name: string; classes: readonly (string | number | boolean)[] | undefined },
  property: string,
): PredictOutcome {
  const outcome = bareOutcome(scored, model.name);
  const attachment = attachmentOf(scored.prediction, property, scored.metadata.classes ?? model.classes);
  const { rows, single } = table.small;
  for (let index = 0; index < rows.length; index++) {
    attachInPlace(rows[index]!, index, attachment);
  }
  outcome.table = single ? rows[0] : rows;
  return outcome;
}

export function bareOutcome(scored: Scored, modelName: string): PredictOutcome {
  return {
    prediction: serviceForm(scored),
    metadata: {
      ...cloneJson(scored.metadata),
      test_set_num_rows: scored.rows,
    },
    modelName,
  };
}

/** The service's own shape; the borders of a relative model differ from row to row: [row][border]. */
function serviceForm({ prediction, offsets }: Scored): unknown {
  const own = toService(prediction);
  if (prediction.kind !== 'full' || offsets === undefined) {
    return own;
  }
  const { borders } = prediction.value;
  return { ...(own as object), borders: offsets.map((offset) => borders.map((border) => border + offset)) };
}

/** Bytes that a result holds while it waits for its turn. */
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
