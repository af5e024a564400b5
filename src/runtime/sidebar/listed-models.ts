import type { ModelCard, ModelCards } from '../../scoring';
import type { LiveLoss, WatchChange } from '../../watch';
import type { Red } from '../node-red';
import { shownWatch } from '../watch/shown-watch';
import { type ServiceOfModels, services, type ShownService, withCards } from './services';

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
    ...{ name, task, target, rows, scores, doubts, trained_until, fitted_at },
    ...{ fitted_train_set_id, threshold, version, versions, dead },
    // What the version before did says nothing of this one.
    ...(live?.loss !== undefined &&
      isNew !== true && {
        live: {
          ...{ measure: live.measure, rows: live.rows, loss: live.loss, promised: live.promised, decayed },
          ...(unsure && { unsure }),
        },
      }),
    ...(alarms > 0 && { alarms }),
  };
}

/** How many machines and steps ahead have an alarm that has not been cleared. */
function activeAlarms(changes: readonly WatchChange[]): number {
  const raised = new Map<string, boolean>();
  for (const { what, key, ahead } of changes) {
    if (what === 'alarm' || what === 'cleared') {
      raised.set(JSON.stringify([key, ahead]), what === 'alarm');
    }
  }
  return [...raised.values()].filter(Boolean).length;
}
