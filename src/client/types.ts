import type { Readable } from 'node:stream';

import { DEFAULT_DIALECT, type Dialect } from '../wire/dialect';
import type { Prediction } from '../wire/prediction';
import { ServiceError } from '../wire/service-error';
import type { FitRequest, LegacyPredictRequest, ParsedPredictRequest, PredictMetadata } from '../wire/types';

/** Certificates for the service's own origin (PEM). Storage behind signed URLs sees `ca` alone. */
export interface TlsOptions {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  passphrase?: string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

export interface ProxyOptions {
  /** The http proxy; without it the environment's (`https_proxy`, `http_proxy`, `no_proxy`). */
  url?: string;
  /** Hosts reached directly: `example.org`, `.example.org`, `*.example.org`, `example.org:8443`, `*`. */
  noProxy?: readonly string[];
}

export interface ClientOptions {
  /** Address of the service, without the product name: `https://api.example.org`. */
  baseUrl: string;
  /** Access token (S 5). Without one every call is `auth.unauthorized`. */
  token?: string;
  /** Send requests without a token if none is given: the service needs none. */
  anonymous?: boolean;
  /** Predicts cost nothing there: one that failed on its way is made again. */
  free?: boolean;
  dialect?: Partial<Dialect>;
  /** Uploads may go to addresses of the local network although the service has a public one. Default false. */
  localUploads?: boolean;
  /** Bounds one call with all its retries and waits, in milliseconds. Default 900,000. */
  timeoutMs?: number;
  /** Most retries of one request of a call. Default 4. */
  retries?: number;
  /** Calls in flight of each kind (fit, predict, upload). Default 4. */
  concurrency?: number;
  tls?: TlsOptions;
  proxy?: ProxyOptions;
  userAgent?: string;
  /** Called with what happens, without secrets. */
  log?: (level: 'debug' | 'warn', text: string) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Overrides the client's own for this call, in milliseconds. */
  timeoutMs?: number;
  /** Called as bytes leave. After a renewed upload the count starts again. */
  onProgress?: (sentBytes: number, totalBytes: number) => void;
}

export interface TrainSetOptions extends CallOptions {
  /**
   * Called with the id that the service will keep the train set under, before a byte of it leaves; it is waited for.
   * After a renewed upload it is called again. Not called where the service has the same train set already.
   */
  onPrepared?: (trainSetUploadId: string) => void | Promise<void>;
}

/** A file that can be opened again, for retries and chunks. `end` is exclusive; `hash` as S 2.1. */
export interface UploadSource {
  format: 'csv' | 'parquet';
  bytes: number;
  hash: string;
  /** The whole content, where it is in memory anyway: a small one is sent without a stream. */
  readonly content?: Uint8Array;
  open(start?: number, end?: number): Readable;
}

export interface TrainSetUpload {
  x: UploadSource;
  y: UploadSource;
  description?: string;
  /**
   * Hashes to announce instead of the CRC32C of each file: SHA-256 in hexadecimal, for a service that takes them. Two
   * train sets that share their CRC32C and sizes are one to the service otherwise.
   */
  digests?: { x: string; y: string };
  /** Upload even if the service has the same bytes already (S 4.1 `force_reupload`). */
  force?: boolean;
  /** Ask for chunks (S 2.1 `use_chunks`); the server decides. */
  chunks?: boolean;
}

export interface TestSetUpload {
  fitted_train_set_id: string;
  x: UploadSource;
  /** Send no hash, so that nothing is taken for a duplicate. */
  force?: boolean;
  chunks?: boolean;
}

export type FitCall = FitRequest;

export interface FitOptions extends CallOptions {
  /** Called with the id of a fit that goes on by itself in the service: `resumeFit` waits for it. */
  onPending?: (fittedTrainSetId: string) => void;
  /** Submit the fit and poll it, if the service has a route for that: for large train sets. */
  background?: boolean;
  /** How long such a fit may take, in milliseconds. Default two hours. */
  backgroundMs?: number;
}

export interface PredictCall extends ParsedPredictRequest {
  /** Repeat a predict even if it may already have been metered; a free one is repeated anyhow. Default false. */
  retryAmbiguous?: boolean;
  /** Rows of the test set and classes of the model, if known: they bound the size of the answer. */
  rows?: number;
  classes?: number;
  /** Most causes per row: they bound the size of the answer too. */
  causes?: number;
}

export interface PredictResult {
  prediction: Prediction;
  metadata: PredictMetadata;
  rows: number;
}

/** Part of a body that can be sent again: JSON text of known length. */
export type BodyPart = Pick<UploadSource, 'bytes' | 'open'>;

/** Train rows and test rows in one request, or test rows for a model that the endpoint has kept. */
export interface RowsPredictCall extends Pick<ParsedPredictRequest, 'task' | 'output_type' | 'quantiles'> {
  svc_config?: Record<string, unknown>;
  /** Rows as JSON arrays, with commas between them. */
  train?: { x: BodyPart; y: BodyPart };
  test: BodyPart;
  /** A model that an earlier answer named, in place of the train rows. */
  model_id?: string;
  /** Test rows, and classes of the model where they are known. */
  rows: number;
  classes?: number;
}

export interface RowsPredictResult extends PredictResult {
  /** The endpoint has kept the model under this. */
  model_id?: string;
}

export interface LegacyPredictCall {
  data: LegacyPredictRequest;
  /** Rows to predict, as CSV. */
  file: UploadSource;
  retryAmbiguous?: boolean;
}

export interface LegacyPredictResult extends PredictResult {
  duration_seconds?: number;
  used_credits?: number;
  remaining_quota?: number;
  params?: Record<string, unknown>;
}

/** How many requests a service allows in a span of time, by its last answer. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the span ends, as the service says it: seconds from then, or since the epoch. */
  reset?: number;
}

