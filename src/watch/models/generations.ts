import { BoundedMap } from '../../util/collections';
import type { WatchedModel } from '../types';

const MOST_FORMER = 8;

export interface GenerationsState {
  model: WatchedModel;
  generation: number;
  former: [generation: number, model: WatchedModel][];
}

/** The successive models in charge: truths of an earlier one's predictions may still come. */
export class Generations {
  current: WatchedModel;
  /** How many models were in charge before the current one. */
  number: number;
  private readonly former = new BoundedMap<number, WatchedModel>(MOST_FORMER);

  constructor(model: WatchedModel, state?: Omit<GenerationsState, 'model'>) {
    this.current = model;
    this.number = state?.generation ?? 0;
    for (const [generation, former] of state?.former ?? []) {
      this.former.set(generation, former);
    }
  }

  /** Another model is in charge from now on. */
  next(model: WatchedModel): void {
    this.former.set(this.number, this.current);
    this.number++;
    this.current = model;
  }

  model(generation: number): WatchedModel | undefined {
    return generation === this.number ? this.current : this.former.get(generation);
  }

  /** The newest generation of a model id; undefined where it was not in charge recently. */
  of(id: string): number | undefined {
    if (id === this.current.id) {
      return this.number;
    }
    return Array.from(this.former).findLast(([, model]) => model.id === id)?.[0];
  }

  toJSON(): GenerationsState {
    return { model: this.current, generation: this.number, former: [...this.former] };
  }
}
