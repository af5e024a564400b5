import { randomUUID } from 'node:crypto';
import os from 'node:os';

import type { LimitSet } from '../wire/types';
import type { RateLimits } from './rate-limit';
import type { SenderPatience } from './slow-body';

export type LogLevel = 'debug' | 'info' | 'warn';
export type Log = (level: LogLevel, text: string) => void;

/** How long clients may keep the service waiting. */
interface Times {
  /** For the headers of a request, in milliseconds. */
  headersMs: number;
  /** For bodies of JSON and forms. */
  body: SenderPatience;
  /** For the bytes of an upload. */
  upload: SenderPatience;
  /** A client that reads nothing of its answer for this long is disconnected; milliseconds. */
  answerIdleMs: number;
}

const TIMES: Times = {
  headersMs: 30_000,
  body: { idleMs: 30_000, bytesPerSecond: 16_384 },
  upload: { idleMs: 120_000, bytesPerSecond: 16_384 },
  answerIdleMs: 120_000,
};

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
