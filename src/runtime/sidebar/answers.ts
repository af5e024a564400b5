import type { Connection, ErrorCosts, ModelCard, ModelFile, ThresholdWish } from '../../connection';
import { EMBEDDED } from '../../models/service-kind';
import { ServiceError } from '../../wire/service-error';
import { configNode, type ConfigState, defaultService } from '../config/config-state';
import type { EditorRequest } from '../config/http';
import { models } from '../load';
import { modelChanged } from '../model-changed';
import type { FlowNode, Red } from '../node-red';
import type { ListedModel, ServiceOfModels } from './listed-models';

const RULES: ReadonlySet<unknown> = new Set(['accuracy', 'f1', 'costs']);

type Asked = Record<string, unknown>;

/** @throws ServiceError `model.unknown` */
export function showCard(red: Red, id: string, asked: Asked): Promise<ModelCard> {
  return models().withCards(red, serviceOf(red, id), (cards) => {
    const name = textIn(asked, 'model');
    const card = cards?.get(name);
    if (card === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}".`);
    }
    return card;
  });
}

export function sendModel(red: Red, id: string, asked: Asked): Promise<ModelFile> {
  const model = textIn(asked, 'model');
  return withConnection(red, serviceOf(red, id), (connection) => connection.exportModel(model));
}

/** Adds the model of a file, under the name that is asked or its own. */
export async function addModel(
  red: Red,
  id: string,
  { name }: Asked,
  request: EditorRequest,
): Promise<ListedModel> {
  const file = await models().receiveFile(request);
  const card = await withConnection(red, serviceOf(red, id), (connection) =>
    connection.importModel(file, typeof name === 'string' && name !== '' ? name : undefined),
  );
  modelChanged(red, card.name);
  return models().listedModel(card);
}

type Change = (connection: Connection, asked: Asked & { model: string }, red: Red) => Promise<unknown>;

const CHANGES = {
  rollback: async (connection, { model, version = true }) =>
    models().listedModel(await connection.rollBack(model, versionOf(version))),
  rename: async (connection, asked, red) => {
    const card = await connection.rename(asked.model, textIn(asked, 'name'));
    modelChanged(red, card.name);
    return models().listedModel(card);
  },
  threshold: async (connection, { model, threshold }) =>
    models().listedModel(await connection.chooseThreshold(model, thresholdOf(threshold))),
  costs: async (connection, { model, costs = null }) =>
    models().listedModel(await connection.chooseCosts(model, costs as ErrorCosts | null)),
  delete: async (connection, { model }) => {
    await connection.delete(model);
    return { deleted: model };
  },
} satisfies Record<string, Change>;

/** Changes a model, and tells nodes and the sidebar of it. */
export async function changeModel(
  red: Red,
  id: string,
  what: keyof typeof CHANGES,
  asked: Asked,
): Promise<unknown> {
  const model = textIn(asked, 'model');
  const change: Change = CHANGES[what];
  const work = withConnection(red, serviceOf(red, id), (connection) =>
    change(connection, { ...asked, model }, red),
  );
  return work.finally(() => modelChanged(red, model));
}

/** @throws ServiceError `not_found` */
export function serviceOf(red: Red, id: string): ServiceOfModels {
  const all = models().services(red);
  // Several config nodes may be of one service, which is listed once.
  const key = id === models().NO_CONFIG ? EMBEDDED : configNode(red, id)?.state.key();
  const found = all.find((service) => service.key === key);
  if (found === undefined) {
    throw new ServiceError('not_found', `There is no service ${id.slice(0, 100)}: deploy it first.`);
  }
  return found;
}

/** The connection of a service; where no node has opened the embedded one, it is opened for this alone. */
async function withConnection<Result>(
  red: Red,
  { state }: ServiceOfModels,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  if (state !== undefined) {
    return use(state.connection());
  }
  const opened: ConfigState | undefined = defaultService()?.open(nodeOf(red));
  if (opened === undefined) {
    throw new ServiceError('not_found', 'The nodes of this package are disabled.');
  }
  try {
    return await use(opened.connection());
  } finally {
    await opened.close();
  }
}

/** Stands for a node where there is none: what is told to it is logged. */
function nodeOf(red: Red): FlowNode {
  const node = {
    id: '',
    type: 'tabular-config',
    warn: (text: string) => red.log.warn(text),
    debug: (text: string) => red.log.debug(text),
  };
  return node as unknown as FlowNode;
}

/** @throws ServiceError `validation.failed` */
function textIn(given: Record<string, unknown>, name: string): string {
  const value = given[name];
  if (typeof value !== 'string' || value === '') {
    throw new ServiceError('validation.failed', `The property "${name}" must be a text.`);
  }
  return value;
}

/** @throws ServiceError `validation.failed` */
function thresholdOf(value: unknown): ThresholdWish {
  if (value === null || typeof value === 'number' || RULES.has(value)) {
    return value as ThresholdWish;
  }
  throw new ServiceError(
    'validation.failed',
    'The property "threshold" must be a number from 0 to 1, accuracy, f1, costs, or null.',
  );
}

/** @throws ServiceError `validation.failed` */
function versionOf(value: unknown): true | number {
  if (value === true || (typeof value === 'number' && Number.isInteger(value) && value > 0)) {
    return value;
  }
  throw new ServiceError('validation.failed', 'The property "version" must be the number of a version.');
}
