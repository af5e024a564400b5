import { toServiceError } from '../../wire/service-error';

/** Most predict requests for one batch, including the first. */
export const MAX_PREDICTS = 32;

interface Bisection<Item, Thrown = unknown> {
  /** Handles these items together, or throws. `apart`: handle them in halves, though none is wrong. */
  work: (items: Item[]) => Promise<'done' | 'apart'>;
  /** May throw: that ends the bisection, and the caller fails the remaining items. */
  toError: (thrown: unknown) => Thrown;
  /**
   * What follows from an error. `split`: a smaller group may pass. `fail`: these items fail, other groups may pass.
   * `end`: every group would get it, so all remaining items fail.
   */
  judge: (error: Thrown) => 'split' | 'fail' | 'end';
  /** Calls of `work` left. When there are none, the remaining items share the last error. Default: unlimited. */
  budget?: Budget;
}

/** What takes its error by itself. */
export interface Failing {
  fail(error: unknown): void;
}

interface Group<Item> {
  items: Item[];
  /** The items surely fail together: their other half has passed, so the culprit is among them. */
  mustFail?: boolean;
  /** The second half of what failed, where this is the first half. */
  other?: Group<Item>;
}

/** Handles items together; if that fails, in halves, in order, until each culprit is alone. */
async function bisect<Item extends Failing, Thrown>(
  items: Item[],
  how: Bisection<Item, Thrown>,
): Promise<void> {
  const { budget = { left: Infinity } } = how;
  const groups: Group<Item>[] = [{ items }];
  let last: Thrown | undefined;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.mustFail === true && group.items.length > 1) {
      pushHalves(groups, group.items);
      continue;
    }
    if (budget.left <= 0) {
      // The first call is free, so this is a part of a group that failed.
      failAll(group.items, last!);
      continue;
    }
    budget.left--;
    try {
      if ((await how.work(group.items)) === 'apart') {
        pushHalves(groups, group.items, false);
      } else if (group.other !== undefined) {
        group.other.mustFail = true;
      }
    } catch (thrown) {
      const error = how.toError(thrown);
      const verdict = how.judge(error);
      if (verdict === 'split') {
        last = error;
        if (group.items.length > 1) {
          pushHalves(groups, group.items);
          continue;
        }
      }
      failAll(group.items, error);
      if (verdict === 'end') {
        groups.splice(0).forEach((other) => failAll(other.items, error));
      }
    }
  }
}

/** The first half is on top. */
function pushHalves<Item>(groups: Group<Item>[], items: Item[], failed = true): void {
  const middle = items.length >> 1;
  const second: Group<Item> = { items: items.slice(middle) };
  groups.push(second, { items: items.slice(0, middle), other: failed ? second : undefined });
}

function failAll(items: readonly Failing[], error: unknown): void {
  for (const item of items) {
    item.fail(error);
  }
}

/** Predict requests that a batch may still make to find what the service refuses. */
export interface Budget {
  left: number;
}

export interface Halving<Item> {
  /** Scores these together: delivers their results, or throws. */
  score: (items: Item[]) => Promise<void>;
  /** Shared by the groups that a batch is sent in; the first predict of each is free. */
  budget: Budget;
}

/**
 * Scores items together; if the service refuses their content (422), in halves, until the culprit is alone. When the
 * budget of predicts is used up, the rest share the refusal.
 */
export function scoreByHalves<Item extends Failing>(items: Item[], how: Halving<Item>): Promise<void> {
  const { score, budget } = how;
  budget.left++;
  return bisect(items, {
    work: async (group) => {
      await score(group);
      return 'done';
    },
    toError: toServiceError,
    budget,
    judge: ({ code }) => {
      switch (code) {
        // Found by an estimate: nothing was sent.
        case 'cost.exceeded':
          budget.left++;
          return 'split';
        // The service objects to what the rows hold, or to how many they are.
        case 'validation.failed':
        case 'limit.exceeded':
          return 'split';
        case 'predict.unknown':
        case 'response.invalid':
          return 'fail';
        default:
          return 'end';
      }
    },
  });
}
