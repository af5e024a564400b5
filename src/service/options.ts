import { randomUUID } from 'node:crypto';
import os from 'node:os';

import { maxWasmBytes } from '../table/arrow/heavy-modules';
import { availableMemory } from '../util/process';
import {
  anyAmong,
  checkGiven,
  FLAG,
  type Form,
  FUNCTION,
  MILLISECONDS,
  numberFrom,
  OBJECT,
  optional,
} from '../wire/given';
import type { LimitSet, ModelLimits } from '../wire/types';
import type { RateLimits } from './rate-limit';
import type { SenderPatience } from './slow-body';
import { MODEL_VERSION } from './version';

export type LogLevel = 'debug' | 'info' | 'warn';
export type Log = (level: LogLevel, text: string) => void;

/** How long clients may keep the service waiting, and fits its end. */
interface Times {
  /** For the headers of a request, in milliseconds. */
  headersMs: number;
  /** For bodies of JSON and forms. */
  body: SenderPatience;
  /** For the bytes of an upload. */
  upload: SenderPatience;
  /** A client that reads nothing of its answer for this long is disconnected; milliseconds. */
  answerIdleMs: number;
  /** How long close waits for fits; those not done by then get 503. Milliseconds. */
  fitGraceMs: number;
}

const TIMES: Times = {
  headersMs: 30_000,
  body: { idleMs: 30_000, bytesPerSecond: 16_384 },
  upload: { idleMs: 120_000, bytesPerSecond: 16_384 },
  answerIdleMs: 120_000,
  fitGraceMs: 1_000,
};

/** How long close waits, beyond its graces, for the models of fits that have ended to be kept, and for answers to be sent. */
export const KEEP_MS = 3_000;
export const FAREWELL_MS = 1_000;

/** What `startService` takes. */
export interface ServiceOptions {
  /** Folder for uploads and fitted models; made where it is missing. One service per folder. */
  dataDir: string;
  /** Port on 127.0.0.1; 0 (default) takes a free one. */
  port?: number;
  host?: '127.0.0.1';
  /** Bearer token; default: a random one. */
  token?: string;
  /** The only name that the routes answer to, `/{apiName}/fit`. Default: any name. */
  apiName?: string;
  /** Bytes that uploads and models may take on disk; the oldest are dropped. Default 20 GB, or half of the free disk. */
  maxBytes?: number;
  /** Lower (never higher) limits than those the machine's memory sets. */
  limits?: Partial<LimitSet> & {
    dataset_max_size_bytes?: number;
    prediction_max_cells?: number;
    max_quantiles?: number;
  };
  /** Milliseconds before a fit sends its first whitespace, and between two of them. Default 2000. */
  keepaliveMs?: number;
  /** Requests per minute and hour and kind; default: unlimited. */
  rateLimit?: RateLimits;
  /** Seconds for which a signed URL is good. Default 3600. */
  urlSeconds?: number;
  /** Files announced with `use_chunks` and larger than this get several URLs. Default 16 MiB. */
  chunkBytes?: number;
  /** Address under which clients reach the service, where it is behind a proxy: base of the signed URLs. */
  publicUrl?: string;
  /** Threads that fit; default as many as cores, from 2 to 8 (one core less where they can't yield to others). */
  fitThreads?: number;
  /** Threads that predict; default as many as cores, at most 4. */
  predictThreads?: number;
  /** @internal Shorter times for tests. */
  times?: Partial<Times>;
  /** Milliseconds that close waits for predicts under way; those that are not done by then get 503. Default 1000. */
  graceMs?: number;
  /** Whether `/metrics` answers, to anybody. Default false. */
  showMetrics?: boolean;
  /** Called when the service came back on another port because another program had taken its own. */
  onMoved?: () => void;
  log?: Log;
}

const text = (must: string, pattern: RegExp): Form => ({
  must,
  fits: (value) => typeof value === 'string' && pattern.test(value),
});

