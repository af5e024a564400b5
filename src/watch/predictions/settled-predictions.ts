import type { SettledPrediction } from '../types';
import type { OpenPrediction } from './open-predictions';

/** Points per picture, and in all pictures together. */
const MOST = 200;
const MOST_OF_ALL = 600;

/** For pictures: the newest truths of each key and ahead, with their predictions as they left. */
export class SettledPredictions {
  /** By key and ahead, in order of their newest truth. */
  private readonly places = new Map<string, SettledPrediction[]>();
  private size = 0;

  constructor(state: readonly SettledPrediction[] = []) {
    state.forEach((one) => this.keep(one));
  }

  add({ key, time, ahead, issued, left }: OpenPrediction, truth: unknown): void {
    this.keep({
      ...(key !== null && { key }),
      ...(ahead !== null && { ahead }),
      time: time + (ahead ?? 0),
      truth: truth as SettledPrediction['truth'],
      prediction: 'label' in issued ? issued.label : (left?.middle ?? issued.middle),
      ...(left && { low: left.low, high: left.high }),
    });
  }

  /** In order of time, the oldest first. */
  toJSON(): SettledPrediction[] {
    return [...this.places.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, newest]) => newest)
      .sort((a, b) => a.time - b.time);
  }

  private keep(one: SettledPrediction): void {
    const place = `${one.key ?? ''} ${one.ahead ?? ''}`;
    const newest = this.places.get(place) ?? [];
    this.places.delete(place);
    this.places.set(place, newest);
    newest.push(one);
    this.size++;
    if (newest.length > MOST) {
      newest.shift();
      this.size--;
    }
    if (this.size > MOST_OF_ALL) {
      this.dropOldest();
    }
  }

  /** Drops from the place with the most points; among equals, from the one updated least recently. */
  private dropOldest(): void {
    let longest: [place: string, newest: SettledPrediction[]] | undefined;
    for (const entry of this.places) {
      if (longest === undefined || entry[1].length > longest[1].length) {
        longest = entry;
      }
    }
    const [place, newest] = longest!;
    newest.shift();
    this.size--;
    if (newest.length === 0) {
      this.places.delete(place);
    }
  }
}
