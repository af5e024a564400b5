import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { API_NAME, PUBLIC_URL, TOKEN } from './options';

export const HELP = `Usage: tabular-service [options]

Serves the tabular prediction API on 127.0.0.1: trains and predicts on this machine, free of charge.

  --port <number>       port to listen on (default 8642; 0 takes a free one)
  --token <text>        bearer token that clients must send; better given in the environment as
                        TABULAR_SERVICE_TOKEN, since other users can read a command line
                        (default: a random one, printed once)
  --data <folder>       where uploads and fitted models are kept (default ${defaultFolder()})
  --api-name <name>     the only product name that the routes answer to, as in /<name>/fit
                        (default: any name)
  --max-gb <number>     disk space for uploads and models, in GB; the oldest are dropped
                        (default 20, or half of the free disk)
  --public-url <url>    address under which clients reach the service through a proxy
  --metrics             answer GET /metrics, without a token, in OpenMetrics text; also by
                        TABULAR_SERVICE_METRICS=1 (default: off)
  --verbose             say more
  --help                show this text
  --version             show the version

GET /healthz and GET /readyz need no token: it runs, it takes fits and predicts.

It ends cleanly on SIGINT and SIGTERM, and where its terminal closes: predicts under way have eight
seconds to end. Fitted models are there again after a restart. Without a terminal (nohup) it ignores SIGHUP.
`;

const DEFAULT_PORT = 8642;

/** What the words after `tabular-service` say. */
export interface CliOptions {
  port: number;
  token?: string;
  data: string;
  apiName?: string;
  maxBytes?: number;
  publicUrl?: string;
  showMetrics: boolean;
  verbose: boolean;
}

function defaultFolder(): string {
  return path.join(os.homedir(), '.tabular-service');
}

/**
 * @param args the words after the command
 * @param environment its TABULAR_SERVICE_TOKEN holds where no token is among them, and its TABULAR_SERVICE_METRICS, 0 or
 *   1, where --metrics is not
 * @throws Error with a sentence for the user
 */
export function readCommandLine(
  args: string[],
  environment: NodeJS.ProcessEnv,
): CliOptions | 'help' | 'version' {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string' },
      token: { type: 'string' },
      data: { type: 'string' },
      'api-name': { type: 'string' },
      'max-gb': { type: 'string' },
      'public-url': { type: 'string' },
      metrics: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    return 'help';
  }
  if (values.version) {
    return 'version';
  }
  const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
  if (port > 65_535 || !/^\d+$/.test(values.port ?? '0')) {
    throw new Error('--port must be a whole number from 0 to 65535.');
  }
  if (values.data === '') {
    throw new Error('--data must name a folder; it is empty.');
  }
  const gigabytes = values['max-gb'] === undefined ? undefined : Number(values['max-gb']);
  if (gigabytes !== undefined && !(gigabytes > 0)) {
    throw new Error('--max-gb must be a number above 0.');
  }
  const token = values.token ?? environment.TABULAR_SERVICE_TOKEN;
  if (token !== undefined && !TOKEN.fits(token)) {
    const from =
      values.token === undefined ? 'The token in TABULAR_SERVICE_TOKEN' : 'The token after --token';
    throw new Error(`${from} must be ${TOKEN.must}${token === '' ? '; it is empty' : ''}.`);
  }
  const apiName = values['api-name'];
  if (apiName !== undefined && !API_NAME.fits(apiName)) {
    throw new Error(`--api-name must be ${API_NAME.must}.`);
  }
  const publicUrl = values['public-url'];
  if (publicUrl !== undefined && !PUBLIC_URL.fits(publicUrl)) {
    throw new Error(`--public-url must be ${PUBLIC_URL.must}.`);
  }
  const metrics = environment.TABULAR_SERVICE_METRICS ?? '0';
  if (metrics !== '0' && metrics !== '1') {
    throw new Error('TABULAR_SERVICE_METRICS must be 0 or 1.');
  }
  return {
    port,
    data: path.resolve(values.data ?? defaultFolder()),
    showMetrics: values.metrics || metrics === '1',
    verbose: values.verbose,
    ...(token === undefined ? {} : { token }),
    ...(apiName === undefined ? {} : { apiName }),
    ...(gigabytes === undefined ? {} : { maxBytes: gigabytes * 1e9 }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
}
