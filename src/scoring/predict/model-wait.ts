import { Yielder } from '../../util/event-loop';
import type { ModelCards } from '../models/cards/model-cards';
import { unknownModel } from '../models/model-request';

/** The items that wait for one model. Once none is left, `over` is aborted. */
interface Queue<Item> {
  readonly items: Set<Item>;
  readonly over: AbortController;
}

/** Items that wait for a model: one whose fit is under way or, with `always`, any that does not exist yet. */
export class ModelWait<Item> {
  private readonly queues = new Map<string, Queue<Item>>();

  /**
   * @param resume called with each item, in order of arrival, when the fit has ended, whether it succeeded or failed
   */
  constructor(
    private readonly cards: ModelCards,
    private readonly always: boolean,
    private readonly resume: (item: Item) => void,
  ) {}

  get size(): number {
    return [...this.queues.values()].reduce((count, { items }) => count + items.size, 0);
  }

  /** @throws ServiceError `model.unknown` where there is nothing to wait for, `storage.failed` where nobody can know */
  add(name: string, item: Item): void {
    this.cards.assertUsable();
    if (this.cards.fitEnd(name) === undefined && !this.always) {
      throw unknownModel(name, this.cards);
    }
    const queue = this.queues.get(name);
    if (queue !== undefined) {
      queue.items.add(item);
      return;
    }
    const first = { items: new Set([item]), over: new AbortController() };
    this.queues.set(name, first);
    void this.resumeWhenThere(name, first);
  }

  /** An item no longer waits: it was dropped, cancelled or closed. */
  remove(name: string, item: Item): void {
    const queue = this.queues.get(name);
    if (queue?.items.delete(item) === true && queue.items.size === 0) {
      this.queues.delete(name);
      queue.over.abort();
    }
  }

  /** Resumes a few milliseconds' worth of items at a time, with turns of the event loop in between. */
  private async resumeWhenThere(name: string, { items, over: { signal } }: Queue<Item>): Promise<void> {
    for (let end = this.mayArrive(name, signal); end !== undefined; end = this.mayArrive(name, signal)) {
      await end;
      if (signal.aborted) {
        return;
      }
      if (this.cards.get(name) !== undefined) {
        break;
      }
    }
    this.queues.delete(name);
    const yielder = new Yielder();
    for (const item of items) {
      this.resume(item);
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }

  /** Ends when the model may be there: with the fit under way or, where `always`, with any later one. */
  private mayArrive(name: string, signal: AbortSignal): Promise<void> | undefined {
    const { cards } = this;
    const fit = cards.fitEnd(name);
    return fit === undefined && this.always ? cards.arrival(name, signal) : fit;
  }
}
