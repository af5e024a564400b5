import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';

import { ServiceClient } from '../../../dist/src/client';
import { proxyFor } from '../../doors/client';
import { inTurn, startStrictService } from '../../helpers/strict-service';
import { clientFor, ready, rejection, withService, xOf, yOf } from './support';

const pem = (name: string) => readFileSync(path.join(__dirname, '../../fixtures/tls', name), 'utf8');

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A proxy that forwards everything to one port, and notes what it was asked for. */
function proxyTo(port: number): { server: Server; asked: string[] } {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const { pathname, search } = new URL(req.url ?? '');
    const onward = httpRequest(
      { host: '127.0.0.1', port, path: pathname + search, method: req.method, headers: req.headers },
      (answer: IncomingMessage) => {
        res.writeHead(answer.statusCode ?? 500, { ...answer.headers, 'x-trace': 'a'.repeat(40_000) });
        answer.pipe(res);
      },
    );
    req.pipe(onward);
  });
  server.on('connect', (req, client: Socket) => {
    asked.push(`CONNECT ${req.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(onward).pipe(client);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy());
  });
  return { server, asked };
}

describe('client: ways to the service', () => {
  it('keeps connections open and uses them again', () =>
    withService({}, {}, async (service, client) => {
      for (let i = 0; i < 10; i += 1) {
        await client.getModelLimits();
      }
      assert.ok(service.connections <= 2, `${service.connections} connections`);
    }));

  it('speaks to a base URL with a path', () =>
    withService({ apiName: 'svc' }, {}, async (service) => {
      const client = clientFor(service, { baseUrl: `${service.url}/eu/v9/` });
      await rejection(client.getModelLimits(), 'not_found');
      assert.equal(service.requests[0]?.url, '/eu/v9/svc/get_model_limits');
      await client.close();
    }));

  describe('redirects', () => {
    it('leaves none of the token or the table on another origin, and says where it was sent', async () => {
      const caught: string[] = [];
      const other = createServer((req, res) => {
        caught.push(req.headers.authorization ?? 'no token');
        res.end('{}');
      });
      const port = await listening(other);
      try {
        await withService({}, {}, async (service, client) => {
          const request = await ready(client);
          const location = `http://127.0.0.1:${port}/elsewhere?key=abc`;
          for (const status of [301, 302, 303, 307, 308]) {
            for (const route of ['get_model_limits', 'predict', 'put'] as const) {
              service.fault(route, () => ({ status, headers: { location } }));
            }
            const { fitted_train_set_id } = request;
            for (const work of [
              client.getModelLimits(),
              client.predict(request),
              client.uploadTestSet({ fitted_train_set_id, x: xOf([status]) }),
            ]) {
              const error = await rejection(work, 'response.invalid');
              assert.match(
                error.message,
                new RegExp(`redirected \\(${status}\\) to http://127.0.0.1:${port},`),
              );
              assert.doesNotMatch(error.message, /abc/);
            }
          }
          assert.deepEqual(caught, []);
        });
      } finally {
        other.close();
      }
    });

    it('follows 307 and 308 on its own origin with method, body and token, a few times', () =>
      withService({}, {}, async (service, client) => {
        const request = await ready(client);
        const location = '/svc/predict?moved';
        service.fault('predict', ({ n }) => (n < 2 ? { status: 307 + n, headers: { location } } : undefined));
        await client.predict(request);
        assert.equal(service.seen('predict').length, 3);
        assert.deepEqual(service.breaches, []);
        service.fault('predict', () => ({ status: 307, headers: { location } }));
        const error = await rejection(client.predict(request), 'response.invalid');
        assert.match(error.message, /redirected \(307\) again and again \(3 times\)/);
        assert.equal(service.seen('predict').length, 7);
        // Three are followed, whatever the method.
        let left = 3;
        const moved = { status: 302, headers: { location: '/svc/get_model_limits?moved' } };
        service.fault('get_model_limits', () => (left-- > 0 ? moved : undefined));
        await client.getModelLimits();
        left = 4;
        await rejection(client.getModelLimits(), 'response.invalid');
      }));

    it('follows none of a PUT, not even on the same origin', () =>
      withService({}, {}, async (service, client) => {
        service.fault(
          'put',
          inTurn(...[301, 307].map((status) => ({ status, headers: { location: '/other' } }))),
        );
        const upload = client.uploadTrainSet({ x: xOf([1, 2]), y: yOf(['a', 'b']) });
        const error = await rejection(upload, 'response.invalid');
        assert.match(error.message, /is redirected \(30[17]\) to http:.*, and uploads are not redirected/);
        assert.ok(service.seen('put').every(({ url }) => url.startsWith('/signed/')));
        assert.ok(service.seen('put').length <= 2);
      }));
  });

  describe('proxies', () => {
    const at = (url: string, options = {}, environment = {}) => proxyFor(new URL(url), options, environment);

    it('never takes one for loopback', () => {
      for (const host of [
        '127.0.0.1',
        '127.8.9.10',
        'localhost',
        'a.localhost',
        '[::1]',
        '[::ffff:127.0.0.1]',
      ]) {
        assert.equal(
          at(`http://${host}:80/`, { url: 'http://p:1' }, { http_proxy: 'http://q:2' }),
          undefined,
        );
      }
    });

    it('takes the configured one, else the environment’s, in either case of letters', () => {
      assert.equal(at('https://a.org', { url: 'http://p:1' }, { https_proxy: 'http://q:2' }), 'http://p:1');
      assert.equal(
        at('https://a.org', {}, { https_proxy: 'http://q:2', http_proxy: 'http://r' }),
        'http://q:2',
      );
      assert.equal(at('http://a.org', {}, { HTTP_PROXY: 'r:3' }), 'http://r:3');
      assert.equal(at('http://a.org', {}, { https_proxy: 'http://q:2' }), undefined);
      assert.equal(at('http://a.org'), undefined);
    });

    it('honours the list of hosts without one', () => {
      const listed = (host: string, ...noProxy: string[]) =>
        at(`https://${host}/`, { url: 'http://p:1', noProxy }) === undefined;
      assert.ok(listed('a.org', 'b.org', 'a.org'));
      assert.ok(listed('x.a.org', '.a.org'));
      assert.ok(listed('x.a.org', 'a.org'));
      assert.ok(listed('x.a.org', '*.a.org'));
      assert.ok(listed('a.org:8443', 'a.org:8443'));
      assert.ok(listed('10.0.0.7', '10.0.0.7'));
      assert.ok(listed('anything', '*'));
      assert.ok(!listed('ba.org', 'a.org'));
      assert.ok(!listed('a.org', 'a.org:8443'));
      assert.ok(!listed('a.org', ''));
      assert.equal(
        at('https://a.org', {}, { https_proxy: 'http://q:2', NO_PROXY: 'b.org, a.org' }),
        undefined,
      );
    });

    for (const tls of [false, true]) {
      it(`goes through one to ${tls ? 'https by CONNECT' : 'http'}, storage too, with its password`, async () => {
        const server = { key: pem('server.key.pem'), cert: pem('server.pem') };
        const scheme = tls ? 'https' : 'http';
        const service = await startStrictService({
          ...(tls && { tls: server }),
          storageUrl: `${scheme}://storage.test:1`,
        });
        const { server: proxy, asked } = proxyTo(Number(new URL(service.url).port));
        const port = await listening(proxy);
        const client = new ServiceClient({
          baseUrl: `${scheme}://api.test`,
          token: service.token,
          timeoutMs: 5_000,
          tls: { ca: pem('ca.pem'), servername: 'localhost' },
          proxy: { url: `http://user:pass@127.0.0.1:${port}` },
        });
        try {
          await client.getModelLimits();
          assert.deepEqual(
            asked,
            tls ? ['CONNECT api.test:443'] : ['GET http://api.test/svc/get_model_limits'],
          );
          if (!tls) {
            await client.uploadTrainSet({ x: xOf([1, 2]), y: yOf(['a', 'b']) });
            assert.ok(asked.some((line) => line.startsWith('PUT http://storage.test:1/signed/')));
          }
          assert.deepEqual(service.breaches, []);
        } finally {
          await client.close();
          proxy.closeAllConnections();
          proxy.close();
          await service.close();
        }
      });
    }
  });

  describe('proxies that fail', () => {
    for (const scheme of ['http', 'https']) {
      it(`to ${scheme}: one that wants a password, and one that is not there, are named`, async () => {
        const proxy = createServer((_, res) => res.writeHead(407).end());
        proxy.on('connect', (_, socket: Socket) => socket.end('HTTP/1.1 407 Who are you\r\n\r\n'));
        const port = await listening(proxy);
        const client = () =>
          new ServiceClient({
            baseUrl: `${scheme}://api.test`,
            token: 't',
            retries: 0,
            proxy: { url: `http://user:wrong-1234@127.0.0.1:${port}` },
          });
        const id = '00000000-0000-4000-8000-000000000000';
        const predict = { test_set_upload_id: id, fitted_train_set_id: id, task: 'regression' } as const;
        const first = client();
        const refused = await rejection(first.predict(predict), 'service.unavailable');
        assert.match(refused.message, /the proxy before api\.test.*Check the proxy and its password/);
        assert.doesNotMatch(refused.message, /wrong-1234/);
        await first.close();
        proxy.closeAllConnections();
        await new Promise((resolve) => proxy.close(resolve));
        const second = client();
        const gone = await rejection(second.predict(predict), 'service.unavailable');
        assert.match(gone.message, new RegExp(`127.0.0.1:${port} \\(the proxy before api.test`));
        await second.close();
      });
    }
  });

  describe('TLS', () => {
    const server = { key: pem('server.key.pem'), cert: pem('server.pem'), ca: pem('ca.pem') };

    it('does not trust a certificate of nobody, says so, and does not try again', async () => {
      const service = await startStrictService({ tls: server });
      // What it tries again it would try for minutes.
      const client = clientFor(service, { retries: 1_000, timeoutMs: 600_000 });
      try {
        const error = await rejection(client.getModelLimits(), 'service.unavailable');
        assert.match(error.message, /certificate of 127\.0\.0\.1:\d+ is not trusted.*Check the TLS settings/);
      } finally {
        await client.close();
        await service.close();
      }
    });

    it('says that a certificate has expired, and what to do', async () => {
      const [key, cert] = [pem('expired.key.pem'), pem('expired.pem')];
      const service = await startStrictService({ tls: { key, cert } });
      const client = clientFor(service, { tls: { ca: cert }, retries: 1_000, timeoutMs: 600_000 });
      try {
        const error = await rejection(client.getModelLimits(), 'service.unavailable');
        assert.match(
          error.message,
          /certificate of 127\.0\.0\.1:\d+ has expired .*Renew it there, or correct the/,
        );
      } finally {
        await client.close();
        await service.close();
      }
    });

    it('says what to look for where the other side speaks no TLS, and where its own settings are none', () =>
      withService({}, {}, async (service, plain) => {
        const baseUrl = service.url.replace('http:', 'https:');
        const noTls = clientFor(service, { baseUrl, retries: 1_000, timeoutMs: 600_000 });
        const answer = await rejection(noTls.getModelLimits(), 'service.unavailable');
        assert.match(answer.message, /does not answer in TLS .*begins with http:/);
        const noPem = clientFor(service, { baseUrl, tls: { cert: 'nonsense', key: 'secret nonsense' } });
        const own = await rejection(noPem.getModelLimits(), 'service.unavailable');
        assert.match(own.message, /certificate, key or password of the TLS settings cannot be used/);
        assert.doesNotMatch(own.message, /secret/);
        await Promise.all([noTls.close(), noPem.close(), plain.close()]);
      }));

    it('trusts the CA given; the client certificate goes to the API and not to the storage', async () => {
      const seen: [string, boolean][] = [];
      const options = { ...server, requestCert: true, rejectUnauthorized: false };
      const storage = await startStrictService({ tls: options });
      const api = await startStrictService({ tls: options, storageUrl: storage.url });
      for (const [name, service] of [
        ['api', api],
        ['storage', storage],
      ] as const) {
        (service as unknown as { server: NodeJS.EventEmitter }).server.on(
          'secureConnection',
          (socket: { authorized: boolean }) => seen.push([name, socket.authorized]),
        );
      }
      const client = clientFor(api, {
        tls: { ca: pem('ca.pem'), cert: pem('client.pem'), key: pem('client.key.pem') },
      });
      try {
        storage.fault('put', () => ({ status: 200 }));
        await client.uploadTrainSet({ x: xOf([1, 2]), y: yOf(['a', 'b']) });
        assert.deepEqual(
          seen.filter(([name]) => name === 'api').map(([, authorized]) => authorized),
          [true],
        );
        const atStorage = seen.filter(([name]) => name === 'storage');
        assert.ok(atStorage.length >= 1 && atStorage.every(([, authorized]) => !authorized));
        assert.deepEqual(storage.breaches, []);
      } finally {
        await client.close();
        await api.close();
        await storage.close();
      }
    });
  });
});
