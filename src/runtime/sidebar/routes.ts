import { createRequire } from 'node:module';

import type { Connection, ErrorCosts, ModelCard, ModelCards, ThresholdWish } from '../../connection';
import { EMBEDDED } from '../../models/service-kind';
import { ServiceError } from '../../wire/service-error';
import { configNode, type ConfigState, defaultService } from '../config/config-state';
import { type EditorRequest, EditorRoutes, type Permission } from '../config/http';
import { modelChanged } from '../model-changed';
import type { FlowNode, Red } from '../node-red';
import { type ServiceOfModels } from './listed-models';

/** Loaded with the first request: Node-RED loads every node of the package at startup, and that must stay fast. */
const load = createRequire(__filename);
const models = () => load('./listed-models') as typeof import('./listed-models');
const advice = () => load('./find-setting') as typeof import('./find-setting');

const RULES: ReadonlySet<unknown> = new Set(['accuracy', 'f1', 'costs']);

/**
 * The routes that list and manage models. `:service` is the id of a config node, or `none`. Models are named in the query
 * or the body, where a name may hold any character.
 */
export function modelRoutes(red: Red): void {
  const routes = new EditorRoutes(red);
  const root = '/tabular-prediction/models';

  routes.tell(root, () => models().listServices(red));
  routes.tell(`${root}/:service`, (request) => models().listModels(red, serviceOf(red, request)));
  routes.tell(`${root}/:service/card`, (request) =>
    models().withCards(red, serviceOf(red, request), (cards) => cardOf(cards, request.query ?? {})),
  );
  routes.tell(
    `${root}/:service/export`,
    (request) => {
      const model = textIn(request.query ?? {}, 'model');
      return withConnection(red, serviceOf(red, request), (connection) => connection.exportModel(model));
    },
    (response, make) => models().sendFile(response, make),
  );

  const change = (
    what: string,
    make: (connection: Connection, model: string, body: Record<string, unknown>) => Promise<unknown>,
  ): void =>
    routes.act(`${root}/:service/${what}`, (request, body) => {
      const model = textIn(body, 'model');
      const work = withConnection(red, serviceOf(red, request), (connection) =>
        make(connection, model, body),
      );
      return work.finally(() => modelChanged(red, model));
    });
  change('rollback', async (connection, model, { version = true }) =>
    models().listedModel(await connection.rollBack(model, versionOf(version))),
  );
  change('rename', async (connection, model, body) => {
    const card = await connection.rename(model, textIn(body, 'name'));
    modelChanged(red, card.name);
    return models().listedModel(card);
  });
  change('threshold', async (connection, model, { threshold }) =>
    models().listedModel(await connection.chooseThreshold(model, thresholdOf(threshold))),
  );
  change('costs', async (connection, model, { costs = null }) =>
    models().listedModel(await connection.chooseCosts(model, costs as ErrorCosts | null)),
  );
  change('delete', async (connection, model) => {
    await connection.delete(model);
    return { deleted: model };
  });

  routes.act(
    `${root}/:service/import`,
    async (request) => {
      const { name } = request.query ?? {};
      const file = await models().receiveFile(request);
      const card = await withConnection(red, serviceOf(red, request), (connection) =>
        connection.importModel(file, typeof name === 'string' && name !== '' ? name : undefined),
      );
      modelChanged(red, card.name);
      return models().listedModel(card);
    },
    { takes: 'file' },
  );
}

/** @throws ServiceError `not_found` */
function serviceOf(red: Red, { params }: EditorRequest): ServiceOfModels {
  const { service: id = '' } = params;
  const all = models().services(red);
  // Several config nodes may be of one service, which is listed once.
  const key = id === models().NO_CONFIG ? EMBEDDED : configNode(red, id)?.state.key();
  const found = all.find((service) => service.key === key);
  if (found === undefined) {
    throw new ServiceError('not_found', `There is no service ${id.slice(0, 100)}: deploy it first.`);
  }
  return found;
}

function cardOf(cards: ModelCards | undefined, query: Record<string, unknown>): ModelCard {
  const name = textIn(query, 'model');
  const card = cards?.get(name);
  if (card === undefined) {
    throw new ServiceError('model.unknown', `There is no model "${name}".`);
  }
  return card;
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

/** The routes of the sidebar *Models*. Values of a table leave behind a permission only. */
export function sidebarRoutes(red: Red): void {
  const routes = new EditorRoutes(red);
  const idOf = ({ params }: EditorRequest): string => params.id ?? '';

  routes.tell('/tabular-prediction/sidebar/:id/model', (request) =>
    models().showModel(red, idOf(request), String(request.query?.name)),
  );
  // A prediction changes nothing, but other services than the embedded one may charge for it.
  const needs = (request: EditorRequest): Permission[] => {
    const service = models()
      .services(red)
      .find(({ id }) => id === idOf(request));
    return [service?.kind === EMBEDDED ? 'tabular-prediction.read' : 'tabular-prediction.write'];
  };
  routes.act(
    '/tabular-prediction/sidebar/:id/try',
    (request, body) => models().tryRow(red, idOf(request), body),
    { needs },
  );
  routes.act(
    '/tabular-prediction/sidebar/:id/advise',
    (request, body) => advice().findSetting(red, idOf(request), body),
    { needs },
  );
}
