import { ServiceError } from '../../wire/service-error';

/** Predicts for one batch at most, the first included. */
export const MAX_PREDICTS = 32;

/** Predicts that a batch may still take to find what the service refuses. */
export interface Budget {
  left: number;
}

export interface Halving<Item> {
  /** Scores these together: delivers their results, or throws. */
  score: (items: Item[]) => Promise<void>;
  fail: (item: Item, error: ServiceError) => void;
  toError: (thrown: unknown) => ServiceError;
  /** Shared by the groups that a batch is sent in; the first predict of each is free. */
  budget: Budget;
}

interface Group<Item> {
  items: Item[];
  /** The error that these surely meet again: their other half was accepted, so the culprit is among them. */
  refusal?: ServiceError;
  /** The second half of what this is the first half of. */
  other?: Group<Item>;
}

/**
 * Scores items together; where the service refuses them for what they hold (422), in halves, until the culprit is
 * alone. When the predicts are used up, the rest share the refusal.
 */
export async function scoreByHalves<Item>(items: Item[], how: Halving<Item>): Promise<void> {
  const { budget } = how;
  const groups: Group<Item>[] = [{ items }];
  budget.left++;
  let last: ServiceError | undefined;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.refusal !== undefined && group.items.length > 1) {
      split(groups, group.items);
      continue;
    }
    if (budget.left <= 0) {
      failAll(group.items, last ?? noPredictsLeft(), how);
      continue;
    }
    budget.left--;
    try {
      await how.score(group.items);
      if (group.other !== undefined && last !== undefined) {
        group.other.refusal = last;
      }
    } catch (thrown) {
      const error = how.toError(thrown);
      if (error.code === 'cost.exceeded') {
        // Found by an estimate: nothing was sent.
        budget.left++;
      }
      if (!isRefusal(error)) {
        failAll(group.items, error, how);
        if (!concernsOneBatch(error)) {
          for (const other of groups.splice(0)) {
            failAll(other.items, error, how);
          }
        }
        continue;
      }
      last = error;
      if (group.items.length === 1) {
        failAll(group.items, error, how);
      } else {
        split(groups, group.items);
      }
    }
  }
}

/** The service objects to what the rows hold, or to how many they are: smaller groups may pass. */
function isRefusal(error: ServiceError): boolean {
  return (
    error.code === 'validation.failed' || error.code === 'cost.exceeded' || error.code === 'limit.exceeded'
  );
}

/** Errors that another group need not meet. */
function concernsOneBatch(error: ServiceError): boolean {
  return error.code === 'predict.unknown' || error.code === 'response.invalid';
}

function split<Item>(groups: Group<Item>[], items: Item[]): void {
  const middle = items.length >> 1;
  const second: Group<Item> = { items: items.slice(middle) };
  groups.push(second, { items: items.slice(0, middle), other: second });
}

function failAll<Item>(items: Item[], error: ServiceError, how: Halving<Item>): void {
  for (const item of items) {
    how.fail(item, error);
  }
}

function noPredictsLeft(): ServiceError {
  return new ServiceError('validation.failed', 'The service refused the batch.');
}
