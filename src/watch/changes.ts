import { BoundedMap } from '../util/bounded-map';
import type { WatchChange } from './types';

/** Changes that are kept for pictures. */
const KEPT = 20;
const DAY = 86_400_000;
/** Kinds and keys whose last time is known. */
const MOST = 4000;
const LIMITED: ReadonlySet<WatchChange['what']> = new Set(['decay', 'recovered', 'drift', 'no_truth']);

export interface ChangesState {
  newest: WatchChange[];
  told: [place: string, time: number][];
}

/** What was told. Of a kind and key at most one a day, by the time of the rows, but for alarms and new models. */
export class Changes {
  newest: WatchChange[];
  private readonly told = new BoundedMap<string, number>(MOST);

  constructor(state?: ChangesState) {
    this.newest = state?.newest.slice() ?? [];
    for (const [place, time] of state?.told ?? []) {
      this.told.set(place, time);
    }
  }

  mayTell(what: WatchChange['what'], key: string | undefined, time: number): boolean {
    const last = this.told.get(placeOf(what, key));
    return last === undefined || !LIMITED.has(what) || Math.abs(time - last) >= DAY;
  }

  tell(change: WatchChange, time: number): WatchChange {
    this.told.set(placeOf(change.what, change.key), time);
    this.newest = [...this.newest, change].slice(-KEPT);
    return change;
  }

  toJSON(): ChangesState {
    return { newest: [...this.newest], told: [...this.told] };
  }
}

function placeOf(what: string, key: string | undefined): string {
  return key === undefined ? what : `${what} ${key}`;
}
