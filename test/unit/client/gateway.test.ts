import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { ServiceClient } from '../../../dist/src/client';
import { inTurn, type StrictService } from '../../helpers/strict-service';
import { clientFor, ready, rejection, withService } from './support';

const PACK = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

/** What the service answered, and where the gateway's own answer goes. */
type Pass = (answer: { status: number; body: Buffer }, res: ServerResponse, req: IncomingMessage) => void;

/** Puts a gateway before a service, which passes its answers on in its own way. */
async function through(service: StrictService, pass: Pass, work: (client: ServiceClient) => Promise<void>) {
  const gateway = createServer((req, res) => {
    void (async () => {
      const body = req.method === 'GET' ? undefined : await buffer(req);
      const { authorization = '', 'content-type': type = 'application/json' } = req.headers;
      const headers = { authorization, ...(body !== undefined && { 'content-type': type }) };
      const answer = await fetch(`${service.url}${req.url}`, { method: req.method, body, headers });
      pass({ status: answer.status, body: Buffer.from(await answer.arrayBuffer()) }, res, req);
    })();
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const { port } = gateway.address() as AddressInfo;
  const client = clientFor(service, { baseUrl: `http://127.0.0.1:${port}`, retries: 1, timeoutMs: 5_000 });
  try {
    await work(client);
  } finally {
    await client.close();
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
  }
}

describe('client: behind a gateway', () => {
  for (const [encoding, pack] of Object.entries(PACK)) {
    it(`that compresses whatever it is asked (${encoding}), a predict that was paid for is read`, () =>
      withService({}, {}, (service) =>
        through(
          service,
          ({ status, body }, res) => {
            res.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding });
            res.end(pack(body));
          },
          async (client) => {
            const request = await ready(client);
            const { prediction } = await client.predict(request);
            assert.equal(prediction.kind === 'probas' && prediction.values.length, 3);
            service.fault('predict', inTurn({ status: 422, body: { message: 'bad row', error_code: 'X' } }));
            const refused = await rejection(client.predict(request), 'validation.failed');
            assert.match(refused.message, /bad row/);
            assert.equal(service.seen('predict').length, 2);
          },
        ),
      ));
  }

  it('that cuts what it compressed, a predict is unknown, and an error is still that error', () =>
    withService({}, {}, (service) =>
      through(
        service,
        ({ status, body }, res, req) => {
          const isPredict = req.url?.endsWith('/predict') === true;
          res.writeHead(status, isPredict ? { 'content-encoding': 'gzip' } : {});
          res.end(isPredict ? gzipSync(body).subarray(0, 20) : body);
        },
        async (client) => {
          const request = await ready(client);
          await rejection(client.predict(request), 'predict.unknown');
          service.fault('predict', inTurn({ status: 422, body: { message: 'bad row' } }));
          const refused = await rejection(client.predict(request), 'validation.failed');
          assert.match(refused.message, /refused \(422\): no explanation/);
          assert.equal(service.seen('predict').length, 2);
        },
      ),
    ));

  it('that tells to go on without being asked, a predict that was paid for is read', () =>
    withService({}, {}, (service) =>
      through(
        service,
        ({ status, body }, res) => {
          res.writeContinue();
          // In pieces, the last of which has the beginning of the answer too.
          res.socket!.write('HTTP/1.1 100 Cont');
          setTimeout(() => {
            res.socket!.write('inue\r\nX-A: b\r\n\r\n');
            res.writeHead(status, { 'content-type': 'application/json' });
            res.end(body);
          }, 20);
        },
        async (client) => {
          const request = await ready(client);
          assert.equal((await client.predict(request)).rows, 3);
          assert.equal(service.seen('predict').length, 1);
        },
      ),
    ));

  it('that adds 50 KB of headers, a predict that was paid for is read', () =>
    withService({}, {}, (service) =>
      through(
        service,
        ({ status, body }, res) => {
          for (let i = 0; i < 50; i += 1) {
            res.setHeader(`x-trace-${i}`, 'a'.repeat(1000));
          }
          res.writeHead(status, { 'content-type': 'application/json' });
          res.end(body);
        },
        async (client) => {
          const request = await ready(client);
          assert.equal((await client.predict(request)).rows, 3);
          assert.equal(service.seen('predict').length, 1);
        },
      ),
    ));

  it('that adds more headers than any should, that is the reason, and nothing is repeated', () =>
    withService({}, {}, (service) =>
      through(
        service,
        ({ status, body }, res, req) => {
          const isPredict = req.url?.endsWith('/predict') === true;
          res.writeHead(status, isPredict ? { 'x-trace': 'a'.repeat(70_000) } : {});
          res.end(body);
        },
        async (client) => {
          const request = await ready(client);
          const { message } = await rejection(client.predict(request), 'predict.unknown');
          assert.match(message, /headers of the answer of 127\.0\.0\.1:\d+ are longer than 64 KB .*gateways/);
          await rejection(client.predict({ ...request, retryAmbiguous: true }), 'service.unavailable');
          assert.equal(service.seen('predict').length, 2);
        },
      ),
    ));

  it('that adds a Retry-After to that of the service, the first one counts', () =>
    withService({}, {}, async (service) => {
      let refused = 0;
      await through(
        service,
        ({ status, body }, res, req) => {
          const isFirst = req.url?.endsWith('/predict') === true && refused++ === 0;
          res.setHeader('retry-after', ['0.2', '3600']);
          res.writeHead(isFirst ? 429 : status, { 'content-type': 'application/json' });
          res.end(isFirst ? '' : body);
        },
        async (client) => {
          const request = await ready(client);
          assert.equal((await client.predict(request)).rows, 3);
          assert.equal(refused, 2);
        },
      );
    }));
});