export const TOKEN = text('printable ASCII without spaces', /^[\x21-\x7e]+$/);

export const API_NAME: Form = {
  must: 'letters, digits, _ and -, and not v1',
  fits: (value) => typeof value === 'string' && /^[A-Za-z0-9][\w-]{0,63}$/.test(value) && value !== 'v1',
};

export const PUBLIC_URL: Form = {
  must: 'an address such as https://example.com/models, without ?, # and a user name',
  // Clients send no request to an address with a user name in it.
  fits: (value) =>
    typeof value === 'string' && /^https?:\/\/[^/\s?#@]+(?:\/[^\s?#]*)?$/.test(value) && URL.canParse(value),
};

const OPTIONS = {
  port: optional(numberFrom(0, { max: 65_535 })),
  host: optional(anyAmong(['127.0.0.1'])),
  token: { ...optional(TOKEN), isHidden: true as const },
  apiName: optional(API_NAME),
  maxBytes: optional(numberFrom(1, { integer: false })),
  limits: optional(OBJECT),
  keepaliveMs: optional(MILLISECONDS),
  rateLimit: optional(OBJECT),
  urlSeconds: optional(numberFrom(0, { integer: false })),
  chunkBytes: optional(numberFrom(1)),
  publicUrl: optional(PUBLIC_URL),
  fitThreads: optional(numberFrom(1)),
  predictThreads: optional(numberFrom(1)),
  times: optional(OBJECT),
  graceMs: optional(numberFrom(0, { integer: false })),
  showMetrics: optional(FLAG),
  onMoved: optional(FUNCTION),
  log: optional(FUNCTION),
};

/** What is not checked where it is read. @throws ServiceError `config.invalid` */
export function checkServiceOptions(options: Partial<ServiceOptions>): void {
  checkGiven('startService', options, OPTIONS, 'config.invalid');
}

/** Options with every default filled in; plain data but for `log`. */
export interface ResolvedOptions extends Required<
  Omit<ServiceOptions, 'apiName' | 'publicUrl' | 'host' | 'log' | 'onMoved' | 'maxBytes' | 'times'>
> {
  times: Times;
  /** The same for all threads of a process, so that the lock of a thread that has ended is recognised. */
  processToken: string;
  /** Whether a data folder that is missing is made; else that is an error. */
  makeFolder: boolean;
  apiName?: string;
  publicUrl?: string;
  /** Left out: found when the folder is opened. */
  maxBytes?: number;
}

const processToken = randomUUID();

export function resolveOptions(options: ServiceOptions, token: string): ResolvedOptions {
  const cores = os.availableParallelism();
  return {
    dataDir: options.dataDir,
    port: options.port ?? 0,
    token,
    limits: options.limits ?? {},
    keepaliveMs: options.keepaliveMs ?? 2_000,
    graceMs: options.graceMs ?? 1_000,
    showMetrics: options.showMetrics ?? false,
    times: { ...TIMES, ...options.times },
    processToken,
    makeFolder: true,
    rateLimit: options.rateLimit ?? {},
    urlSeconds: options.urlSeconds ?? 3_600,
    chunkBytes: options.chunkBytes ?? 16 * 1024 * 1024,
    fitThreads: options.fitThreads ?? defaultFitThreads(cores),
    predictThreads: options.predictThreads ?? Math.max(1, Math.min(4, cores)),
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    ...(options.apiName === undefined ? {} : { apiName: options.apiName }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
  };
}

/** At least two, so that a short fit need not wait for a long one. */
function defaultFitThreads(cores: number): number {
  const spared = process.platform === 'linux' ? 0 : 1;
  return Math.max(2, Math.min(8, cores - spared));
}

/**
 * Memory that a fit may take per cell, at a size where the limit binds: 36 bytes for 10 million numbers and 40 for categories
 * of two words, measured; 140 MB of that are fixed. Text columns whose values rarely repeat take more.
 */
export const BYTES_PER_CELL = 48;
/** Share of the memory that one fit may take: two may run, besides Node-RED itself. */
const MEMORY_SHARE = 1 / 4;
/** Bytes per number of an answer: as a number, as text, and as text again when the parts are joined. */
const BYTES_PER_ANSWER_CELL = 64;
/** Share of the memory that one answer may take; there is one predict per thread at a time. */
const ANSWER_SHARE = 1 / 8;

/** The service's limits, from the machine's memory and the size cap of its folder. */
export interface ServiceLimits extends Required<Omit<LimitSet, 'train_set_max_upload_cells'>> {
  dataset_max_size_bytes: number;
  /** Rows of an answer times the numbers for each: classes of `probas`, levels of quantiles. */
  prediction_max_cells: number;
  max_quantiles: number;
}

/** The limits of a machine. Options may lower them; null and undefined change nothing. */
export function machineLimits(
  options: Pick<ResolvedOptions, 'limits'> & { maxBytes: number },
  memoryBytes = availableMemory(),
): ServiceLimits {
  const cells = Math.floor((memoryBytes * MEMORY_SHARE) / BYTES_PER_CELL);
  const own: ServiceLimits = {
    train_set_max_rows: 1_000_000,
    train_set_max_cells: Math.min(100_000_000, cells),
    test_set_max_rows: 200_000,
    test_set_max_cells: Math.min(50_000_000, cells),
    max_classes: 160,
    max_cols: 2_000,
    test_set_max_rows_w_full_regression_output: 2_000,
    // Trees do not compare test rows with train rows, so this limit is the product of the others and never binds.
    predict_row_pairs_budget: 1_000_000 * 200_000,
    dataset_max_size_bytes: Math.min(5_000_000_000, Math.floor(options.maxBytes / 2)),
    prediction_max_cells: Math.min(
      10_000_000,
      Math.floor((memoryBytes * ANSWER_SHARE) / BYTES_PER_ANSWER_CELL),
    ),
    max_quantiles: 1_000,
  };
  for (const [name, value] of Object.entries(options.limits) as [keyof ServiceLimits, number | undefined][]) {
    if (typeof value === 'number' && name in own) {
      own[name] = Math.min(own[name], value);
    }
  }
  return own;
}

/** Body of S 4.5, plus the bounds of an answer. */
export function modelLimits(
  limits: ServiceLimits,
): ModelLimits & Pick<ServiceLimits, 'prediction_max_cells' | 'max_quantiles'> {
  const { dataset_max_size_bytes, prediction_max_cells, max_quantiles, ...own } = limits;
  // Clients of the hosted service require it. Each estimator takes the whole train set here.
  const set = { ...own, train_set_max_upload_cells: own.train_set_max_cells };
  return {
    default_model_version: MODEL_VERSION,
    max_model_limit: set,
    model_limits: { [MODEL_VERSION]: set },
    dataset_max_size_bytes,
    prediction_max_cells,
    max_quantiles,
  };
}

/** Part of the memory that all Parquet decoders may take together, and what one needs at least. */
const DECODER_SHARE = 1 / 4;
const MIN_DECODER_BYTES = 64 * 1024 * 1024;

/** Bytes that the Parquet decoder of each thread may take; undefined where all may take the most that one may. */
export function decoderBytes(threads: number, memoryBytes = availableMemory()): number | undefined {
  const bytes = Math.max(MIN_DECODER_BYTES, Math.floor((memoryBytes * DECODER_SHARE) / threads));
  return bytes < maxWasmBytes(memoryBytes) ? bytes : undefined;
}

/** Share of the memory for models kept for predictions, over all threads. */
const CACHE_SHARE = 1 / 8;
const MAX_CACHE_BYTES = 512e6;

/** Bytes of models that each predict thread may keep in memory. */
export function modelCacheBytes(threads: number, memoryBytes = availableMemory()): number {
  return Math.floor(Math.min(MAX_CACHE_BYTES, (memoryBytes * CACHE_SHARE) / threads));
}
