import { assertZone, knownZone } from '../table/cells/parse-date';
import { type Column, COLUMN_TYPES, type ColumnType, type Label } from '../table/cells/types';
import { ServiceError } from '../wire/service-error';
import {
  DEFAULT_OUTPUT_TYPE,
  DEFAULT_QUANTILES,
  OUTPUT_TYPES,
  type OutputType,
  takesQuantiles,
  type Task,
} from '../wire/vocabulary';
import type { ModelCard } from './cards';
import type { ModelCards } from './model-cards';
import { ModelMismatch } from './model-mismatch';
import { type AnswerRule, answerRule, changeFrom } from './threshold';
import type { CleaningChoices, PredictRequest } from './types';

/**
 * A request without its empty texts: from a dialog or a program they say as little as what is left out. Every request
 * passes this where it comes in, so that no other place need ask.
 */
export function withoutEmptyTexts<Request extends object>(request: Request): Request {
  if (!Object.values(request).includes('')) {
    return request;
  }
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== '')) as Request;
}

/**
 * Options travel as JSON, so they have to be plain values.
 *
 * @param place where they come from, for the error
 * @throws ServiceError `validation.failed` for an object within itself, a BigInt, or a getter that throws
 */
export function assertPlain(options: unknown, place: string): void {
  if (options === undefined) {
    return;
  }
  try {
    JSON.stringify(options);
  } catch (error) {
    // The engine's own message draws the whole cycle on several lines.
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new ServiceError('validation.failed', `${place} cannot be written as JSON: ${why}.`);
  }
}

const known = new WeakMap<readonly Column[], Map<string, readonly Column[]>>();

/**
 * The columns of a model, read as the card says, except where the request asks for more: words that mean
 * "missing", another zone for text without one, unreadable cells as missing values. The same list for the same choices.
 *
 * @throws ServiceError `config.invalid` for a zone that is not known
 */
export function cleanedColumns(columns: readonly Column[], choices: CleaningChoices): readonly Column[] {
  const { missingWords = [], unreadable, timezone } = choices;
  if (missingWords.length === 0 && unreadable === undefined && timezone === undefined) {
    return columns;
  }
  const key = JSON.stringify([missingWords, unreadable, timezone]);
  const lists = known.get(columns) ?? new Map<string, readonly Column[]>();
  known.set(columns, lists);
  const found = lists.get(key) ?? columns.map((column) => cleaned(column, choices));
  lists.set(key, found);
  return found;
}

function cleaned(column: Column, { missingWords = [], unreadable, timezone }: CleaningChoices): Column {
  const words = [...new Set([...(column.missing ?? []), ...missingWords])];
  const result: Column = { ...column };
  if (words.length > 0) {
    result.missing = words;
  }
  if (unreadable !== undefined) {
    result.unreadable = unreadable === 'missing' ? 'missing' : undefined;
  }
  if (timezone !== undefined && column.type === 'date') {
    result.zone = assertZone(timezone);
  }
  return result;
}

/** Whether what a card says of reading a column can be followed. */
function isReadable({ zone, missing }: Column): boolean {
  const words: unknown = missing ?? [];
  return (
    (zone === undefined || (typeof zone === 'string' && knownZone(zone) !== undefined)) &&
    Array.isArray(words) &&
    words.every((word) => typeof word === 'string')
  );
}

/** What a batch is scored with: the model, and what is asked of it. */
export interface ResolvedModel {
  fittedId: string;
  /** Its name, or its id where it has no card. */
  name: string;
  /** Left out where it is not known. */
  version?: number;
  task: Task;
  outputType: OutputType;
  quantiles: readonly number[] | undefined;
  /** Feature columns; empty where they are not known. */
  columns: readonly Column[];
  classes: readonly Label[] | undefined;
  /** 0 where not known. */
  trainRows: number;
  options: Record<string, unknown>;
  /** Of two classes the rarer one, where it is known. */
  rarer?: Label;
  /** Its mean absolute error, where it is known. */
  error?: number;
  /** From which probability on one of two classes is answered; left out: the more probable one is. */
  answers?: AnswerRule;
  /** The column that its predictions are the change from. */
  relativeTo?: string;
  /** The column that says what the target is now. */
  nowColumn?: string;
  /** The column that it predicts, and its type in the train set, where they are known. */
  target?: string;
  targetType?: ColumnType;
  /** Its train rows followed each other in time. */
  inTime?: boolean;
  /** The column whose equal values belong together. */
  group?: string;
}

