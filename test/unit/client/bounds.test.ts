import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ServiceClient } from '../../../dist/src/client';
import { maxPredictBytes, Notices, retryAfter, signedUrl, uploadHeaders } from '../../doors/client';
import { ServiceError } from '../../doors/wire';
import { inTurn } from '../../helpers/strict-service';
import { rejection, withService, xOf, yOf } from './support';

const id = '00000000-0000-4000-8000-000000000000';
const predict = { fitted_train_set_id: id, test_set_upload_id: id, task: 'classification' as const };
const MIB = 1024 * 1024;

describe('client: answers are bounded by what was asked for', () => {
  let server: Server;
  let client: ServiceClient;
  let answer: { status: number; head: string; piece: string; bytes: number; tail: string };
  let sent: number;

  before((done) => {
    server = createServer((req, res) => {
      req.resume();
      res.writeHead(answer.status, { 'content-type': 'application/json' });
      res.write(answer.head);
      const piece = Buffer.from(answer.piece.repeat(Math.ceil(65_536 / answer.piece.length)));
      const more = () => {
        while (!res.destroyed && sent < answer.bytes) {
          sent += piece.length;
          if (!res.write(piece)) {
            return;
          }
        }
        res.end(answer.tail);
      };
      res.on('drain', more);
      res.on('error', () => undefined);
      more();
    });
    server.listen(0, '127.0.0.1', () => {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      client = new ServiceClient({ baseUrl, token: 'a-token', retries: 0 });
      done();
    });
  });

  after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  beforeEach(() => {
    sent = 0;
  });

  for (const piece of ['[],', '{},']) {
    it(`450 MB of ${piece} are read no further than three rows can need`, async () => {
      answer = { status: 200, head: '{"prediction":[', piece, bytes: 450 * MIB, tail: '[]]}' };
      const error = await rejection(client.predict({ ...predict, rows: 3, classes: 2 }), 'response.invalid');
      assert.match(error.message, /longer than what was asked for can need/);
      assert.ok(sent < 16 * MIB, `${sent} bytes were taken`);
    });
  }

  it('an endless answer to another question is read up to 8 MiB', async () => {
    answer = { status: 200, head: '{"a":[', piece: '[],', bytes: 100 * MIB, tail: '[]]}' };
    await rejection(client.getModelLimits(), 'response.invalid');
    assert.ok(sent < 24 * MIB, `${sent} bytes were taken`);
  });

  it('metadata a hundred thousand levels deep is response.invalid', async () => {
    const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    answer = {
      status: 200,
      head: `{"prediction":[[1,0]],"metadata":${deep}}`,
      piece: ' ',
      bytes: 0,
      tail: '',
    };
    const error = await rejection(client.predict(predict), 'response.invalid');
    assert.match(error.message, /nested more than 64 deep/);
  });

  it('an error a hundred thousand levels deep is that error', async () => {
    const deep = '{"detail":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    answer = { status: 422, head: deep, piece: ' ', bytes: 0, tail: '' };
    const error = await rejection(client.predict(predict), 'validation.failed');
    assert.ok(error.message.length < 1000);
  });

  it('by rows, and by what a row of the output type can need, between a floor and a ceiling', () => {
    const asked = { task: 'regression' as const, rows: 1000 };
    const mean = maxPredictBytes(asked);
    assert.ok(mean >= 1000 * 25 && mean < 2 * MIB);
    const levels = maxPredictBytes({
      ...asked,
      output_type: 'quantiles',
      quantiles: Array<number>(99).fill(0.5),
    });
    assert.ok(levels >= 1000 * 99 * 25 && levels < 8 * MIB);
    assert.ok(maxPredictBytes({ ...asked, output_type: 'full' }) >= 1000 * 5000 * 25);
    assert.ok(maxPredictBytes({ task: 'classification', rows: 10, classes: 160 }) >= MIB + 10 * 160 * 25);
    // What is not known is taken for as much as any service has: 1,000 classes, 10,000 bars of a distribution.
    assert.equal(maxPredictBytes({ task: 'classification', output_type: 'probas', rows: 10 }), MIB + 480_000);
    assert.ok(maxPredictBytes({ ...asked, rows: 1, output_type: 'full' }) < 2 * MIB);
    assert.equal(maxPredictBytes({ ...asked, rows: 1e9 }), 500 * MIB);
    assert.equal(maxPredictBytes({ task: 'regression' }), 64 * MIB);
  });
});

describe('client: what is kept and read beside the answers', () => {
  it('a route is warned of once, and a hundred routes in all', () => {
    const warnings: string[] = [];
    const notices = new Notices((text) => warnings.push(text));
    for (let at = 0; at < 250; at++) {
      const answer = { status: 200, headers: { deprecation: 'true' }, body: Buffer.alloc(0) };
      notices.read(`/route/${Math.floor(at / 2)}`, answer);
    }
    assert.equal(warnings.length, 100);
    assert.equal(new Set(warnings).size, 100);
  });

  it('what a storage says to an upload is read up to a mebibyte', () =>
    withService({}, { retries: 0 }, async (service, client) => {
      const upload = (bytes: number): Promise<unknown> => {
        service.fault('put', () => ({ status: 200, body: 'x'.repeat(bytes) }));
        return client.uploadTrainSet({ x: xOf([bytes, 2]), y: yOf(['a', 'b']) });
      };
      await upload(MIB);
      assert.match((await rejection(upload(2 * MIB), 'upload.failed')).message, /longer than 1048576 bytes/);
    }));
});

