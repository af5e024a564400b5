/*
 * Plays the answers of every kind of service, and records what is sent to it. It stands behind a proxy address, so
 * that the services have names that are the same in each run: Node-RED is started with `http_proxy` set to its `url`.
 * Its ids count up from 1, and its predictions are a function of a row's `id`, so the same requests get the same
 * answers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { type Answer, duplicate, multipartOf, notFound, parseJson, send } from '../helpers/strict-http';
import { classesOf, makePrediction } from '../helpers/strict-store';
import { decodeTable, type Row, type Table } from '../helpers/strict-tables';

type Body = Record<string, unknown>;

/** How a service differs from the others. */
interface Manner {
  apiName?: string;
  /** It has `get_settings` in place of `get_model_limits`, and reports usage. */
  isNewer?: boolean;
  /** A fit answers that it is pending, and is asked for by this route: `get_fit_status` or `fit/{id}`. */
  pending?: string;
  /** From this size on, a fit should be submitted as a job. */
  jobsAbove?: number;
  /** Signed URLs of a file, where the client offers chunks. */
  chunks?: number;
  /** It has one stateless route, and no other. */
  isOnPrem?: boolean;
}

export const SERVICES = {
  'hosted.example.com': {},
  'acme.example.com': { apiName: 'acme', chunks: 3 },
  'plain.example.com': { chunks: 3 },
  'newer.example.com': { isNewer: true, pending: 'get_fit_status', jobsAbove: 1000 },
  'pending.example.com': { pending: 'fit/{id}' },
  'refusing.example.com': {},
  'endpoint.example.com': { isOnPrem: true },
} satisfies Record<string, Manner>;

const STORAGE = 'storage.example.com';
export const TOKEN = 'contract-token';

interface Upload {
  host: string;
  files: { bytes: (Buffer | undefined)[]; info: Body }[];
}

/** What a service knows of a fitted model. */
export interface PlayedModel {
  task: string;
  classes: (string | number | boolean)[];
}

export interface Recorded {
  method: string;
  host: string;
  path: string;
  headers: Record<string, string>;
  bytes: Buffer;
}

const LIMITS = {
  default_model_version: 'v2',
  max_model_limit: {
    train_set_max_rows: 100,
    train_set_max_cells: 10_000,
    test_set_max_rows: 50,
    max_classes: 10,
    max_cols: 50,
    test_set_max_rows_w_full_regression_output: 4,
    predict_row_pairs_budget: 100_000,
    test_set_max_cells: 5000,
  },
  model_limits: { v1: { max_cols: 3, train_set_max_rows: 5 } },
  dataset_max_size_bytes: 10_000_000,
};

