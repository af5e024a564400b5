import { BoundedMap } from '../../util/collections';
import type { WatchChange } from '../types';

/** Changes kept for display. Alarms are dropped first, so that they do not crowd out changes of the model. */
const KEPT = 20;
const KEPT_OF_MODEL = 10;
const DAY = 86_400_000;
/** Kinds and keys whose last report is remembered. */
const MOST = 4000;
const LIMITED: ReadonlySet<WatchChange['what']> = new Set(['decay', 'recovered', 'drift', 'no_truth']);

export interface ChangesState {
  newest: WatchChange[];
  told: [place: string, time: number][];
}

/** The changes reported: at most one a day per kind and key, in event time, except for alarms and new models. */
export class Changes {
  newest: WatchChange[];
  private readonly told = new BoundedMap<string, number>(MOST);

  constructor(state?: ChangesState) {
    this.newest = state?.newest.slice() ?? [];
    for (const [place, time] of state?.told ?? []) {
      this.told.set(place, time);
    }
  }

  mayReport(what: WatchChange['what'], key: string | undefined, time: number): boolean {
    const last = this.told.get(placeOf(what, key));
    return last === undefined || !LIMITED.has(what) || Math.abs(time - last) >= DAY;
  }

  tell(change: WatchChange, time: number): WatchChange {
    this.told.set(placeOf(change.what, change.key), time);
    this.newest = newestOf([...this.newest, change]);
    return change;
  }

  toJSON(): ChangesState {
    return { newest: [...this.newest], told: [...this.told] };
  }
}

function newestOf(changes: WatchChange[]): WatchChange[] {
  if (changes.length <= KEPT) {
    return changes;
  }
  const isOfModel = ({ what }: WatchChange): boolean => what !== 'alarm' && what !== 'cleared';
  const alarms = changes.length - changes.filter(isOfModel).length;
  const isTooMany = alarms > KEPT - KEPT_OF_MODEL ? (one: WatchChange) => !isOfModel(one) : isOfModel;
  const oldest = changes.findIndex(isTooMany);
  return changes.filter((_, at) => at !== oldest);
}

function placeOf(what: string, key: string | undefined): string {
  return key === undefined ? what : `${what} ${key}`;
}
