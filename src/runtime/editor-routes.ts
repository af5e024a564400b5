import type { Connection, ErrorCosts, ModelCard, ModelFile, ThresholdWish } from '../connection';
import { DEFAULT_SERVICE, SERVICE_KINDS } from '../models/service-kind';
import { ServiceError } from '../wire/service-error';
import { dialogModels, modelVersions, testConnection } from './config/admin';
import { configNode, type ConfigState, defaultService, type StartEmbedded } from './config/config-state';
import { type EditorRequest, type Permission, registerRoutes } from './config/http';
import { columnsSeen, lastReading, typesSeen } from './input/columns-seen';
import { advice, anomalyNodes, models, watchNodes } from './load';
import { modelChanged } from './model-changed';
import type { FlowNode, Red } from './node-red';
import type { ListedModel, ServiceOfModels } from './sidebar/listed-models';

const READ = 'tabular-prediction.read';
const WRITE = 'tabular-prediction.write';

/** A variable could be sent to any address: those are for users who may read all of them in a flow anyway. */
const writeAndFlows = (_id: string, body: unknown): Permission[] =>
  JSON.stringify(body ?? {}).includes('${') ? [WRITE, 'flows.write'] : [WRITE];

/**
 * Every route of the editor: method, path below `/tabular-prediction`, the permission that it needs, and what answers.
 * Registered once, with the config node's type.
 */
export function editorRoutes(red: Red, startEmbedded: StartEmbedded): void {
  /** A prediction changes nothing, but other services than the embedded one may charge for it. */
  const readOrWrite = (id: string): Permission[] => {
    const service = models()
      .services(red)
      .find((one) => one.id === id);
    return [service !== undefined && SERVICE_KINDS[service.kind].isLocal ? READ : WRITE];
  };

  registerRoutes(red, [
    // What the watch nodes know of a model, null where none watches it. Node-RED takes the first route that fits, so this
    // and the anomaly nodes come before the dialogs, whose paths begin with the id of a node.
    ['GET', '/watch/:model', READ, (model) => watchNodes().shownWatch(model) ?? null],

    // Anomaly nodes, as the sidebar shows them.
    ['GET', '/anomalies', READ, () => anomalyNodes().listedNodes()],
    ['GET', '/anomalies/:node/machine', READ, (id, query) => anomalyNodes().shownNode(id).machine(query)],
    ['POST', '/anomalies/:node/confirm', WRITE, (id, body) => anomalyNodes().shownNode(id).confirm(body)],
    ['POST', '/anomalies/:node/odd', WRITE, (id, body) => anomalyNodes().shownNode(id).odd(body)],

    // What dialogs offer: `:id` is that of a config node, of columns, types and the last reading that of any node.
    ['GET', '/:id/models', READ, (id, query) => dialogModels(red, id, query)],
    ['GET', '/:id/versions', READ, (id) => modelVersions(red, id)],
    ['GET', '/:id/columns', READ, (id) => columnsSeen(id)],
    ['GET', '/:id/types', READ, (id) => typesSeen(id)],
    ['GET', '/:id/last-reading', READ, (id) => lastReading(id) ?? {}],
    ['POST', '/:id/test', writeAndFlows, (id, body) => testConnection(red, startEmbedded, id, body)],

    // Models are listed and managed: `:service` is the id of a config node, or `none`. A model is named in the query or the
    // body, where a name may hold any character.
    ['GET', '/models', READ, () => models().listServices(red)],
    ['GET', '/models/:service', READ, (id) => models().listModels(red, findService(red, id))],
    ['GET', '/models/:service/card', READ, (id, query) => showCard(red, id, query)],
    ['GET', '/models/:service/export', READ, (id, query) => sendModel(red, id, query), 'file'],
    ['POST', '/models/:service/rollback', WRITE, (id, body) => changeModel(red, id, 'rollback', body)],
    ['POST', '/models/:service/rename', WRITE, (id, body) => changeModel(red, id, 'rename', body)],
    ['POST', '/models/:service/threshold', WRITE, (id, body) => changeModel(red, id, 'threshold', body)],
    ['POST', '/models/:service/costs', WRITE, (id, body) => changeModel(red, id, 'costs', body)],
    ['POST', '/models/:service/delete', WRITE, (id, body) => changeModel(red, id, 'delete', body)],
    ['POST', '/models/:service/import', WRITE, (id, query, file) => addModel(red, id, query, file), 'file'],

    // One model in the sidebar. Values of a table leave behind a permission only.
    ['GET', '/sidebar/:id/model', READ, (id, { name }) => models().showModel(red, id, String(name))],
    ['POST', '/sidebar/:id/try', readOrWrite, (id, body) => models().tryRow(red, id, body)],
    ['POST', '/sidebar/:id/advise', readOrWrite, (id, body) => advice().findSetting(red, id, body)],
  ]);
}

