import { Yielder } from '../../util/event-loop';
import type { ModelCards } from '../models/cards/model-cards';
import { unknownModel } from '../models/model-request';

/** Items that wait for a model: one whose fit is under way, or with `always` one that nobody has asked for yet. */
export class ModelWait<Item> {
  private readonly waiting = new Map<string, Item[]>();

  /**
   * @param resume called with each item, in order of arrival, when the fit has ended, whether it succeeded or failed
   * @param signal ends the waiting
   */
  constructor(
    private readonly cards: ModelCards,
    private readonly always: boolean,
    private readonly resume: (item: Item) => void,
    private readonly signal: AbortSignal,
  ) {}

  get size(): number {
    return [...this.waiting.values()].reduce((count, items) => count + items.length, 0);
  }

  /** @throws ServiceError `model.unknown` where there is nothing to wait for */
  add(name: string, item: Item): void {
    if (this.cards.fitEnd(name) === undefined && !this.always) {
      throw unknownModel(name, this.cards);
    }
    const items = this.waiting.get(name);
    if (items !== undefined) {
      items.push(item);
      return;
    }
    this.waiting.set(name, [item]);
    void this.resumeWhenThere(name);
  }

  clear(): void {
    this.waiting.clear();
  }

  /** Resumes a few milliseconds' worth of items at a time, with turns of the event loop in between. */
  private async resumeWhenThere(name: string): Promise<void> {
    for (let end = this.mayArrive(name); end !== undefined; end = this.mayArrive(name)) {
      await end;
      if (this.cards.get(name) !== undefined || this.signal.aborted) {
        break;
      }
    }
    const items = this.waiting.get(name) ?? [];
    this.waiting.delete(name);
    const yielder = new Yielder();
    for (const item of items) {
      this.resume(item);
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }

  /** Ends when the model may be there: with the fit under way, or with any later one where items wait for it. */
  private mayArrive(name: string): Promise<void> | undefined {
    const { cards } = this;
    const fit = cards.fitEnd(name);
    return fit === undefined && this.always ? cards.arrival(name, this.signal) : fit;
  }
}