/** How the model of a message is found. */
export type ModelReference =
  | { kind: 'name'; name: string }
  | { kind: 'card'; card: ModelCard }
  | { kind: 'id'; id: string };

/**
 * The model a request names: a card or a name first, else an id.
 * @param uploadedFor the model that a test set was uploaded for
 */
export function modelReference(
  request: Omit<PredictRequest, 'table'>,
  cards: ModelCards,
  uploadedFor?: string,
): ModelReference {
  const { model, fittedTrainSetId = uploadedFor } = request;
  if (typeof model === 'object') {
    return { kind: 'card', card: checkedCard(model) };
  }
  if (model !== undefined) {
    return { kind: 'name', name: model };
  }
  if (fittedTrainSetId !== undefined) {
    const card = cards.byFittedId(fittedTrainSetId);
    return card === undefined ? { kind: 'id', id: fittedTrainSetId } : { kind: 'card', card };
  }
  throw new ServiceError(
    'model.unknown',
    'No model is named: choose one in the dialog, or set msg.model or msg.fitted_train_set_id.',
  );
}

/**
 * A card may come from elsewhere, as JSON that a broker or a database kept: what predicting rests on must be there.
 *
 * @throws ServiceError `validation.failed` where a part of it is missing or cannot be read
 */
export function checkedCard(card: ModelCard | null): ModelCard {
  const { fitted_train_set_id: id, columns, task } = card ?? ({} as Partial<ModelCard>);
  const lacks = [
    typeof id === 'string' && id !== '' ? [] : ['fitted_train_set_id'],
    task === 'classification' || task === 'regression' ? [] : ['task'],
    Array.isArray(columns) ? [] : ['columns'],
  ].flat();
  if (card === null || lacks.length > 0) {
    throw new ServiceError(
      'validation.failed',
      `msg.model is not a model card: it lacks ${lacks.join(', ')}. Take msg.model from a fit node.`,
    );
  }
  const wrong = columns!.findIndex(
    (column) =>
      typeof column?.name !== 'string' || !COLUMN_TYPES.includes(column.type) || !isReadable(column),
  );
  if (wrong >= 0) {
    throw new ServiceError(
      'validation.failed',
      `Column ${wrong + 1} of the model card in msg.model is not {name, type} with a type of ${COLUMN_TYPES.join(', ')}.`,
    );
  }
  const { options, rows, classes } = card as Partial<ModelCard>;
  assertPlain(options, 'options of the model card');
  return {
    ...card,
    options: typeof options === 'object' && options !== null ? options : {},
    rows: typeof rows === 'number' ? rows : 0,
    classes: Array.isArray(classes) ? classes : undefined,
  };
}

/** Messages for one model keep their order among themselves. */
export function orderKey(reference: ModelReference): string {
  switch (reference.kind) {
    case 'name':
      return `name ${reference.name}`;
    case 'card':
      return `name ${reference.card.name ?? reference.card.fitted_train_set_id}`;
    case 'id':
      return `id ${reference.id}`;
  }
}

/**
 * The model of a request as it is known now; undefined when it is not known.
 *
 * @throws ServiceError `config.invalid` for a task or an output type that the model does not have
 */
export function resolveModel(
  reference: ModelReference,
  request: PredictRequest,
  cards: ModelCards,
): ResolvedModel | undefined {
  if (reference.kind === 'id') {
    return bareModel(reference.id, request);
  }
  const card =
    reference.kind === 'card'
      ? reference.card
      : // A model's id may be given where a name is expected.
        (cards.get(reference.name) ?? cards.livingById(reference.name));
  if (card === undefined) {
    return undefined;
  }
  const asked = chooseOutputType(card.task, request);
  const answers = answerRule(card, request, asked === 'preds');
  const outputType = answers?.labelsOnly === true ? 'probas' : asked;
  return {
    fittedId: card.fitted_train_set_id,
    name: card.name ?? card.fitted_train_set_id,
    version: card.version,
    task: card.task,
    outputType,
    quantiles: chooseQuantiles(outputType, request),
    columns: cleanedColumns(card.columns, request),
    classes: card.classes,
    trainRows: card.rows,
    options: { ...withoutRows(card.options), ...request.options },
    rarer: card.thresholds?.label,
    error: card.scores?.mae,
    relativeTo: changeFrom(card),
    nowColumn: card.relative_to,
    ...(answers !== undefined && { answers }),
    ...(card.target !== '' && { target: card.target, targetType: card.cleaned?.types[card.target] }),
    inTime: card.order === 'time',
    group: card.group,
  };
}