const RULES: ReadonlySet<unknown> = new Set(['accuracy', 'f1', 'costs']);

type Asked = Record<string, unknown>;

/** @throws ServiceError `model.unknown` */
function showCard(red: Red, id: string, asked: Asked): Promise<ModelCard> {
  return models().withCards(red, findService(red, id), (cards) => {
    const name = textIn(asked, 'model');
    const card = cards?.get(name);
    if (card === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}".`);
    }
    return card;
  });
}

function sendModel(red: Red, id: string, asked: Asked): Promise<ModelFile> {
  const model = textIn(asked, 'model');
  return withConnection(red, findService(red, id), (connection) => connection.exportModel(model));
}

/** Adds the model of a file, under the name that is asked or its own. */
async function addModel(red: Red, id: string, { name }: Asked, request: EditorRequest): Promise<ListedModel> {
  const file = await models().receiveFile(request);
  const card = await withConnection(red, findService(red, id), (connection) =>
    connection.importModel(file, typeof name === 'string' && name !== '' ? name : undefined),
  );
  modelChanged(red, card.name);
  return models().listedModel(card);
}

type Change = (connection: Connection, asked: Asked & { model: string }, red: Red) => Promise<unknown>;

const CHANGES = {
  rollback: async (connection, { model, version = true }) =>
    models().listedModel(await connection.rollBack(model, readVersion(version))),
  rename: async (connection, asked, red) => {
    const card = await connection.rename(asked.model, textIn(asked, 'name'));
    modelChanged(red, card.name);
    return models().listedModel(card);
  },
  threshold: async (connection, { model, threshold }) =>
    models().listedModel(await connection.chooseThreshold(model, readThreshold(threshold))),
  costs: async (connection, { model, costs = null }) =>
    models().listedModel(await connection.chooseCosts(model, costs as ErrorCosts | null)),
  delete: async (connection, { model }) => {
    await connection.delete(model);
    return { deleted: model };
  },
} satisfies Record<string, Change>;

/** Changes a model, and tells nodes and the sidebar of it. */
async function changeModel(red: Red, id: string, what: keyof typeof CHANGES, asked: Asked): Promise<unknown> {
  const model = textIn(asked, 'model');
  const change: Change = CHANGES[what];
  const work = withConnection(red, findService(red, id), (connection) =>
    change(connection, { ...asked, model }, red),
  );
  return work.finally(() => modelChanged(red, model));
}

/** @throws ServiceError `not_found` */
function findService(red: Red, id: string): ServiceOfModels {
  const all = models().services(red);
  // Several config nodes may be of one service, which is listed once.
  const key = id === models().NO_CONFIG ? DEFAULT_SERVICE.key : configNode(red, id)?.state.key();
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
  const opened: ConfigState | undefined = defaultService()?.open(makeNode(red));
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
function makeNode(red: Red): FlowNode {
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
function readThreshold(value: unknown): ThresholdWish {
  if (value === null || typeof value === 'number' || RULES.has(value)) {
    return value as ThresholdWish;
  }
  throw new ServiceError(
    'validation.failed',
    'The property "threshold" must be a number from 0 to 1, accuracy, f1, costs, or null.',
  );
}

/** @throws ServiceError `validation.failed` */
function readVersion(value: unknown): true | number {
  if (value === true || (typeof value === 'number' && Number.isInteger(value) && value > 0)) {
    return value;
  }
  throw new ServiceError('validation.failed', 'The property "version" must be the number of a version.');
}
