import type { MessagePort } from 'node:worker_threads';

import {
  type Executor,
  type FoldResult,
  learnResiduals,
  type Model,
  partOfFit,
  type PreparedFit,
  type ResidualFit,
  type ResidualTask,
  trainFolds,
  type TrainInput,
  trainModel,
} from '../../learner';

/**
 * How the folds of one fit spread over threads. The thread that runs the fit sends every helper the prepared
 * data and a board in shared memory; each takes the next fold by counting up. A helper that starts late finds
 * fewer folds, one that never starts is not missed, and the model does not depend on who trained what.
 */
interface Invitation {
  prepared: PreparedFit;
  /** [0] the next fold to take; [1 + fold] who took it, 0 for nobody or the fit itself. */
  board: Int32Array;
  /** Of FoldProgress. */
  progress: Int32Array;
  /** What the helper signs with. */
  name: number;
  /** [0] the name of the helper that waits for residuals to learn, or one of `WAITS`; undefined: none is to wait. */
  waits: Int32Array | undefined;
}

/** Nobody waits for the residuals; they are coming, or the fit learns them itself. */
const WAITS = { nobody: 0, settled: -1 } as const;

/** How often a helper that waits looks if it is wanted elsewhere, milliseconds. */
const LOOK_MS = 5;

/** Up to this many rows a helper waits for the residuals; with more they are a small part of the fit. */
const MOST_WAITED_ROWS = 2000;

/** How often progress is reported while the fit waits for its helpers, milliseconds. */
const TELL_MS = 250;
/** A small fit has thousands of steps: at most one of them is reported per this many milliseconds. */
const REPORT_MS = 50;

/**
 * Fits a model with the help of other threads. Empties `input.features`: the encoded columns are all that the folds need.
 *
 * @param helpers lines to threads that run `assist`
 * @param onPrepared called once the values of the columns are not needed any more
 * @throws LearnerError as `trainModel` does
 */
export async function trainWithHelpers(
  input: TrainInput,
  helpers: MessagePort[],
  onProgress: (fraction: number) => void,
  onPrepared: () => void = () => undefined,
): Promise<Model> {
  const threads = new Threads(helpers, onProgress, () => {
    // Their values take up to eight times the memory of the encoded columns.
    input.features.length = 0;
    onPrepared();
  });
  try {
    const model = await trainModel(input, threads);
    onProgress(1);
    return model;
  } finally {
    threads.close();
  }
}

/** This thread and its helpers. */
class Threads implements Executor {
  private lines: Line[] = [];
  private waits: Int32Array | undefined;

  constructor(
    private readonly helpers: MessagePort[],
    private readonly onProgress: (fraction: number) => void,
    private readonly onPrepared: () => void,
  ) {}

  async folds(prepared: PreparedFit): Promise<FoldResult[]> {
    this.onPrepared();
    const { folds } = prepared;
    const board = new Int32Array(new SharedArrayBuffer(4 * (folds + 1)));
    const progress = new FoldProgress(FoldProgress.cells(folds));
    const tell = (): void => this.onProgress(partOfFit(prepared, progress.fraction()));
    const tellNowAndThen = nowAndThen(tell);
    tell();
    const results = new Map<number, FoldResult>();
    const isQuick = prepared.task === 'regression' && prepared.rows <= MOST_WAITED_ROWS;
    const waits = isQuick ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
    this.waits = waits;
    this.lines = this.helpers.map((port, at) => {
      const invitation: Invitation = { prepared, board, progress: progress.cells, name: at + 1, waits };
      port.postMessage(invitation);
      return new Line(port, at + 1, board, results);
    });
    for (const result of trained(prepared, () => take(board), progress, tellNowAndThen)) {
      results.set(result.fold, result);
      await breathe();
    }
    const waiting = setInterval(tell, TELL_MS);
    try {
      await Promise.all(this.lines.map((line) => line.settled()));
    } finally {
      clearInterval(waiting);
    }
    // A helper took them and died over it.
    const missing = Array.from({ length: folds }, (_, fold) => fold).filter((fold) => !results.has(fold));
    for (const result of trained(prepared, () => missing.shift() ?? folds, progress, tellNowAndThen)) {
      results.set(result.fold, result);
    }
    tell();
    return [...results.values()];
  }

  /** On a helper that waits for them, while this thread goes on; else here. */
  async residuals(prepared: PreparedFit, task: ResidualTask): Promise<ResidualFit> {
    const { waits, lines } = this;
    const helper = waits && lines[Atomics.exchange(waits, 0, WAITS.settled) - 1];
    return (await helper?.learn(task)) ?? learnResiduals(prepared, task);
  }

  close(): void {
    for (const port of this.helpers) {
      port.close();
    }
  }
}

/**
 * Helps a fit until there are no more folds, and then with the residuals of a small one, unless it is wanted elsewhere.
 *
 * @param wanted true when this thread should rather do something else
 * @param onProgress hears of the whole fit, which gets on by what this helper does
 */
