import assert from 'node:assert/strict';
import { createServer, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

import { ServiceClient } from '../../../dist/src/client';
import { startStrictService, type StrictService } from '../../helpers/strict-service';
import { xOf, yOf } from './support';

/** The clock that undici's own time-outs go by. */
const clock = createRequire(__filename)('undici/lib/util/timers.js') as { tick(ms: number): void };

/** Ten minutes pass. The first second starts the timers that were set just now. */
function tenMinutes(): void {
  clock.tick(1_000);
  clock.tick(600_000);
}

/** The service is silent for so long, then sends white space for so long, then answers. */
const SILENT_MS = 500;
const SPACES_MS = 500;

describe('client: minutes without an answer', () => {
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService({ keepaliveMs: 200 });
    for (const route of ['fit', 'get_model_limits'] as const) {
      service.fault(route, () => ({ delayMs: SILENT_MS, whitespaceMs: SPACES_MS }));
    }
  });

  afterEach(() => service.close());

  /** Lets ten minutes pass for undici, once before the headers and once in the middle of the white space. */
  async function timePasses(work: Promise<unknown>, when: ('silent' | 'spaces')[]): Promise<void> {
    // Whatever comes of it, it is looked at by the caller.
    work.catch(() => undefined);
    while (service.seen('fit').length + service.seen('get_model_limits').length === 0) {
      await sleep(5);
    }
    await sleep(SILENT_MS / 2);
    if (when.includes('silent')) {
      tenMinutes();
    }
    await sleep(SILENT_MS / 2 + SPACES_MS / 2);
    if (when.includes('spaces')) {
      tenMinutes();
    }
  }

  async function fitsThrough(client: ServiceClient): Promise<void> {
    try {
      const { train_set_upload_id } = await client.uploadTrainSet({ x: xOf([1, 2]), y: yOf(['a', 'b']) });
      const fit = client.fit({ train_set_upload_id, task: 'classification' });
      await timePasses(fit, ['silent', 'spaces']);
      assert.match((await fit).fitted_train_set_id, /^[0-9a-f-]{36}$/);
      assert.equal(service.seen('fit').length, 1, 'it was not asked for again');
      assert.deepEqual(service.breaches, []);
    } finally {
      await client.close();
    }
  }

  it('cut no fit', () => fitsThrough(new ServiceClient({ baseUrl: service.url, token: service.token })));

  it('cut no fit through a proxy either', async () => {
    const proxy = createServer((req, res) => {
      const { pathname, search } = new URL(req.url ?? '');
      const options = { method: req.method, headers: req.headers };
      const onward = httpRequest(service.url + pathname + search, options, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(res);
      });
      req.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      await fitsThrough(
        new ServiceClient({
          baseUrl: 'http://api.local',
          token: service.token,
          proxy: { url: `http://127.0.0.1:${port}`, noProxy: ['127.0.0.1'] },
        }),
      );
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  for (const [when, code] of [
    ['silent', 'UND_ERR_HEADERS_TIMEOUT'],
    ['spaces', 'UND_ERR_BODY_TIMEOUT'],
  ] as const) {
    it(`would cut a request of undici's own (${code}), so the clock is the right one`, async () => {
      const dispatcher = new Agent();
      const headers = { authorization: `Bearer ${service.token}` };
      const url = `${service.url}/svc/get_model_limits`;
      const work = request(url, { headers, dispatcher }).then(({ body }) => body.text());
      try {
        await timePasses(work, [when]);
        await assert.rejects(work, { code });
      } finally {
        await dispatcher.destroy();
      }
    });
  }
});
