import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

import type { TrainOptions } from '../../../learner';
import { MODEL_FORMAT } from '../../../learner/model/serialize';
import { Semaphore } from '../../../util/semaphore';
import type { FitRequest } from '../../../wire/types';
import type { ServiceLimits } from '../../limits';
import type { Log } from '../../options';
import type { ModelEntry, Task, UploadEntry } from '../../store/entries';
import type { Shelved } from '../../store/shelf';
import { MODEL_FILE, type Store } from '../../store/store';
import { fileRef } from '../../store/uploads';
import { LEARNER } from '../../version';
import type { FitJob, FitOutcome, ModelRef } from '../jobs';
import type { WorkerPool } from '../pool/pool';
import { tooManyWait } from '../pool/pool-refusals';
import { canonical } from './canonical';

/** A smaller file is fitted before a helper thread would have started. */
const HELPED_BYTES = 200_000;

/** Of train sets with more than a quarter of the cells that the memory allows only so many are fitted at once. */
const LARGE_AT_ONCE = 2;
/** … and so many wait: each has a folder, and holds its upload. */
const LARGE_WAITING = 64;
const LARGE_PART = 1 / 4;
/** Bytes of a file for each cell at the least: how many cells it may have, before it has been read. */
const LEAST_CELL_BYTES = { csv: 3, parquet: 0.5 };

/** A fit that waits or runs. */
export interface FitUnderWay {
  fitted_train_set_id: string;
  train_set_upload_id: string;
  task: Task;
  /** Unix milliseconds. */
  started_at: number;
  /** 0 to 1. */
  progress: number;
}

export interface FitAnswer {
  entry: ModelEntry;
  /** True where an earlier fit, or one already under way, answered. */
  reused: boolean;
}

/** Runs fits, one per distinct request: an unchanged request gets the earlier result unless it is forced. */
export class Fits {
  private readonly underWay = new Map<string, { state: FitUnderWay; answer: Promise<ModelEntry> }>();
  private readonly forced = new Set<FitUnderWay>();
  private readonly large = new Semaphore(LARGE_AT_ONCE, LARGE_WAITING);

  constructor(
    private readonly store: Store,
    private readonly pool: WorkerPool,
    private readonly limits: ServiceLimits,
    private readonly onFitted: (model: ModelRef) => void,
    private readonly log: Log,
  ) {}

  list(): FitUnderWay[] {
    return [...[...this.underWay.values()].map(({ state }) => state), ...this.forced];
  }

  /**
   * A model for the request. It goes on when the one who asked goes away: asking again joins it.
   *
   * @throws Refusal 404, 422 as the train set and the learner give cause; 429 when too many fits wait
   */
  async fit(request: FitRequest): Promise<FitAnswer> {
    const key = fitKey(request);
    if (request.force_refit === true) {
      return { entry: await this.run(request, key), reused: false };
    }
    const known = this.find(key);
    if (known !== undefined) {
      return { entry: known, reused: true };
    }
    const running = this.underWay.get(key);
    if (running !== undefined) {
      return { entry: await running.answer, reused: true };
    }
    return { entry: await this.run(request, key), reused: false };
  }

  private find(key: string): ModelEntry | undefined {
    let newest: ModelEntry | undefined;
    for (const { entry } of this.store.models.items.values()) {
      if (entry.fitKey === key && entry.createdAt >= (newest?.createdAt ?? 0)) {
        newest = entry;
      }
    }
    return newest === undefined ? undefined : this.store.models.use(newest.id)?.entry;
  }

  private async run(request: FitRequest, key: string): Promise<ModelEntry> {
    const state: FitUnderWay = {
      fitted_train_set_id: randomUUID(),
      train_set_upload_id: request.train_set_upload_id.toLowerCase(),
      task: request.task,
      started_at: Date.now(),
      progress: 0,
    };
    const answer = this.train(request, key, state);
    if (request.force_refit === true) {
      this.forced.add(state);
    } else {
      this.underWay.set(key, { state, answer });
    }
    try {
      return await answer;
    } finally {
      this.forced.delete(state);
      if (this.underWay.get(key)?.state === state) {
        this.underWay.delete(key);
      }
    }
  }

