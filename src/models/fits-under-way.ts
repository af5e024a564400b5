import { BoundedMap } from '../util/collections';
import { Serial } from '../util/concurrency';
import type { FittedModel, ModelCard } from './cards';
import type { NewVersion } from './named-models';
import type { PendingFit } from './service-section';

/** How many models' last errors are remembered: messages may name any number of models. */
const MAX_ERRORS = 500;

/** What has become of a fit under its name. */
export interface PutModel {
  /** The model of the fit. */
  own: ModelCard;
  /** Another one, where the fit came too late or its model was rolled back from before. */
  inCharge: ModelCard;
}

/** A fit under way: messages for its model wait for it. */
export interface FitUnderWay {
  /** Keeps it while it goes on in the service: if this process ends before it, it is taken up again after the restart. */
  readonly goesOn: (fit: PendingFit) => void;
  /**
   * Keeps the card as a version of its name. It takes charge, unless a fit that began later has done so already, or the
   * model has since been rolled back.
   */
  readonly done: (card: FittedModel, fingerprint?: string, why?: NewVersion['why']) => PutModel;
  /** It has ended without a model of its own. */
  readonly ended: () => void;
  readonly failed: (error: Error) => void;
}

/** A fit that was announced. */
export interface AnnouncedFit {
  /** Higher than that of every fit that was announced before. */
  readonly begun: number;
  /** A fit that began later has taken charge, or the name was rolled back since. */
  readonly isOvertaken: () => boolean;
  /** Its model is there: false where a fit that began later has taken charge, or the name was rolled back since. */
  readonly takeCharge: () => boolean;
  /** It has ended, with a model or without; with an error it failed. */
  readonly end: (error?: Error) => void;
}

interface Waiter {
  promise: Promise<void>;
  resolve: () => void;
}

let fitCount = 0;

/** The fits under way of one service, and who waits for the models that come of them, by model name. */
export class FitsUnderWay {
  private readonly fits = new Map<string, Set<Waiter>>();
  /** When the fit of the card under a name began, or the name was rolled back, for the order of overlapping fits. */
  private readonly begun = new Map<string, number>();
  private readonly lastError = new BoundedMap<string, Error>(MAX_ERRORS);
  private readonly arrivals = new Map<string, Set<() => void>>();
  private readonly expected = new Set<Waiter>();
  private readonly turns = new Map<string, { serial: Serial; waiting: number }>();

  /**
   * A message has come that may ask for a fit; of which model is known once it has been read.
   * @returns to be called then: its fit is announced, or there is none
   */
  expect(): () => void {
    const waiter = newWaiter();
    this.expected.add(waiter);
    return () => {
      this.expected.delete(waiter);
      waiter.resolve();
    };
  }

  /** Resolves when the fits are announced that messages ask for which have come so far. */
  async announced(): Promise<void> {
    await Promise.all([...this.expected].map(({ promise }) => promise));
  }

  /** Announces a fit. Until it ends, `end(name)` is there to wait for. */
  announce(name: string): AnnouncedFit {
    const begun = ++fitCount;
    const waiter = newWaiter();
    const fits = this.fits.get(name) ?? new Set();
    fits.add(waiter);
    this.fits.set(name, fits);
    const isOvertaken = (): boolean => (this.begun.get(name) ?? 0) > begun;
    return {
      begun,
      isOvertaken,
      takeCharge: () => {
        if (isOvertaken()) {
          return false;
        }
        this.begun.set(name, begun);
        this.lastError.delete(name);
        return true;
      },
      end: (error) => {
        if (error !== undefined) {
          this.lastError.set(name, error);
        }
        fits.delete(waiter);
        if (fits.size === 0) {
          this.fits.delete(name);
        }
        waiter.resolve();
      },
    };
  }

  /** What is under way under that name does not take charge any more. */
  overtake(name: string): void {
    this.begun.set(name, ++fitCount);
  }

  /** Runs steps of one name one after the other: fits are compared each with the model that the last has left in charge. */
  async inTurn<Result>(name: string, step: () => Promise<Result>): Promise<Result> {
    const turn = this.turns.get(name) ?? { serial: new Serial(), waiting: 0 };
    this.turns.set(name, turn);
    turn.waiting++;
    try {
      return await turn.serial.run(step);
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) {
        this.turns.delete(name);
      }
    }
  }

  /** Resolves when a fit of that model ends, whether it succeeds or fails; undefined when none is under way. */
  end(name: string): Promise<void> | undefined {
    const fits = this.fits.get(name);
    return fits === undefined ? undefined : Promise.race([...fits].map((fit) => fit.promise));
  }

  /** Why the last fit under that name failed. */
  error(name: string): Error | undefined {
    return this.lastError.get(name);
  }

  /** Resolves when a card is put under the name, or the signal is aborted. */
  arrival(name: string, signal: AbortSignal): Promise<void> {
    const waiting = this.arrivals.get(name) ?? new Set();
    this.arrivals.set(name, waiting);
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        if (waiting.size === 0) {
          this.arrivals.delete(name);
        }
        resolve();
      };
      waiting.add(end);
      if (signal.aborted) {
        end();
      } else {
        signal.addEventListener('abort', end);
      }
    });
  }

  /** A card was put under the name. */
  arrived(name: string): void {
    for (const wake of this.arrivals.get(name) ?? []) {
      wake();
    }
  }
}

function newWaiter(): Waiter {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
