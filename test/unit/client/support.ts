import { Readable } from 'node:stream';

import { type ClientOptions, ServiceClient, type UploadSource } from '../../../dist/src/client';
import { type ErrorCode, ServiceError } from '../../doors/wire';
import {
  crc32cBase64,
  startStrictService,
  type StrictOptions,
  type StrictService,
} from '../../helpers/strict-service';

/** A file in memory. `opened` counts how often it was opened, `live` how many of its streams are still open. */
export interface MemorySource extends UploadSource {
  opened: number;
  live: number;
}

export function source(content: string | Buffer, format: 'csv' | 'parquet' = 'csv'): MemorySource {
  const bytes = Buffer.from(content);
  const made: MemorySource = {
    format,
    bytes: bytes.length,
    hash: crc32cBase64(bytes),
    opened: 0,
    live: 0,
    open(start = 0, end = bytes.length) {
      made.opened += 1;
      made.live += 1;
      const stream = Readable.from(pieces(bytes.subarray(start, end)));
      stream.on('close', () => (made.live -= 1));
      return stream;
    },
  };
  return made;
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let i = 0; i < bytes.length; i += 65_536) {
    yield bytes.subarray(i, i + 65_536);
  }
}

/** X and y of a train set with an `id` column, and a test set with the ids given. */
export const xOf = (ids: number[]) => source(`id,colour\n${ids.map((id) => `${id},c${id % 3}\n`).join('')}`);
export const yOf = (labels: (string | number)[]) => source(`target\n${labels.join('\n')}\n`);

/** A large file that no reader needs to understand. */
export const blob = (bytes: number) => source(Buffer.alloc(bytes, 'a,b\n'));

export function clientFor(service: StrictService, options: Partial<ClientOptions> = {}): ServiceClient {
  return new ServiceClient({ baseUrl: service.url, token: service.token, timeoutMs: 10_000, ...options });
}

/** Runs a test with a strict service and a client, and closes both. */
export async function withService(
  service: StrictOptions,
  client: Partial<ClientOptions>,
  work: (service: StrictService, client: ServiceClient) => Promise<void>,
): Promise<void> {
  const server = await startStrictService(service);
  const made = clientFor(server, { dialect: { apiName: service.apiName ?? 'svc' }, ...client });
  try {
    await work(server, made);
  } finally {
    await made.close();
    await server.close();
  }
}

/** A fitted model on ids 0…9 with labels a, b. */
export async function fitted(
  client: ServiceClient,
  task: 'classification' | 'regression' = 'classification',
): Promise<string> {
  const ids = Array.from({ length: 10 }, (_, i) => i);
  const y = yOf(ids.map((id) => (task === 'classification' ? 'ab'[id % 2]! : id)));
  const { train_set_upload_id } = await client.uploadTrainSet({ x: xOf(ids), y });
  return (await client.fit({ train_set_upload_id, task })).fitted_train_set_id;
}

/** A model and a test set for it. */
export async function ready(
  client: ServiceClient,
  ids: number[] = [3, 1, 2],
): Promise<{ fitted_train_set_id: string; test_set_upload_id: string; task: 'classification' }> {
  const fitted_train_set_id = await fitted(client);
  const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids) });
  return { fitted_train_set_id, test_set_upload_id, task: 'classification' };
}

/** The ServiceError that a promise rejects with; fails the test where it doesn't, or with another code. */
export async function rejection(work: Promise<unknown>, code: ErrorCode): Promise<ServiceError> {
  let error: unknown;
  try {
    await work;
  } catch (caught) {
    error = caught;
  }
  if (!(error instanceof ServiceError)) {
    throw new Error(`expected ${code}, not ${error instanceof Error ? error.message : 'an answer'}`);
  }
  if (error.code !== code) {
    throw new Error(`expected ${code}, not ${error.code}: ${error.message}`);
  }
  return error;
}
