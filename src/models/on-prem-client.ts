import { createHash, randomUUID } from 'node:crypto';

import type {
  BodyPart,
  CallOptions,
  EndpointClient,
  FitCall,
  PredictCall,
  PredictResult,
  RowsPredictCall,
  RowsPredictResult,
  TestSetUpload,
  TrainSetUpload,
} from '../client';
import { encodeJsonRows, type JsonRows } from '../table/encoder/encode';
import { ROW_SEPARATOR } from '../table/encoder/protocol';
import { joinPredictions } from '../wire/prediction';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { FitResponse, ModelLimits } from '../wire/types';
import { DEFAULT_OUTPUT_TYPE } from '../wire/vocabulary';
import type { ServiceCalls } from './service';
import { type KeptRows, TrainRows } from './train-rows';

/** Fraction of a request for train rows: the rest is for test rows. */
const TRAIN_PART = 0.75;
/** Codes with which an endpoint may say that it no longer has a model: the rows are sent again. */
const MODEL_GONE = ['model.unknown', 'not_found', 'validation.failed'];

export interface OnPremOptions {
  client: EndpointClient;
  /** Where train rows are kept. Default: a temporary folder, until `close`. */
  folder?: string;
  /** Most bytes of one request. Default 16 MiB. */
  requestBytes?: number;
}

const DEFAULT_REQUEST_BYTES = 16 * 1024 * 1024;

/**
 * An on-premises endpoint with the calls of any service. The endpoint has one stateless route and keeps nothing, so a
 * fit keeps the train rows here, and each predict sends them with its test rows. Where the options say `fit_mode:
 * fit_with_cache` the endpoint keeps the fitted model, and the rows go once.
 */
export class OnPremClient implements ServiceCalls {
  private readonly client: EndpointClient;
  private readonly rows: TrainRows;
  private readonly requestBytes: number;
  /** Test sets between their upload and their predict. */
  private readonly tests = new Map<string, TestSetUpload['x']>();

  constructor({ client, folder, requestBytes = DEFAULT_REQUEST_BYTES }: OnPremOptions) {
    this.client = client;
    this.rows = new TrainRows(folder);
    this.requestBytes = requestBytes;
  }

  /** Limits of a request; the endpoint itself reports none. */
  getModelLimits(): Promise<ModelLimits> {
    const own = { request_max_size_bytes: this.requestBytes, dataset_max_size_bytes: this.trainBytes };
    return Promise.resolve(own);
  }

  /** Keeps the rows here: nothing is sent. @throws ServiceError `limit.exceeded`, `storage.failed` */
  async uploadTrainSet(
    { x, y }: TrainSetUpload,
    { signal }: CallOptions = {},
  ): Promise<{ train_set_upload_id: string; reused: boolean }> {
    this.assertTrainBytes(Math.max(x.bytes, y.bytes));
    const files: JsonRows[] = [];
    try {
      for (const file of [x, y]) {
        files.push(await encodeJsonRows(file, undefined, signal));
      }
      const [features, target] = files as [JsonRows, JsonRows];
      this.assertTrainBytes(features.bytes + target.bytes);
      const id = await computeId(features, target);
      await this.rows.put(id, features, target);
      return { train_set_upload_id: id, reused: false };
    } finally {
      await Promise.all(files.map((file) => file.dispose()));
    }
  }

  /** Asks the endpoint for the prediction of one row, so that what it says of the train set is known now. */
  async fit(request: FitCall, { signal, timeoutMs }: CallOptions = {}): Promise<FitResponse> {
    const { train_set_upload_id: id, task, svc_config: config } = request;
    const kept = await this.kept(id);
    const test = await firstRow(kept.x);
    const asked = { task, output_type: DEFAULT_OUTPUT_TYPE[task], svc_config: config };
    await this.ask(kept, { ...asked, test, rows: 1 }, { signal, timeoutMs }, 'fit');
    return { fitted_train_set_id: id, status: 'completed' };
  }

  uploadTestSet({ x }: TestSetUpload): Promise<{ test_set_upload_id: string; reused: boolean }> {
    const id = randomUUID();
    this.tests.set(id, x);
    return Promise.resolve({ test_set_upload_id: id, reused: false });
  }

  /** Sends the train rows with the test rows, in as many requests as their size requires. */
  async predict(request: PredictCall, { signal, timeoutMs }: CallOptions = {}): Promise<PredictResult> {
    const { test_set_upload_id: testId, fitted_train_set_id: id, task, quantiles, classes } = request;
    const file = this.tests.get(testId);
    if (file === undefined) {
      throw new ServiceError(
        'not_found',
        `There is no test set ${testId}: give the table to the predict node.`,
      );
    }
    this.tests.delete(testId);
    const kept = await this.kept(id);
    const test = await encodeJsonRows(file, kept.names, signal);
    try {
      const asked = {
        task,
        output_type: request.output_type ?? DEFAULT_OUTPUT_TYPE[task],
        quantiles,
        classes,
        svc_config: request.svc_config,
      };
      const results: PredictResult[] = [];
      for (const { part, rows } of await cutRows(test, this.roomFor(kept, asked))) {
        results.push(await this.ask(kept, { ...asked, test: part, rows }, { signal, timeoutMs }));
      }
      return {
        prediction: joinPredictions(results.map(({ prediction }) => prediction)),
        metadata: results[0]!.metadata,
        rows: test.rows,
      };
    } finally {
      await test.dispose();
    }
  }