  private async train(request: FitRequest, key: string, state: FitUnderWay): Promise<ModelEntry> {
    const { uploads, models } = this.store;
    const id = state.fitted_train_set_id;
    const upload = uploads.get(state.train_set_upload_id, 'train');
    let folder: string | undefined;
    try {
      folder = models.makeFolder(id);
      const modelFile = path.join(folder, MODEL_FILE);
      this.log('debug', `Fit ${id} of ${upload.entry.id} starts.`);
      const start = (): Promise<FitOutcome> => this.start(request, upload, modelFile, state);
      const large = mayHoldCells(upload.entry) > this.limits.train_set_max_cells * LARGE_PART;
      const outcome = await uploads.reading(upload, () =>
        large ? this.large.run(start, () => tooManyWait('fit')) : start(),
      );
      const entry = modelEntry(id, key, request, outcome);
      await models.put(entry, folder, true);
      this.log('debug', `Fit ${id} took ${Date.now() - state.started_at} ms.`);
      this.onFitted({ id, file: modelFile, crc: entry.crc });
      await this.store.trim();
      return entry;
    } catch (error) {
      if (folder !== undefined) {
        await rm(folder, { recursive: true, force: true });
      }
      throw error;
    }
  }

  private start(
    request: FitRequest,
    upload: Shelved<UploadEntry>,
    modelFile: string,
    state: FitUnderWay,
  ): Promise<FitOutcome> {
    const worthIt = (upload.entry.x.arrived?.bytes ?? 0) >= HELPED_BYTES;
    const helpers = worthIt ? Math.max(0, this.pool.spare - 1) : 0;
    const lines = Array.from({ length: helpers }, () => new MessageChannel());
    const job: FitJob = {
      kind: 'fit',
      x: fileRef(upload, 'x'),
      y: fileRef(upload, 'y'),
      task: request.task,
      options: trainOptions(request),
      limits: this.limits,
      modelFile,
      helpers: lines.map(({ port1 }) => port1),
    };
    const done = this.pool.run<FitOutcome>(job, {
      transfer: job.helpers,
      onProgress: (fraction) => (state.progress = fraction),
    });
    for (const { port2 } of lines) {
      this.assist(port2);
    }
    return done;
  }

  /** A spare thread helps with the folds; without it the fit takes longer, that is all. */
  private assist(port: MessagePort): void {
    this.pool.run({ kind: 'assist', port }, { transfer: [port] }).catch((error: unknown) => {
      this.log('debug', `A helper of a fit ended: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}

function mayHoldCells({ x }: UploadEntry): number {
  return (x.arrived?.bytes ?? 0) / LEAST_CELL_BYTES[x.format];
}

function trainOptions(request: FitRequest): TrainOptions {
  const {
    thinking_effort: effort,
    thinking_timeout_s: timeoutSecs,
    thinking_effort_metric: metric,
  } = request;
  const asked = effort !== undefined || request.svc_systems?.includes('thinking') === true;
  const thinking = {
    effort: effort ?? ('medium' as const),
    ...(timeoutSecs === undefined ? {} : { timeoutSecs }),
    ...(metric === undefined ? {} : { metric }),
  };
  return { ...request.svc_config, ...(asked ? { thinking } : {}) };
}

/** Everything that makes one fit differ from another; the learner too, since a newer one makes another model of it. */
function fitKey(request: FitRequest): string {
  return canonical({
    ...request,
    learner: LEARNER,
    force_refit: undefined,
    async_mode: undefined,
    svc_config: request.svc_config ?? {},
    svc_systems: [...new Set(request.svc_systems ?? DEFAULT_SYSTEMS)].sort(),
    train_set_upload_id: request.train_set_upload_id.toLowerCase(),
  });
}

const DEFAULT_SYSTEMS = ['preprocessing', 'text'];

function modelEntry(id: string, key: string, request: FitRequest, outcome: FitOutcome): ModelEntry {
  const { report, targetName, features, classes, rows, bytes, crc } = outcome;
  return {
    version: 1,
    format: MODEL_FORMAT,
    id,
    trainSetUploadId: request.train_set_upload_id.toLowerCase(),
    fitKey: key,
    task: request.task,
    targetName,
    features,
    ...(classes === undefined ? {} : { classes }),
    rows,
    systems: request.svc_systems ?? DEFAULT_SYSTEMS,
    config: request.svc_config ?? {},
    usedOptions: { ...report.options.used, n_estimators: report.estimators },
    ignoredOptions: report.options.ignored,
    report,
    bytes,
    crc,
    createdAt: Date.now(),
  };
}
