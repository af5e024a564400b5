import type { ModelCard } from '../scoring/cards';
import type { PromisedScores, WatchedModel } from './types';

/** What a watch needs to know of a model, from its card. */
export function watchedModel(card: ModelCard): WatchedModel {
  const { name, fitted_train_set_id: id, task, scores, relative_to: relativeTo } = card;
  const model: WatchedModel = { name, id, task };
  if (scores !== undefined) {
    model.promised = promisedOf(scores);
    if (scores.baseline_now !== undefined) {
      model.now = promisedOf(scores.baseline_now);
    }
  }
  if (relativeTo !== undefined) {
    model.relativeTo = relativeTo;
  }
  return model;
}

function promisedOf(scores: PromisedScores): PromisedScores {
  const { rows, mae, pinball, coverage_80: coverage, log_loss: logLoss, accuracy } = scores;
  return {
    rows,
    ...(mae !== undefined && { mae }),
    ...(pinball !== undefined && { pinball }),
    ...(coverage !== undefined && { coverage_80: coverage }),
    ...(logLoss !== undefined && { log_loss: logLoss }),
    ...(accuracy !== undefined && { accuracy }),
  };
}