  estimateCost(): Promise<never> {
    return unsupported('An on-premises endpoint reports no costs: leave out the cost node and Highest cost.');
  }

  predictLegacy(): Promise<never> {
    return unsupported('An on-premises endpoint has no v1 route: choose the other one in the predict node.');
  }

  /** Removes the train rows of a model; both have one id. */
  async deleteDataset(id: string): Promise<void> {
    await this.rows.remove(id);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.rows.close();
  }

  private get trainBytes(): number {
    return Math.floor(this.requestBytes * TRAIN_PART);
  }

  /** One request; where the endpoint has kept the model, without the train rows as long as it knows it. */
  private async ask(
    kept: KeptRows,
    asked: Omit<RowsPredictCall, 'train' | 'model_id'>,
    options: CallOptions,
    kind?: 'fit',
  ): Promise<RowsPredictResult> {
    const isCached = asked.svc_config?.fit_mode === 'fit_with_cache';
    const key = writeKey(asked);
    const modelId = isCached ? kept.models[key] : undefined;
    if (modelId !== undefined) {
      try {
        return await this.client.predictRows({ ...asked, model_id: modelId }, options, kind);
      } catch (thrown) {
        const error = toServiceError(thrown);
        if (!MODEL_GONE.includes(error.code)) {
          throw error;
        }
        await this.rows.setModel(kept.id, key, undefined);
      }
    }
    const { x, y } = kept;
    const answer = await this.client.predictRows({ ...asked, train: { x, y } }, options, kind);
    if (isCached && answer.model_id !== undefined) {
      await this.rows.setModel(kept.id, key, answer.model_id);
    }
    return answer;
  }

  /** @throws ServiceError `model.unknown` */
  private async kept(id: string): Promise<KeptRows> {
    const kept = await this.rows.get(id);
    if (kept === undefined) {
      throw new ServiceError(
        'model.unknown',
        'The train rows of the model are not on this computer any more.',
      );
    }
    return kept;
  }

  /** Bytes left for test rows next to the train rows. */
  private roomFor({ x, y }: KeptRows, asked: Omit<RowsPredictCall, 'rows' | 'test'>): number {
    const none: BodyPart = { bytes: 0, open: x.open };
    const overhead = this.client.overhead({ ...asked, train: { x, y }, test: none });
    return this.requestBytes - overhead - x.bytes - y.bytes;
  }

  private assertTrainBytes(bytes: number): void {
    if (bytes > this.trainBytes) {
      throw new ServiceError(
        'limit.exceeded',
        `The train set has ${megabytes(bytes)} MB, and of a request of at most ${megabytes(this.requestBytes)} MB it may take ` +
          `${megabytes(this.trainBytes)} MB: each predict sends it along. Nothing was sent. Give it fewer rows or columns, ` +
          'or raise Largest request in the configuration where the endpoint takes more.',
      );
    }
  }
}

/** Equal rows have the same id, so they are kept once. */
async function computeId(...files: readonly JsonRows[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`${file.bytes},`);
    for await (const chunk of file.open() as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
    }
  }
  const hex = hash.digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

function writeKey({ task, svc_config: config }: Pick<RowsPredictCall, 'task' | 'svc_config'>): string {
  return createHash('sha256')
    .update(JSON.stringify([task, config]))
    .digest('base64url')
    .slice(0, 22);
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 });
}

function unsupported(why: string): Promise<never> {
  return Promise.reject(new ServiceError('config.invalid', why));
}

/** Some rows of a file of JSON rows. */
interface RowsPart {
  part: BodyPart;
  rows: number;
}

/**
 * Splits JSON rows into parts of at most that many bytes; a row that alone has more is a part of its own.
 * Only the places of the cuts are held in memory.
 */
export async function cutRows(rows: BodyPart, maxBytes: number): Promise<RowsPart[]> {
  const parts: RowsPart[] = [];
  let from = 0;
  let count = 0;
  /** Where the last whole row of the part ends. */
  let end = 0;
  const close = (): void => {
    const [start, stop] = [from, end];
    const part = { bytes: stop - start, open: () => rows.open(start, stop) };
    parts.push({ part, rows: count });
    from = stop + ROW_SEPARATOR.length;
    count = 0;
  };
  for await (const rowEnd of rowEnds(rows)) {
    if (count > 0 && rowEnd - from > maxBytes) {
      close();
    }
    end = rowEnd;
    count++;
  }
  if (count > 0) {
    close();
  }
  return parts;
}

/** The first row alone. */
export async function firstRow(rows: BodyPart): Promise<BodyPart> {
  for await (const end of rowEnds(rows)) {
    return { bytes: end, open: () => rows.open(0, end) };
  }
  return rows;
}

/** Where each row ends: the byte after its last one. A line feed stands between rows only. */
async function* rowEnds(rows: BodyPart): AsyncIterable<number> {
  const lineFeed = ROW_SEPARATOR.charCodeAt(ROW_SEPARATOR.length - 1);
  let at = 0;
  for await (const chunk of rows.open() as AsyncIterable<Uint8Array>) {
    for (let found = chunk.indexOf(lineFeed); found >= 0; found = chunk.indexOf(lineFeed, found + 1)) {
      yield at + found + 1 - ROW_SEPARATOR.length;
    }
    at += chunk.length;
  }
  if (at > 0) {
    yield at;
  }
}