/** Kinds of calls with slots of their own. `info` are limits and cost. */
export type CallKind = 'fit' | 'predict' | 'upload' | 'info';

/** Client options, checked and with their defaults. */
export interface ClientSettings {
  /** Scheme, host and path of the service, without a slash at the end. */
  base: URL;
  token: string;
  /** Requests without a token are sent. */
  anonymous: boolean;
  /** Predicts cost nothing. */
  free: boolean;
  dialect: Dialect;
  localUploads: boolean;
  timeoutMs: number;
  retries: number;
  concurrency: number;
  tls: TlsOptions;
  proxy: ProxyOptions;
  userAgent: string;
  log: (level: 'debug' | 'warn', text: string) => void;
}

export const CLIENT_DEFAULTS = { timeoutMs: 900_000, retries: 4, concurrency: 4 };

/** @throws ServiceError `config.invalid`, naming the setting. */
export function clientSettings(options: ClientOptions): ClientSettings {
  const dialect = { ...DEFAULT_DIALECT, ...withoutEmpty(options.dialect ?? {}) };
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(dialect.apiName)) {
    throw invalid(`The API name "${dialect.apiName}" is not a name of letters, digits, "_", "./" and "-".`);
  }
  return {
    base: readBaseUrl(options.baseUrl),
    token: checkToken(options.token),
    anonymous: options.anonymous === true,
    free: options.free === true,
    dialect,
    localUploads: options.localUploads === true,
    timeoutMs: positive(options.timeoutMs ?? CLIENT_DEFAULTS.timeoutMs, 'timeout'),
    retries: whole(options.retries ?? CLIENT_DEFAULTS.retries, 'retries', 0),
    concurrency: whole(options.concurrency ?? CLIENT_DEFAULTS.concurrency, 'concurrency', 1),
    tls: options.tls ?? {},
    proxy: options.proxy ?? {},
    userAgent: options.userAgent ?? 'node-red-contrib-tabular-prediction',
    log: options.log ?? (() => undefined),
  };
}

function readBaseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('The base URL of the service is not a URL. It looks like https://api.example.org');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`The base URL of the service must start with http:// or https://, not ${url.protocol}//.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(
      'The base URL of the service holds a user name or password. The token has a field of its own.',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid(
      'The base URL of the service holds a query or a fragment. Leave off what follows "?" or "#".',
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** A token pasted with white space around it or the word Bearer before it still works. */
function checkToken(text: string | undefined): string {
  const token = (text ?? '').trim().replace(/^bearer\s+/i, '');
  if (!/^[\x21-\x7e]*$/.test(token)) {
    throw invalid('The access token holds characters that no token has. Copy it again, without line breaks.');
  }
  return token;
}

function withoutEmpty(dialect: Partial<Dialect>): Partial<Dialect> {
  return Object.fromEntries(
    Object.entries(dialect).filter(
      ([, value]) => (value as string | undefined) !== undefined && value !== '',
    ),
  );
}

function positive(value: number, name: string): number {
  if (!(value > 0)) {
    throw invalid(`The setting ${name} must be a number above 0.`);
  }
  return value;
}

function whole(value: number, name: string, min: number): number {
  if (!Number.isInteger(value) || value < min) {
    throw invalid(`The setting ${name} must be a whole number from ${min}.`);
  }
  return value;
}

function invalid(message: string): ServiceError {
  return new ServiceError('config.invalid', message);
}
