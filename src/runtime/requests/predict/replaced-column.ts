import type { ModelCard, PredictOutcome, PredictRequest } from '../../../scoring';
import type { UsedConfig } from '../../config/use-config';
import { type FlowNode, type Red, text } from '../../node-red';

/** Warns once per node if predictions replace a column that the model predicts from. */
export function replacedColumnWarning(
  red: Red,
  node: FlowNode,
  config: UsedConfig,
): (request: PredictRequest, outcome: PredictOutcome) => void {
  let warned = false;
  let checked: ModelCard | undefined;
  return (request, outcome) => {
    if (warned || outcome.table === undefined) {
      return;
    }
    const { cards } = config.connection();
    const card =
      typeof request.model === 'object'
        ? request.model
        : (cards.get(outcome.modelName) ?? cards.byFittedId(outcome.modelName));
    // A stream of messages has one model, so its columns are checked once.
    if (card === undefined || card === checked) {
      return;
    }
    checked = card;
    const column = attachedNames(request).find((name) => isFeature(card, name));
    if (column !== undefined) {
      warned = true;
      node.warn(text(red, 'warning.replaced', { column, model: card.name }));
    }
  };
}

const FLAT = ['mid', 'low', 'high', 'probability', 'time'];

function attachedNames({ property = 'prediction', outputType, flat }: PredictRequest): string[] {
  const isProbable = outputType === undefined || outputType === 'probas';
  return [
    property,
    ...(isProbable ? [`${property}_probabilities`] : []),
    ...(flat === true ? FLAT.map((name) => `${property}_${name}`) : []),
  ];
}

function isFeature(card: ModelCard, name: string): boolean {
  return name !== card.target && card.columns.some((column) => column.name === name);
}