describe('client: a service that asks to be left alone', () => {
  it('is left alone for an hour at most', async () => {
    assert.equal(retryAfter({ 'retry-after': '999999999999' }), 3_600_000);
    assert.equal(retryAfter({ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }), 3_600_000);
    await withService({}, { retries: 0 }, async (service, client) => {
      const headers = { 'retry-after': '9'.repeat(300) };
      service.fault('predict', inTurn({ status: 429, headers }));
      const error = await rejection(client.predict(predict), 'rate.limit.exceeded');
      assert.equal(error.cause?.retryAfterMs, 3_600_000);
      const { heldForMs } = client.whenBusy('predict');
      assert.ok(heldForMs > 3_590_000 && heldForMs <= 3_600_000);
    });
  });

  it('is asked again by a client that is new', () =>
    withService({}, { retries: 0 }, async (service, client) => {
      service.fault('get_model_limits', inTurn({ status: 429, headers: { 'retry-after': '999999' } }));
      await rejection(client.getModelLimits(), 'rate.limit.exceeded');
      await rejection(client.getModelLimits(), 'rate.limit.exceeded');
      assert.equal(service.seen('get_model_limits').length, 1);
      const next = new ServiceClient({ baseUrl: service.url, token: service.token });
      await next.getModelLimits();
      await next.close();
    }));
});

describe('client: where a signed URL may point', () => {
  const hosted = new URL('https://api.example.org');
  const refused = (text: string, base: URL, localUploads = false) => {
    try {
      signedUrl(text, { base, localUploads });
      return undefined;
    } catch (error) {
      return error instanceof ServiceError ? error.code : error;
    }
  };

  for (const host of [
    'localhost',
    '127.0.0.1',
    '10.0.0.8',
    '172.20.1.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '2130706433',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    '[::ffff:10.0.0.1]',
    'router',
    'nas.local',
    'metadata.google.internal',
  ]) {
    it(`${host} is no place for a table where the service is on the internet`, () => {
      assert.equal(refused(`http://${host}/put?sig=1`, hosted), 'response.invalid');
      assert.equal(refused(`http://${host}/put?sig=1`, new URL('http://192.168.0.5:8080')), undefined);
    });
  }

  it('the local network is one where the user says so', () => {
    assert.equal(refused('http://10.0.0.8:9000/put?sig=1', hosted, true), undefined);
    assert.equal(refused('file:///etc/passwd', hosted, true), 'response.invalid');
    assert.throws(
      () => signedUrl('http://nas.local/put', { base: hosted, localUploads: false }),
      /allow it in the configuration/,
    );
  });

  it('neither is it one to fetch a prediction from', () => {
    const settings = { base: hosted, localUploads: false };
    for (const host of ['169.254.169.254', 'localhost:9000', 'nas.local']) {
      assert.throws(() => signedUrl(`http://${host}/result?sig=1`, settings, 'a download'), {
        code: 'response.invalid',
        message: /gave a download URL that points into the local network .*: no request is sent there/,
      });
    }
    const local = signedUrl(
      'http://10.0.0.8/result?sig=1',
      { base: hosted, localUploads: true },
      'a download',
    );
    assert.equal(local.host, '10.0.0.8');
  });

  it('a storage on the internet is one', () => {
    for (const host of ['bucket.s3.example.com', '172.32.0.1', '100.128.0.1', '[2001:db8::1]']) {
      assert.equal(refused(`https://${host}/put`, hosted), undefined);
    }
  });

  it('the service chooses neither credentials nor another host name for the upload', () => {
    const url = new URL('https://bucket.example.com/x');
    assert.deepEqual(
      uploadHeaders({ 'x-type': 'a', Host: 'bucket.example.com', 'Content-Length': '9' }, url),
      {
        'x-type': 'a',
      },
    );
    for (const name of ['Authorization', 'cookie', 'Proxy-Authorization', 'host']) {
      assert.throws(() => uploadHeaders({ [name]: 'evil' }, url), { code: 'response.invalid' });
    }
  });

  it('nothing is sent where it points into the local network or asks for credentials', () =>
    withService({}, {}, async (service, client) => {
      const patch = {
        x_train_info: {
          signed_urls: [`${service.url}/signed/x`],
          expires_at: 1,
          required_headers: { authorization: 'Basic abc' },
        },
      };
      service.fault('prepare_train_set_upload', () => ({ patch }));
      await rejection(client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) }), 'response.invalid');
      assert.ok(service.seen('put').every(({ headers }) => headers.authorization === undefined));
    }));
});
