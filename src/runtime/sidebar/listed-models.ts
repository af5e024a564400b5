import { existsSync } from 'node:fs';

import {
  type Connection,
  importanceBySensor,
  type ModelCards,
  type ReferenceCell,
  type Usual,
} from '../../connection';
import { MAX_MODEL_FILE_BYTES } from '../../connection/manage-models';
import type { ModelCurves } from '../../metrics/curves';
import type { ModelCard } from '../../models/cards';
import { DEFAULT_SERVICE, type ServiceKind } from '../../models/service-kind';
import type { Column } from '../../table/cells/types';
import { isObject } from '../../util/values';
import type { LiveLoss } from '../../watch';
import { ServiceError } from '../../wire/service-error';
import { type ConfigNode, configNode, type ConfigState, defaultState } from '../config/config-state';
import type { EditorRequest } from '../config/http';
import { modelCards } from '../lazy';
import type { Red } from '../node-red';
import { modelsPath } from '../paths';
import { causeTexts } from '../requests/predict';
import { activeAlarms, shownWatch } from '../watch/shown-watch';

/** Columns of the form, and train rows that it can be filled from. */
const FIELDS = 60;
const EXAMPLES = 12;
const TIMEOUT_MS = 60_000;
const BAND = [0.1, 0.5, 0.9];

/** Stands for the service of nodes that have none chosen. */
export const NO_CONFIG = 'none';

/** A service as the sidebar shows it. */
export interface ShownService {
  /** Of its config node, or NO_CONFIG. */
  id: string;
  /** What the config node is called; empty where it has no name. */
  name: string;
  kind: ServiceKind;
}

/** A service with what is known of its models. */
export type ServiceOfModels = ShownService & { key: string; state?: ConfigState };

/** The services of the flows, each once: config nodes of one address share their models. */
export function services(red: Red): ServiceOfModels[] {
  const found = new Map<string, ServiceOfModels>();
  red.nodes.eachNode((def) => {
    const node = def.type === 'tabular-config' ? configNode(red, def.id) : undefined;
    const key = node?.state.key();
    if (node !== undefined && key !== undefined && !found.has(key)) {
      found.set(key, { id: node.id, name: node.name ?? '', kind: node.state.kind, key, state: node.state });
    }
  });
  if (!found.has(DEFAULT_SERVICE.key)) {
    const state = defaultState();
    found.set(DEFAULT_SERVICE.key, {
      id: NO_CONFIG,
      name: '',
      ...DEFAULT_SERVICE,
      ...(state !== undefined && { state }),
    });
  }
  return [...found.values()];
}

/** @throws ServiceError `config.invalid` where no node has that service any more */
function serviceState(red: Red, id: string): ConfigState {
  const node: ConfigNode | undefined = id === NO_CONFIG ? undefined : configNode(red, id);
  const state = node?.state ?? (id === NO_CONFIG ? embeddedState(red) : undefined);
  if (state === undefined) {
    throw new ServiceError(
      'config.invalid',
      'No node of the flows uses this service now: deploy one that does.',
    );
  }
  return state;
}

/**
 * Reads the cards of a service, whether it is in use or not.
 * @throws ServiceError `storage.failed` where they cannot be read now, or a newer version of this package wrote them
 */
export async function withCards<Answer>(
  red: Red,
  { key, state }: Pick<ServiceOfModels, 'key' | 'state'>,
  read: (cards: ModelCards | undefined) => Answer | Promise<Answer>,
): Promise<Answer> {
  const known = state?.savedCards();
  if (known !== undefined || !existsSync(modelsPath(red))) {
    known?.assertRead();
    return read(known);
  }
  const cards = modelCards().open({ path: modelsPath(red), service: key });
  try {
    cards.assertRead();
    return await read(cards);
  } finally {
    await cards.close();
  }
}

function embeddedState(red: Red): ConfigState | undefined {
  return defaultState() ?? services(red).find(({ key }) => key === DEFAULT_SERVICE.key)?.state;
}

/** A field of the form of *Try it*. */
interface Field {
  name: string;
  type: string;
  /** What the column usually holds, where it is known. */
  usual?: Usual;
}

/** What the sidebar shows of one model. */
export interface ShownModel {
  card: ModelCard & { dead?: true };
  kind: ShownService['kind'];
  /** A watch node knows it. */
  watched: boolean;
  /** The version that was in charge before this one, where there is one to go back to. */
  before?: number;
  curves?: ModelCurves;
  /** Of each sensor, the most important first. */
  importance: [sensor: string, value: number][];
  /** The most important first; at most FIELDS. */
  fields: Field[];
  /** Whole rows of the train set. */
  examples: Record<string, ReferenceCell>[];
}

/** @throws ServiceError `model.unknown` */
export async function showModel(red: Red, id: string, name: string): Promise<ShownModel> {
  const service = services(red).find((one) => one.id === id);
  if (service === undefined) {
    throw unknown(name);
  }
  return withCards(red, service, async (cards) => {
    const card = cards?.list().find((one) => one.name === name);
    if (cards === undefined || card === undefined) {
      throw unknown(name);
    }
    const reference = await cards.references.get(card.fitted_train_set_id);
    const { usual = [], rows = [], curves } = reference ?? {};
    const { columns } = reference === undefined || reference.columns.length === 0 ? card : reference;
    const rank = new Map(card.importance?.map(({ column }, place) => [column, place]));
    const fields = columns
      .map(({ name: column, type }, at): Field => ({ name: column, type, usual: usual[at] }))
      .sort((a, b) => (rank.get(a.name) ?? FIELDS) - (rank.get(b.name) ?? FIELDS))
      .slice(0, FIELDS);
    const step = Math.max(1, rows.length / EXAMPLES);
    const chosen = Array.from(
      { length: Math.min(rows.length, EXAMPLES) },
      (_, i) => rows[Math.floor((i + 0.5) * step)]!,
    );
    return {
      card,
      kind: service.kind,
      watched: shownWatch(name, service.key) !== undefined,
      before: versionBefore(cards, name),
      curves,
      importance: importanceBySensor(card),
      fields,
      examples: chosen.map((row) => asObject(columns, row)),
    };
  });
}

