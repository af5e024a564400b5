import { DEFAULT_DIALECT, type Dialect } from '../wire/dialect';
import {
  ANY_TEXT,
  ANY_TEXTS,
  anyAmong,
  checkGiven,
  FLAG,
  type Form,
  FUNCTION,
  OBJECT,
  optional,
} from '../wire/given';
import { ServiceError } from '../wire/service-error';

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
  /** What an error says is to be done where nothing listens at the address. */
  whenDown?: string;
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

/** Client options, checked and with their defaults. */
export interface ClientSettings {
  /** Scheme, host and path of the service, without a slash at the end. */
  base: URL;
  token: string;
  /** Requests without a token are sent. */
  anonymous: boolean;
  /** Predicts cost nothing. */
  free: boolean;
  whenDown: string;
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

const WHEN_DOWN = 'Check that the service runs and that the base URL is right.';

const OPTIONS = {
  whenDown: optional(ANY_TEXT),
  dialect: optional(OBJECT),
  tls: optional(OBJECT),
  proxy: optional(OBJECT),
  userAgent: optional({
    must: 'printable ASCII',
    fits: (value) => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value),
  }),
  log: optional(FUNCTION),
};

const DIALECT = {
  apiName: ANY_TEXT,
  fitRequest: anyAmong(['task_config', 'flat']),
  fileInfo: anyAmong(['schema', 'sample']),
};

const PEM: Form = {
  must: 'a text or a Buffer',
  fits: (value) => typeof value === 'string' || Buffer.isBuffer(value),
  isOptional: true,
  isHidden: true,
};

const TLS = {
  ca: PEM,
  cert: PEM,
  key: PEM,
  passphrase: { ...optional(ANY_TEXT), isHidden: true as const },
  servername: optional(ANY_TEXT),
  rejectUnauthorized: optional(FLAG),
};

const PROXY = { url: { ...optional(ANY_TEXT), isHidden: true as const }, noProxy: optional(ANY_TEXTS) };

/** @throws ServiceError `config.invalid`, naming the setting. */
export function clientSettings(options: ClientOptions): ClientSettings {
  checkGiven('ServiceClient', options, OPTIONS, 'config.invalid');
  const dialect = { ...DEFAULT_DIALECT, ...withoutEmpty(options.dialect ?? {}) };
  checkGiven('ServiceClient: dialect', dialect, DIALECT, 'config.invalid');
  checkGiven('ServiceClient: tls', options.tls ?? {}, TLS, 'config.invalid');
  checkGiven('ServiceClient: proxy', options.proxy ?? {}, PROXY, 'config.invalid');
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(dialect.apiName)) {
    throw invalid(`The API name "${dialect.apiName}" is not a name of letters, digits, "_", "./" and "-".`);
  }
  return {
    base: readBaseUrl(options.baseUrl),
    token: checkToken(options.token),
    anonymous: options.anonymous === true,
    free: options.free === true,
    whenDown: options.whenDown ?? WHEN_DOWN,
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
function checkToken(text: string | undefined = ''): string {
  if (typeof text !== 'string') {
    throw invalid('The access token must be text.');
  }
  const token = text.trim().replace(/^bearer\s+/i, '');
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
  if (typeof value !== 'number' || !(value > 0)) {
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
