import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';

import { ConfigState } from '../../doors/runtime';
import { startStrictService, type StrictService } from '../../helpers/strict-service';
import { ready, rejection } from '../client/support';
import { fakeNode, fakeRed, fakeRuntime } from './fake';

type Client = Parameters<typeof ready>[0];

describe('A predict that a service ended', () => {
  const body = { error_code: 'TIMEOUT', message: 'It got no further.', retryable: false };
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService();
  });
  afterEach(() => service.close());

  const clientOf = async (def: object): Promise<Client> => {
    const red = fakeRed({}, { userDir: path.join(os.tmpdir(), 'no-user-folder') });
    const node = Object.assign(fakeNode(), { credentials: { token: service.token } });
    const embedded = { url: service.url, token: service.token, close: () => Promise.resolve() };
    const state = new ConfigState(fakeRuntime(def as never, red, node), {
      start: () => Promise.resolve(embedded),
      learner: 'test',
    });
    return (await state.connection().service.client()) as Client;
  };

  for (const [kind, def, code, charged] of [
    ['embedded', {}, 'service.timeout', false],
    ['hosted', { service: 'hosted', apiName: 'svc' }, 'predict.unknown', true],
  ] as const) {
    it(`speaks ${charged ? 'of a charge' : 'of none'} where the service is ${kind}`, async () => {
      const client = await clientOf({ ...def, baseUrl: service.url });
      const request = await ready(client);
      service.fault('predict', () => ({ status: 504, body }));
      const error = await rejection(client.predict(request), code);
      assert.equal(/metered|charge/.test(error.message), charged, error.message);
      await client.close();
    });
  }
});