function versionBefore(cards: ModelCards, name: string): number | undefined {
  try {
    return cards.byFittedId(cards.rollBackTo(name, true))?.version;
  } catch {
    // There is none.
    return undefined;
  }
}

/** A kept row as a message would bring it. A date is text of its zone's local time, as it is kept. */
function asObject(columns: readonly Column[], row: readonly ReferenceCell[]): Record<string, ReferenceCell> {
  return Object.fromEntries(
    columns.map(({ name, type }, at): [string, ReferenceCell] => {
      const cell = row[at] ?? null;
      return [
        name,
        type === 'date' && typeof cell === 'number' ? new Date(cell).toISOString().slice(0, 19) : cell,
      ];
    }),
  );
}

function unknown(name: string): ServiceError {
  return new ServiceError('model.unknown', `There is no model "${name}" any more.`);
}

/** A service with its models, as `GET /tabular-prediction/models` lists it. */
export interface ListedService extends ShownService {
  /** Key of the service: see `serviceKey`. */
  service: string;
  /** It did not answer when it was last asked for a fit or a prediction. */
  away?: true;
  models: ListedModel[];
}

/** A model in a list; its whole card is at `…/card`. */
export type ListedModel = Pick<
  ModelCard,
  | 'name'
  | 'task'
  | 'target'
  | 'rows'
  | 'scores'
  | 'doubts'
  | 'trained_until'
  | 'fitted_at'
  | 'fitted_train_set_id'
  | 'threshold'
  | 'version'
  | 'versions'
> & {
  dead?: true;
  /** What a watch node found lately. */
  live?: Pick<LiveLoss, 'measure' | 'rows' | 'loss' | 'promised'> & {
    decayed: boolean;
    /** It looks worse than promised, but that is not sure. */
    unsure?: true;
  };
  /** Alarms that have been raised and not cleared; left out where there are none. */
  alarms?: number;
};

/** Each service of the flows, once, with its models. */
export function listServices(red: Red): Promise<ListedService[]> {
  return Promise.all(
    services(red).map(async (service) => {
      const { id, name, kind, key, state } = service;
      const away = state?.isAway === true && { away: true as const };
      return { id, name, kind, service: key, ...away, models: await listModels(red, service) };
    }),
  );
}

/** The models of a service, the newest first. */
export function listModels(red: Red, service: ServiceOfModels): Promise<ListedModel[]> {
  return withCards(red, service, (cards: ModelCards | undefined) => cards?.list().map(listedModel) ?? []);
}

export function listedModel(card: ModelCard & { dead?: true }): ListedModel {
  const { name, task, target, rows, scores, doubts, trained_until, fitted_at } = card;
  const { fitted_train_set_id, threshold, version, versions, dead } = card;
  const { live, decayed = false, isNew, unsure, changes = [] } = shownWatch(name, card.service) ?? {};
  const alarms = activeAlarms(changes);
  return {
    name,
    task,
    target,
    rows,
    scores,
    doubts,
    trained_until,
    fitted_at,
    fitted_train_set_id,
    threshold,
    version,
    versions,
    dead,
    // What the version before did says nothing of this one.
    ...(live?.loss !== undefined &&
      isNew !== true && {
        live: {
          measure: live.measure,
          rows: live.rows,
          loss: live.loss,
          promised: live.promised,
          decayed,
          ...(unsure && { unsure }),
        },
      }),
    ...(alarms > 0 && { alarms }),
  };
}

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

/** The model that a row of the sidebar is for, and where it is. @throws ServiceError `config.invalid`, `model.unknown` */
export function modelAndRow(
  red: Red,
  id: string,
  { model, row }: TryRequest,
): { connection: Connection; card: ModelCard; row: Record<string, unknown> } {
  if (typeof model !== 'string' || !isObject(row)) {
    throw new ServiceError('config.invalid', 'A model and a row are needed.');
  }
  const connection = serviceState(red, id).connection();
  const card = connection.cards.get(model);
  if (card === undefined) {
    throw new ServiceError('model.unknown', `There is no model "${model}" that answers now.`);
  }
  return { connection, card, row };
}

/** Predicts one row, as a predict node would. @throws ServiceError as a predict does */
export async function tryRow(red: Red, id: string, asked: TryRequest): Promise<TriedRow> {
  const { connection, card, row } = modelAndRow(red, id, asked);
  const isClass = card.task === 'classification';
  const property = 'prediction';
  const predictor = connection.predictor({ causeText: causeTexts(red) });
  try {
    const { table } = await predictor.predict(
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
    );
    const [first] = table as Record<string, unknown>[];
    return {
      prediction: isClass ? first?.[`${property}_probabilities`] : first?.[property],
      ...(first?.[`${property}_why`] !== undefined && { why: first[`${property}_why`] }),
    };
  } finally {
    await predictor.close();
  }
}

/** The bytes of a file that is sent. @throws ServiceError `limit.exceeded` */
export async function receiveFile(request: EditorRequest): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_MODEL_FILE_BYTES) {
      throw new ServiceError('limit.exceeded', `The file is larger than ${MAX_MODEL_FILE_BYTES} bytes.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
