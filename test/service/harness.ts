import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { type ServiceHandle, type ServiceOptions, startService } from '../doors/service';
import { crc32c, crc32cToBase64 } from '../doors/table';
import { removedAtEnd } from '../helpers/temporary';

export interface Answer {
  status: number;
  // Bodies are asserted on, field by field.
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever JSON a test looks into
  body: any;
  text: string;
  headers: Headers;
}

/** A started service and plain HTTP to it: what a client of another make would send. */
export class Harness {
  private constructor(
    readonly service: ServiceHandle,
    readonly folder: string,
    readonly api: string,
  ) {}

  static async start(options: Partial<ServiceOptions> & { api?: string } = {}): Promise<Harness> {
    const { api = 'svc', ...rest } = options;
    const folder = options.dataDir ?? (await temporaryFolder());
    const service = await startService({ token: 'secret-token', ...rest, dataDir: folder });
    return new Harness(service, folder, api);
  }

  /** Of a service that runs elsewhere; whoever started it ends it. */
  static of({ url, token }: { url: string; token: string }): Harness {
    const port = Number(new URL(url).port);
    return new Harness({ url, token, port, close: () => Promise.resolve() }, '', 'svc');
  }

  async stop(keepFolder = false): Promise<void> {
    await this.service.close();
    if (!keepFolder) {
      await rm(this.folder, { recursive: true, force: true });
    }
  }

  /** Deletes all uploads and models: quicker than a new service, whose threads begin with no code. */
  async empty(): Promise<void> {
    const url = this.url('/delete_all_datasets/');
    const { status, text } = await answerOf(await fetch(url, { method: 'DELETE', headers: this.bearer() }));
    if (status !== 200) {
      throw new Error(`delete: ${status} ${text}`);
    }
  }

  async get(route: string, headers: Record<string, string> = {}): Promise<Answer> {
    return answerOf(await fetch(this.url(route), { headers: { ...this.bearer(), ...headers } }));
  }

  async post(route: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return answerOf(
      await fetch(this.url(route), {
        method: 'POST',
        headers: { ...this.bearer(), 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  }

  /** `fit` becomes `/svc/fit`; a route that begins with a slash is taken as it is. */
  url(route: string): string {
    return this.service.url + (route.startsWith('/') ? route : `/${this.api}/${route}`);
  }

  bearer(): Record<string, string> {
    return { authorization: `Bearer ${this.service.token}` };
  }

  /** Prepare and PUT of a train set given as CSV texts. */
  async uploadTrain(x: string | Uint8Array, y: string | Uint8Array, extra: object = {}): Promise<string> {
    const prepared = await this.post('prepare_train_set_upload', {
      x_train_info: infoOf(x),
      y_train_info: infoOf(y),
      ...extra,
    });
    if (prepared.status !== 200) {
      throw new Error(`prepare: ${prepared.status} ${prepared.text}`);
    }
    for (const [info, data] of [
      [prepared.body.x_train_info, x],
      [prepared.body.y_train_info, y],
    ] as const) {
      const put = await putFile(info, data);
      if (put.status !== 200) {
        throw new Error(`PUT: ${put.status} ${put.text}`);
      }
    }
    return prepared.body.train_set_upload_id as string;
  }

  async uploadTest(fittedId: string, x: string | Uint8Array): Promise<string> {
    const prepared = await this.post('prepare_test_set_upload', {
      fitted_train_set_id: fittedId,
      x_test_info: { ...infoOf(x), hash: null },
    });
    if (prepared.status !== 200) {
      throw new Error(`prepare: ${prepared.status} ${prepared.text}`);
    }
    const put = await putFile(prepared.body.x_test_info, x);
    if (put.status !== 200) {
      throw new Error(`PUT: ${put.status} ${put.text}`);
    }
    return prepared.body.test_set_upload_id as string;
  }

  /** Upload and fit in one go, of two models unless `extra` has a `task_config`; answers the fitted id. */
  async fit(
    x: string | Uint8Array,
    y: string | Uint8Array,
    task: string,
    extra: object = {},
  ): Promise<string> {
    const id = await this.uploadTrain(x, y, { force_reupload: true });
    const task_config = { task, svc_config: { n_estimators: 2 } };
    const fitted = await this.post('fit', { train_set_upload_id: id, task_config, ...extra });
    if (fitted.status !== 200) {
      throw new Error(`fit: ${fitted.status} ${fitted.text}`);
    }
    return fitted.body.fitted_train_set_id as string;
  }

  async predict(fittedId: string, x: string | Uint8Array, task: string, params?: object): Promise<Answer> {
    const id = await this.uploadTest(fittedId, x);
    return this.post('predict', {
      test_set_upload_id: id,
      fitted_train_set_id: fittedId,
      task_config: { task, ...(params === undefined ? {} : { predict_params: params }) },
    });
  }
}

/** A folder that is gone at the end of the process at the latest. */
export async function temporaryFolder(): Promise<string> {
  return removedAtEnd(await mkdtemp(path.join(os.tmpdir(), 'tabular-service-test-')));
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, body, text, headers: response.headers };
}

/** Asks a service in a process of its own, whose token is "mine". */
export async function postTo(url: string, route: string, body: object): Promise<Answer> {
  return answerOf(
    await fetch(`${url}/svc/${route}`, {
      method: 'POST',
      headers: { authorization: 'Bearer mine', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
}

export function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : data;
}

export function hashOf(data: string | Uint8Array): string {
  return crc32cToBase64(crc32c(bytesOf(data)));
}

export function infoOf(data: string | Uint8Array): { format: string; hash: string; size_bytes: number } {
  const format = typeof data === 'string' ? 'csv' : 'parquet';
  return { format, hash: hashOf(data), size_bytes: bytesOf(data).length };
}

export async function putFile(
  info: { signed_urls: string[]; required_headers: Record<string, string> },
  data: string | Uint8Array,
  headers: Record<string, string> = info.required_headers,
): Promise<Answer> {
  return answerOf(
    await fetch(info.signed_urls[0]!, { method: 'PUT', headers, body: new Uint8Array(bytesOf(data)) }),
  );
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id that is well formed and belongs to nothing. */
export const nobody = randomUUID();

/** Two blobs and a category: 60 rows with a three-class text target that is easy to learn. */
export function flowers(): { x: string; y: string } {
  const x = ['length,width,place'];
  const y = ['kind'];
  for (let i = 0; i < 90; i++) {
    const kind = ['aster', 'basil', 'élan'][i % 3]!;
    const noise = ((i * 37) % 10) / 50;
    x.push(`${(i % 3) * 2 + noise},${5 - (i % 3) + noise},${i % 2 === 0 ? 'north' : 'south'}`);
    y.push(kind);
  }
  return { x: `${x.join('\n')}\n`, y: `${y.join('\n')}\n` };
}

/** A straight line with a little noise. */
export function line(rows = 120): { x: string; y: string } {
  const x = ['a,b'];
  const y = ['target'];
  for (let i = 0; i < rows; i++) {
    const a = (i * 7) % 50;
    x.push(`${a},${i % 5}`);
    y.push(String(2 * a + ((i * 13) % 7) / 10));
  }
  return { x: `${x.join('\n')}\n`, y: `${y.join('\n')}\n` };
}