export class PlayedService {
  url = '';
  readonly recorded: Recorded[] = [];
  /** By id. Some may be known from the start. */
  readonly models = new Map<string, PlayedModel>();
  private readonly uploads = new Map<string, Upload>();
  private readonly polls = new Map<string, number>();
  private readonly refusals: { path: RegExp; answer: Answer }[] = [];
  private readonly server: Server;
  private ids = 0;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Answers the next request to such a path like this, once. */
  refuse(path: RegExp, answer: Answer): void {
    this.refusals.push({ path, answer });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    const bytes = await buffer(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    this.recorded.push({
      method: request.method ?? '',
      host: url.host,
      path: `${url.pathname}${url.search}`,
      headers,
      bytes,
    });
    const at = this.refusals.findIndex(({ path }) => path.test(`${url.host}${url.pathname}`));
    const answer =
      at >= 0
        ? this.refusals.splice(at, 1)[0]!.answer
        : await this.answer(request, url, bytes).catch((error: unknown) => ({
            status: 500,
            body: { detail: String(error) },
          }));
    send(response, answer);
  }

  private async answer(request: IncomingMessage, url: URL, bytes: Buffer): Promise<Answer> {
    if (url.host === STORAGE) {
      return this.put(url, bytes);
    }
    const manner = mannerOf(url.host);
    if (manner === undefined) {
      return { status: 502, body: { detail: `no service ${url.host}` } };
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      return { status: 401, body: { detail: 'Not authenticated' } };
    }
    if (manner.isOnPrem === true) {
      return predictedRows(parseJson(bytes) as Body);
    }
    if (url.pathname === '/v1/predict') {
      return this.legacy(request, bytes);
    }
    if (url.pathname === '/get_api_usage/' && manner.isNewer === true) {
      const body = { current_usage: 250, usage_limit: 1000, reset_time: '2030-01-01T00:00:00Z' };
      return { status: 200, body };
    }
    const apiName = manner.apiName ?? 'svc';
    const [, api, ...rest] = url.pathname.split('/');
    return api === apiName
      ? this.act(url.host, apiName, `${request.method} ${rest.join('/')}`, parseJson(bytes) as Body)
      : notFound('no such route');
  }

  private async act(host: string, apiName: string, route: string, body: Body): Promise<Answer> {
    const manner = mannerOf(host)!;
    const isNewer = manner.isNewer === true;
    switch (route) {
      case 'GET get_model_limits':
        return isNewer ? notFound('no such route') : { status: 200, body: LIMITS };
      case 'GET get_settings': {
        const settings = { use_above_trainset_size_bytes: manner.jobsAbove, poll_timeout_secs: 60 };
        return isNewer
          ? { status: 200, body: { ...LIMITS, async_settings: settings } }
          : notFound('no such route');
      }
      case 'POST prepare_train_set_upload':
        return this.prepare(host, 'train_set_upload_id', body, ['x_train_info', 'y_train_info']);
      case 'POST prepare_test_set_upload':
        return this.models.has(String(body.fitted_train_set_id))
          ? this.prepare(host, 'test_set_upload_id', body, ['x_test_info'])
          : notFound('Fitted train set not found');
      case 'POST fit':
        return this.fit(body, manner.pending !== undefined);
      case 'POST submit_fit_job':
        return manner.jobsAbove === undefined ? notFound('no such route') : this.fit(body, true);
      case 'POST get_fit_status':
        return manner.pending === 'get_fit_status'
          ? this.status(String(body.fitted_train_set_id))
          : notFound('no such route');
      case 'POST predict':
        return this.predict(apiName, body);
      case 'POST estimate_cost': {
        const { train_rows: train = 0, test_rows: test = 0 } = body as Record<string, number>;
        return { status: 200, body: { estimated_cost: train + 10 * test } };
      }
      default: {
        const [, id] = /^GET fit\/(.+)$/.exec(route) ?? [];
        return id !== undefined && manner.pending === 'fit/{id}'
          ? this.status(id)
          : notFound('no such route');
      }
    }
  }

  /** An id that looks like those of the service, and is the same in each run. */
  private newId(): string {
    this.ids += 1;
    return `00000000-0000-4000-8000-${String(this.ids).padStart(12, '0')}`;
  }

  private prepare(host: string, idName: string, body: Body, names: string[]): Answer {
    const infos = names.map((name) => body[name] as Body);
    const hashes = infos.map((info) => info.hash ?? info.content_hash);
    const isKnown = ({ host: place, files }: Upload) =>
      place === host &&
      files.length === infos.length &&
      files.every(
        ({ bytes, info }, i) =>
          bytes.every((part) => part !== undefined) && (info.hash ?? info.content_hash) === hashes[i],
      );
    const known = [...this.uploads].find(([, upload]) => hashes[0] !== undefined && isKnown(upload));
    if (known !== undefined && body.force_reupload !== true) {
      const code = idName.replace('_id', '').toUpperCase();
      return duplicate(`DUPLICATE_${code}`, { [idName]: known[0] });
    }
    const id = this.newId();
    const files = infos.map((info) => ({
      info,
      bytes: Array.from(
        { length: info.use_chunks === true ? (mannerOf(host)?.chunks ?? 1) : 1 },
        () => undefined,
      ),
    }));
    this.uploads.set(id, { host, files });
    const uploads = files.map(({ bytes }, f) => ({
      signed_urls: bytes.map((_, c) => `http://${STORAGE}/${id}/${f}/${c}?signature=s${f}${c}`),
      expires_at: 4_102_444_800,
      required_headers: { 'content-type': 'application/octet-stream', 'x-upload-token': `token-${f}` },
    }));
    return {
      status: 200,
      body: { [idName]: id, ...Object.fromEntries(names.map((name, f) => [name, uploads[f]])) },
    };
  }

  private put(url: URL, bytes: Buffer): Answer {
    const [, id, f, c] = url.pathname.split('/');
    const file = this.uploads.get(id ?? '')?.files[Number(f)];
    if (file === undefined) {
      return { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' };
    }
    file.bytes[Number(c)] = bytes;
    return { status: 200, body: '' };
  }

  private async fit(body: Body, isPending: boolean): Promise<Answer> {
    const upload = this.uploads.get(String(body.train_set_upload_id));
    if (upload === undefined) {
      return notFound('Train set upload not found');
    }
    const task = String((body.task_config as Body | undefined)?.task ?? body.task);
    const y = await tableOf(upload.files[1]!);
    const id = this.newId();
    const classes = task === 'classification' ? classesOf(y.rows, y.columns[0]!) : [];
    this.models.set(id, { task, classes });
    if (isPending) {
      this.polls.set(id, 0);
      return { status: 200, body: { fitted_train_set_id: id, status: 'pending' } };
    }
    return { status: 200, body: { fitted_train_set_id: id } };
  }

  private status(id: string): Answer {
    const asked = this.polls.get(id);
    if (asked === undefined) {
      return notFound('Fitted train set not found');
    }
    this.polls.set(id, asked + 1);
    const status = asked > 0 ? 'completed' : 'pending';
    return { status: 200, body: { fitted_train_set_id: id, status, retry_in_secs: 0.1 } };
  }

  private async predict(apiName: string, body: Body): Promise<Answer> {
    const model = this.models.get(String(body.fitted_train_set_id));
    const upload = this.uploads.get(String(body.test_set_upload_id));
    if (model === undefined || upload === undefined) {
      return notFound(`${model === undefined ? 'Fitted train set' : 'Test set upload'} not found`);
    }
    const { columns, rows } = await tableOf(upload.files[0]!);
    const { predict_params: params = {}, ...config } = body.task_config as Body & { predict_params?: Body };
    return {
      status: 200,
      body: {
        prediction: predictions(rows, params, model),
        metadata: {
          test_set_num_rows: rows.length,
          test_set_num_cols: columns.length,
          package_version: 'played-1.0.0',
          [`${apiName}_config`]: config[`${apiName}_config`] ?? { n_estimators: 8 },
          task: model.task,
        },
      },
    };
  }

  private async legacy(request: IncomingMessage, bytes: Buffer): Promise<Answer> {
    const parts = multipartOf({ headers: request.headers, bytes });
    const data = parseJson(parts.get('data')!.bytes) as Body;
    const { rows } = await decodeTable(parts.get('file')!.bytes, 'csv');
    return {
      status: 200,
      body: {
        duration_seconds: 0.1,
        prediction: predictions(rows, data, { task: String(data.task), classes: ['no', 'yes'] }),
        task: data.task,
        params: { n_estimators: 8 },
        used_credits: rows.length,
        remaining_quota: 1000,
      },
    };
  }
}

function mannerOf(host: string): Manner | undefined {
  return (SERVICES as Record<string, Manner>)[host];
}

/** The answer of an endpoint that has one route: a row's value is its first cell. */
function predictedRows(body: Body): Answer {
  const config = body.task_config as { task: string; predict_params?: Body };
  const rows = (body.X_test as unknown[][]).map(([id]) => ({ id: Number(id) }));
  const labels = ((body.y_train ?? []) as unknown[][]).map(([label]) => ({ label }));
  const classes = config.task === 'classification' ? classesOf(labels, 'label') : [];
  const prediction = predictions(rows, config.predict_params ?? {}, { task: config.task, classes });
  return { status: 200, body: { prediction } };
}

function predictions(rows: Row[], params: Body, { task, classes }: PlayedModel): unknown {
  const output = (params.output_type ?? (task === 'classification' ? 'probas' : 'mean')) as string;
  const values = rows.map((row, i) => Number(row.id ?? i));
  return makePrediction(values, output, params.quantiles as number[] | undefined, classes);
}

function tableOf({ bytes, info }: Upload['files'][number]): Promise<Table> {
  const name = String(info.format ?? info.filename);
  return decodeTable(
    Buffer.concat(bytes.map((part) => part ?? Buffer.alloc(0))),
    name.endsWith('csv') ? 'csv' : 'parquet',
  );
}
