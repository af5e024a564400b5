import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import {
  Connection,
  type ConnectionOptions,
  EmbeddedService,
  HostedService,
  ModelCards,
  type PredictOutcome,
} from '../../../dist/src/connection';
import { type ClientOptions, ServiceClient } from '../../doors/client';
import type { FittedModel } from '../../doors/scoring';
import type { ServiceError } from '../../doors/wire';
import { startStrictService, type StrictOptions, type StrictService } from '../../helpers/strict-service';
import { sharedService } from '../../service/shared';

/** A card as the file of them holds it, of a model of numbers. */
export function storedCard(name: string, service: string, id = `fitted-${name}`): FittedModel {
  return {
    name,
    fitted_train_set_id: id,
    train_set_upload_id: `upload-${id}`,
    task: 'regression',
    target: 'wear',
    columns: [{ name: 'x', type: 'number' }],
    rows: 10,
    options: {},
    service,
    fitted_at: '2026-01-01T00:00:00.000Z',
  };
}

export interface Bench {
  service: StrictService;
  connection: Connection;
  cards: ModelCards;
  logs: string[];
  /** Another connection to the same service with the same cards. */
  connect(
    options?: Partial<Omit<ConnectionOptions, 'service'>> & {
      learner?: string;
      clientOptions?: Partial<ClientOptions>;
    },
  ): Connection;
  close(): Promise<void>;
}

/** The real client against the strict stand-in of the service, over real HTTP. */
export async function bench(options: StrictOptions = {}): Promise<Bench> {
  const service = await startStrictService(options);
  const cards = ModelCards.open({ service: service.url });
  const logs: string[] = [];
  const opened: Connection[] = [];
  const connect: Bench['connect'] = ({ clientOptions, learner, ...more } = {}) => {
    const connection = new Connection({
      service: new HostedService({
        key: service.url,
        learner,
        open: () =>
          Promise.resolve(
            new ServiceClient({
              baseUrl: service.url,
              token: service.token,
              timeoutMs: 20_000,
              ...clientOptions,
            }),
          ),
        onWarning: (text) => logs.push(text),
      }),
      cards,
      log: (level, text) => {
        if (level === 'warn') {
          logs.push(text);
        }
      },
      ...more,
    });
    opened.push(connection);
    return connection;
  };
  return {
    service,
    connection: connect(),
    cards,
    logs,
    connect,
    close: async () => {
      await Promise.all(opened.map((connection) => connection.close()));
      await service.close();
    },
  };
}

/** A connection to an embedded service, and a folder, for the tests of one `describe`. */
export function embeddedBench(): { connection: Connection; folder: string } {
  const at = {} as { connection: Connection; folder: string };
  before(async function () {
    this.timeout(30_000);
    at.folder = await mkdtemp(path.join(os.tmpdir(), 'tabular-embedded-'));
    const { url: baseUrl, token } = (await sharedService()).service;
    at.connection = new Connection({
      service: new EmbeddedService({ open: () => Promise.resolve(new ServiceClient({ baseUrl, token })) }),
      cards: ModelCards.open({ service: 'embedded' }),
    });
  });
  after(async () => {
    await at.connection.close();
    await rm(at.folder, { recursive: true, force: true });
  });
  return at;
}

/** A train set: `id` is what the stand-in predicts from. */
export function history(
  rows = 20,
): { id: number; name: string; ok: boolean; species: string; size: number }[] {
  return Array.from({ length: rows }, (_, id) => ({
    id,
    name: `n${id % 3}`,
    ok: id % 2 === 0,
    species: id % 2 === 0 ? 'cat' : 'dog',
    size: id + 0.5,
  }));
}

/** A row to predict. */
export const row = (id: number): { id: number; name: string; ok: boolean; size: number } => ({
  id,
  name: `n${id % 3}`,
  ok: id % 2 === 0,
  size: id + 0.5,
});

/** The outcome, or the code of the error. */
export async function settled(promise: Promise<PredictOutcome>): Promise<PredictOutcome | string> {
  try {
    return await promise;
  } catch (error) {
    return (error as ServiceError).code;
  }
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return (error as ServiceError).code;
  }
}