/** Lists of train rows concern the fit alone, and are too long to travel with every predict. */
function withoutRows(options: Record<string, unknown>): Record<string, unknown> {
  const { inference_config: config, ...rest } = options;
  if (typeof config !== 'object' || config === null) {
    return options;
  }
  const kept = Object.entries(config).filter(
    ([name, value]) => !(name.toUpperCase() === 'SUBSAMPLE_SAMPLES' && holdsLists(value)),
  );
  return kept.length === 0 ? rest : { ...rest, inference_config: Object.fromEntries(kept) };
}

function holdsLists(value: unknown): boolean {
  return Array.isArray(value) && value.some((one) => Array.isArray(one));
}

function bareModel(fittedId: string, request: PredictRequest): ResolvedModel {
  const task = request.task ?? findTask(request.outputType);
  if (task === undefined) {
    throw new ServiceError(
      'config.invalid',
      `The model ${fittedId} has no card here, so its task is not known: set the task in the dialog or msg.task.`,
    );
  }
  if (request.threshold !== undefined) {
    throw new ServiceError(
      'validation.failed',
      `The model ${fittedId} has no card here, so it is not known which class a threshold is for.`,
    );
  }
  const outputType = chooseOutputType(task, request);
  return {
    fittedId,
    name: fittedId,
    task,
    outputType,
    quantiles: chooseQuantiles(outputType, request),
    columns: [],
    classes: undefined,
    trainRows: 0,
    options: { ...request.options },
  };
}

/** Each output type belongs to one task. */
function findTask(outputType: OutputType | undefined): Task | undefined {
  if (outputType === undefined) {
    return undefined;
  }
  return OUTPUT_TYPES.classification.includes(outputType) ? 'classification' : 'regression';
}

function chooseOutputType(task: Task, request: PredictRequest): OutputType {
  if (request.task !== undefined && request.task !== task) {
    throw new ModelMismatch('task', request.task, task);
  }
  const outputType = request.outputType ?? DEFAULT_OUTPUT_TYPE[task];
  if (!OUTPUT_TYPES[task].includes(outputType)) {
    throw new ModelMismatch('outputType', outputType, task);
  }
  return outputType;
}

function chooseQuantiles(outputType: OutputType, request: PredictRequest): readonly number[] | undefined {
  if (!takesQuantiles(outputType)) {
    return undefined;
  }
  const quantiles = request.quantiles ?? DEFAULT_QUANTILES;
  if (quantiles.length === 0 || quantiles.some((q) => !(typeof q === 'number' && q > 0 && q < 1))) {
    throw new ServiceError(
      'config.invalid',
      `Quantiles are numbers between 0 and 1, such as 0.1, 0.5, 0.9; these are not: ${quantiles.join(', ')}.`,
    );
  }
  return quantiles;
}

/**
 * Why there is no model of that name.
 * @throws ServiceError `storage.failed` where nobody can know
 */
export function unknownModel(name: string, cards: ModelCards): ServiceError {
  cards.assertRead();
  const model = cards.named(name);
  if (model !== undefined && !cards.has(name)) {
    const kept = model.versions.map(({ version }) => version).reverse();
    return new ServiceError(
      'model.unknown',
      `There is no model "${name}": of "${model.name}" the versions ${kept.join(', ')} are kept.`,
    );
  }
  const error = cards.fits.error(name);
  const why = cards.has(name)
    ? 'the service does not have it any more'
    : error === undefined
      ? 'no fit node has made it yet'
      : `its fit failed. ${error.message.replace(/\.$/, '')}`;
  return new ServiceError(
    'model.unknown',
    `There is no model "${name}": ${why}. Fit a model under that name first.`,
  );
}
