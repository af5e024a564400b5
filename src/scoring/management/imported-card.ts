import { MAX_COLUMNS } from '../../table';
import { isObject } from '../../util/json';
import { checkedCard } from '../models/model-request';
import { isThreshold } from '../models/thresholds/threshold';
import type { ModelCard } from '../types';
import { unreadableModel } from './model-file';

const TEXTS = ['name', 'target', 'service', 'fitted_at', 'train_set_upload_id'] as const;

/**
 * The card of a file, which anybody may have written. What is not as it should be is left out where a model can do
 * without.
 * @throws ServiceError `file.unreadable`
 */
export function cardIn(value: unknown): ModelCard {
  let card: ModelCard;
  try {
    card = checkedCard(isObject(value) ? (value as unknown as ModelCard) : null);
  } catch {
    throw unreadableModel('its card is damaged');
  }
  const names = new Set(card.columns.map(({ name }) => name));
  if (
    TEXTS.some((name) => typeof card[name] !== 'string') ||
    card.name === '' ||
    names.size !== card.columns.length ||
    names.size > MAX_COLUMNS
  ) {
    throw unreadableModel('its card is damaged');
  }
  return Object.fromEntries(
    Object.entries(card).filter(([name, part]) => SOUND[name as keyof ModelCard]?.(part) ?? true),
  ) as unknown as ModelCard;
}

const isText = (part: unknown): boolean => typeof part === 'string';
const isNumber = (part: unknown): boolean => typeof part === 'number';
const areNumbers = (part: unknown): boolean => isObject(part) && Object.values(part).every(isNumber);
const isListOf =
  (isOne: (part: unknown) => boolean) =>
  (part: unknown): boolean =>
    Array.isArray(part) && part.every(isOne);
const isLabel = (part: unknown): boolean => isText(part) || isNumber(part) || typeof part === 'boolean';

/** Whether a part is what a fit writes there. */
const SOUND: Partial<Record<keyof ModelCard, (part: unknown) => boolean>> = {
  classes: isListOf(isLabel),
  scores: isScores,
  importance: isListOf(isImportance),
  limited: isListOf(isText),
  doubts: isListOf(isText),
  doubted_columns: isListOf(isText),
  threshold: isThreshold,
  thresholds: isThresholds,
  costs: isObject,
  costs_chosen: (part) => part === true,
  cleaned: isObject,
  repeated_rows: isNumber,
  order: (part) => part === 'time' || part === 'none',
  group: isText,
  folds: (part) => part === 'groups' || part === 'blocks',
  embargo: isNumber,
  relative_to: isText,
  trained_until: isText,
  // The version that it was compared with is not in the file.
  compared: () => false,
};

function isScores(part: unknown): boolean {
  if (!isObject(part)) {
    return false;
  }
  const { from, baseline, baseline_now, ...own } = part;
  return (
    isText(from) &&
    areNumbers(baseline) &&
    (baseline_now === undefined || areNumbers(baseline_now)) &&
    areNumbers(own)
  );
}

function isImportance(part: unknown): boolean {
  return isObject(part) && isText(part.column) && isNumber(part.gain) && isNumber(part.permutation);
}

function isThresholds(part: unknown): boolean {
  if (!isObject(part)) {
    return false;
  }
  const { label, ...best } = part;
  return isLabel(label) && Object.values(best).every(areNumbers);
}
