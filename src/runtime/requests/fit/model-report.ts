import type { ModelCards } from '../../../scoring';
import type { ColumnImportance, ModelCard, ModelCurves, ModelScores, Task } from '../../../scoring/types';

/** `msg.model_report`: what a dashboard draws a model from. */
export interface ModelReport {
  model: string;
  version: number;
  task: Task;
  target: string;
  scores?: ModelScores;
  importance?: ColumnImportance[];
  /** Left out where the service reports none and no rows were held out. */
  curves?: ModelCurves;
}

/** Reports on the model in charge: its curves are stored with its card, so those of an earlier fit are known too. */
export async function modelReport(cards: ModelCards, card: ModelCard): Promise<ModelReport> {
  const { name, version, task, target, scores, importance } = card;
  const curves = (await cards.reference(card.fitted_train_set_id))?.curves;
  return {
    ...{ model: name, version, task, target },
    ...(scores !== undefined && { scores }),
    ...(importance !== undefined && { importance }),
    ...(curves !== undefined && { curves }),
  };
}