export async function assist(
  port: MessagePort,
  wanted: () => boolean,
  onProgress: (fraction: number) => void = () => undefined,
): Promise<void> {
  try {
    const invitation = await nextMessage<Invitation>(port);
    if (invitation === undefined) {
      return;
    }
    const { prepared, board, name, waits } = invitation;
    const progress = new FoldProgress(invitation.progress);
    const tell = nowAndThen(() => onProgress(partOfFit(prepared, progress.fraction())));
    const takeOne = (): number => {
      const fold = wanted() ? prepared.folds : take(board);
      if (fold < prepared.folds) {
        Atomics.store(board, fold + 1, name);
      }
      return fold;
    };
    for (const result of trained(prepared, takeOne, progress, tell)) {
      port.postMessage(result);
    }
    const { nobody } = WAITS;
    if (waits && !wanted() && Atomics.compareExchange(waits, 0, nobody, name) === nobody) {
      const leaves = () => wanted() && Atomics.compareExchange(waits, 0, name, nobody) === name;
      const residuals = await nextMessage<ResidualTask>(port, leaves);
      if (residuals !== undefined) {
        port.postMessage(learnResiduals(prepared, residuals));
      }
    }
  } finally {
    port.close();
  }
}

/**
 * Undefined where the other end closes.
 *
 * @param leaves asked now and then: true where the message is not waited for any longer
 */
function nextMessage<T>(port: MessagePort, leaves?: () => boolean): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = (message?: T): void => {
      clearInterval(looks);
      resolve(message);
    };
    const looks = leaves && setInterval(() => leaves() && end(), LOOK_MS);
    port.once('message', end);
    port.once('close', () => end());
  });
}

/** Trains the folds that `take` gives, and says how far they are. */
function* trained(
  prepared: PreparedFit,
  take: () => number,
  progress: FoldProgress,
  tell: () => void,
): Generator<FoldResult, void, undefined> {
  const onProgress = (fold: number, part: number): void => {
    progress.reach(fold, part);
    tell();
  };
  for (const result of trainFolds(prepared, take, { onProgress })) {
    progress.end(result.fold);
    yield result;
  }
}

/** Does it at most once in a while. */
function nowAndThen(work: () => void): () => void {
  let last = -Infinity;
  return () => {
    if (performance.now() - last >= REPORT_MS) {
      last = performance.now();
      work();
    }
  };
}

function take(board: Int32Array): number {
  return Atomics.add(board, 0, 1);
}

/** Lets messages in between two folds. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The fit's end of a line: collects what the helper has done. */
class Line {
  private closed = false;
  private wake: (() => void) | undefined;
  private learned: ResidualFit | undefined;

  constructor(
    readonly port: MessagePort,
    private readonly name: number,
    private readonly board: Int32Array,
    private readonly results: Map<number, FoldResult>,
  ) {
    port.on('message', (result: FoldResult | ResidualFit) => {
      if ('fold' in result) {
        results.set(result.fold, result);
      } else {
        this.learned = result;
      }
      this.wake?.();
    });
    port.on('close', () => {
      this.closed = true;
      this.wake?.();
    });
  }

  /** When the helper has delivered all that it took, or is gone. */
  async settled(): Promise<void> {
    while (!this.closed && this.owes()) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** What the helper, which waits for it, makes of residuals; undefined if it dies over them. */
  async learn(residuals: ResidualTask): Promise<ResidualFit | undefined> {
    this.port.postMessage(residuals);
    while (!this.closed && this.learned === undefined) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return this.learned;
  }

  private owes(): boolean {
    for (let fold = 0; fold + 1 < this.board.length; fold++) {
      if (Atomics.load(this.board, fold + 1) === this.name && !this.results.has(fold)) {
        return true;
      }
    }
    return false;
  }
}

/** `trainFold` tells parts of one; shared memory holds whole numbers. */
const UNIT = 1_000_000;

/**
 * How far the folds of one fit are, whichever threads train them: in shared memory, because a thread that trains
 * takes no messages. For each fold what it reported last, and whether it has ended.
 */
export class FoldProgress {
  private reported = 0;

  /** @param cells two numbers for each fold; `FoldProgress.cells` makes them */
  constructor(readonly cells: Int32Array) {}

  static cells(folds: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer(8 * folds));
  }

  /** Sets a fold's progress, 0 to 1 of the most that it may take; it usually ends before. */
  reach(fold: number, part: number): void {
    Atomics.store(this.cells, fold, Math.round(part * UNIT));
  }

  end(fold: number): void {
    Atomics.store(this.cells, this.folds + fold, 1);
  }

  /**
   * Progress of all folds, 0 to 1. Folds stop early, so a running one is expected to end where those before it did.
   * Progress never goes back.
   */
  fraction(): number {
    const folds = Array.from({ length: this.folds }, (_, fold) => ({
      reached: Atomics.load(this.cells, fold) / UNIT,
      ended: Atomics.load(this.cells, this.folds + fold) === 1,
    }));
    const ends = folds.filter(({ ended }) => ended).map(({ reached }) => reached);
    const usual = ends.length === 0 ? 1 : ends.reduce((sum, end) => sum + end, 0) / ends.length;
    const done = folds.reduce(
      (sum, { reached, ended }) => sum + (ended ? 1 : Math.min(ALMOST, reached / Math.max(usual, MIN_USUAL))),
      0,
    );
    this.reported = Math.max(this.reported, done / this.folds);
    return this.reported;
  }

  private get folds(): number {
    return this.cells.length / 2;
  }
}

/** A fold that runs longer than the others is not taken as ended. */
const ALMOST = 0.98;
/** Avoids a division by zero where folds end at their first step. */
const MIN_USUAL = 0.001;
