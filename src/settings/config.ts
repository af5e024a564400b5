import { CLIENT_DEFAULTS } from '../client/settings';
import { DEFAULT_DIALECT } from '../wire/dialect';
import { choice, flag, freeText, node, numberIn, url } from './kinds';

/** tabular-config: which service, and how it is spoken to. */
export const CONFIG = {
  name: freeText(),
  service: choice(['embedded', 'hosted', 'onPrem'], { default: 'embedded' }),
  baseUrl: url({ requiredWhen: ['service', ['hosted', 'onPrem']] }),
  apiName: freeText({ fallback: DEFAULT_DIALECT.apiName }),
  fitRequest: choice(['task_config', 'flat'], { default: DEFAULT_DIALECT.fitRequest }),
  fileInfo: choice(['schema', 'sample'], { default: DEFAULT_DIALECT.fileInfo }),
  /** Megabytes that a request to an on-premises endpoint may have. */
  requestSize: numberIn({ min: 1, max: 2000, default: 16 }),
  /** A hosted service may name upload addresses of the local network. */
  localUploads: flag(),
  /** Seconds that one call may take, with all its retries and waits. */
  timeout: numberIn({ min: 1, max: 86_400, default: CLIENT_DEFAULTS.timeoutMs / 1000 }),
  retries: numberIn({ min: 0, max: 20, integer: true, default: CLIENT_DEFAULTS.retries }),
  /** Requests in flight per kind. */
  concurrency: numberIn({ min: 1, max: 64, integer: true, default: CLIENT_DEFAULTS.concurrency }),
  tls: node('tls-config'),
  proxy: node('http proxy'),
};
