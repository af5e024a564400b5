import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import fc from 'fast-check';

import type { UploadSource } from '../../../dist/src/client';
import { planChunks } from '../../doors/client';
import { inTurn } from '../../helpers/strict-service';
import { waitFor } from '../../helpers/wait';
import { blob, clientFor, fitted, rejection, source, withService, xOf, yOf } from './support';

const train = () => ({ x: xOf([1, 2, 3, 4]), y: yOf(['a', 'b', 'a', 'b']) });

describe('client: uploads', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.02));
  after(() => (Math.random = random));

  it('cuts a file into floor(bytes / N) each, the last taking the rest, for any size and N', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.integer({ min: 1, max: 300 }), (bytes, count) => {
        const chunks = planChunks(bytes, count);
        assert.equal(chunks.length, count);
        assert.equal(chunks[0]!.start, 0);
        assert.equal(chunks.at(-1)!.end, bytes);
        chunks.slice(0, -1).forEach((chunk, i) => {
          assert.equal(chunk.end - chunk.start, Math.floor(bytes / count));
          assert.equal(chunks[i + 1]!.start, chunk.end);
        });
      }),
    );
  });

  it('sends 30 chunks, at most 8 at a time, without asking for them, and the bytes arrive as they were', () =>
    withService({ chunks: 30 }, {}, async (service, client) => {
      const x = xOf(Array.from({ length: 5_000 }, (_, i) => i));
      const fitted_train_set_id = await fitted(client);
      const before = service.seen('put').length;
      service.fault('put', () => ({ delayMs: 500 }));
      const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x });
      const times = service
        .seen('put')
        .slice(before)
        .map((put) => put.at);
      assert.equal(times.length, 30);
      assert.ok(times[7]! - times[0]! < 450, 'eight begin together');
      for (let i = 8; i < 30; i += 1) {
        assert.ok(times[i]! - times[i - 8]! >= 450, `chunk ${i} began too early`);
      }
      assert.equal((await service.rowsOf(test_set_upload_id)).length, 5_000);
      assert.deepEqual(service.breaches, []);
    }));

  it('sends what is in memory as it is, whole and in chunks, with retries and progress', async () => {
    for (const chunks of [1, 4]) {
      await withService({ chunks }, {}, async (service, client) => {
        const fitted_train_set_id = await fitted(client);
        const x = xOf([5, 6, 7]);
        const bytes = await buffer(x.open());
        const padded = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')]);
        const content = padded.subarray(6, 6 + bytes.length);
        const unopened: UploadSource = { ...x, content, open: () => assert.fail('opened') };
        service.fault('put', inTurn({ status: 500 }));
        const seen: number[] = [];
        const { test_set_upload_id } = await client.uploadTestSet(
          { fitted_train_set_id, x: unopened },
          { onProgress: (sent) => seen.push(sent) },
        );
        assert.deepEqual(service.bytesOf(test_set_upload_id), bytes);
        assert.equal(seen.at(-1), bytes.length);
        assert.deepEqual(service.breaches, []);
      });
    }
  });

  it('repeats a chunk that failed alone', () =>
    withService({ chunks: 5 }, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      const before = service.seen('put').length;
      service.fault('put', ({ url, n }) => (url.includes('/0/3?') && n < 5 ? { status: 500 } : undefined));
      await client.uploadTestSet({ fitted_train_set_id, x: xOf([1, 2, 3, 4, 5, 6]) });
      const puts = service.seen('put').slice(before);
      const third = puts.filter((put) => put.url.includes('/0/3?'));
      assert.equal(puts.length - third.length, 4);
      assert.ok(third.length >= 2);
      assert.deepEqual(service.breaches, []);
    }));

  it('sends an empty file, and chunks of nothing, with a length of 0', () =>
    withService({ chunks: 3 }, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      const before = service.seen('put').length;
      await client.uploadTestSet({ fitted_train_set_id, x: source('') });
      await client.uploadTestSet({ fitted_train_set_id, x: source('a') });
      const lengths = service
        .seen('put')
        .slice(before)
        .map((put) => put.headers['content-length']);
      assert.deepEqual(lengths.sort(), ['0', '0', '0', '0', '0', '1']);
      assert.deepEqual(service.breaches, []);
    }));

  for (const status of [400, 403]) {
    it(`prepares a refused train set (${status}) anew by force, once, and sends both files again`, () =>
      withService({}, {}, async (service, client) => {
        service.fault('put', ({ n }) => (n === 0 ? { status, body: '<Error>Expired</Error>' } : undefined));
        const request = train();
        const { train_set_upload_id, reused } = await client.uploadTrainSet(request);
        assert.equal(reused, false);
        const prepared = service
          .seen('prepare_train_set_upload')
          .map((r) => r.body as Record<string, unknown>);
        assert.deepEqual(
          prepared.map((body) => body.force_reupload),
          [undefined, true],
        );
        assert.deepEqual(service.bytesOf(train_set_upload_id, 'y').length, request.y.bytes);
        assert.equal((await service.rowsOf(train_set_upload_id)).length, 4);
        assert.equal(request.x.live + request.y.live, 0);
        assert.deepEqual(service.breaches, []);
      }));

    it(`prepares a refused test set (${status}) anew without hash, once`, () =>
      withService({ testDuplicates: true }, {}, async (service, client) => {
        const fitted_train_set_id = await fitted(client);
        service.fault('put', inTurn({ status }));
        await client.uploadTestSet({ fitted_train_set_id, x: xOf([1]) });
        const hashes = service
          .seen('prepare_test_set_upload')
          .map((r) => (r.body as { x_test_info: { hash?: string } }).x_test_info.hash);
        assert.equal(typeof hashes[0], 'string');
        assert.deepEqual(hashes.slice(1), [undefined]);
        assert.deepEqual(service.breaches, []);
      }));
  }

  it('is upload.expired where the new URLs are refused too', () =>
    withService({}, {}, async (service, client) => {
      service.fault('put', () => ({ status: 403, body: 'Request has expired' }));
      const error = await rejection(client.uploadTrainSet(train()), 'upload.expired');
      assert.match(error.message, /403.*Request has expired/);
      assert.equal(service.seen('prepare_train_set_upload').length, 2);
    }));

  const errorOf = (code: string, message: string) =>
    `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  for (const [status, body, code, pattern] of [
    [400, errorOf('ExpiredToken', 'The provided token has expired.'), 'upload.expired', /Check the clocks/],
    [403, errorOf('AccessDenied', 'Request has expired'), 'upload.expired', /AccessDenied: Request has/],
    [400, errorOf('BadDigest', 'The CRC32C you specified did not match.'), 'upload.failed', /BadDigest: The/],
    [403, errorOf('SignatureDoesNotMatch', 'Check &quot;key&quot;'), 'upload.failed', /Check "key"\.$/],
    [400, 'not so', 'upload.failed', /features .* \(400\), at a new signed URL too: not so\.$/],
    [400, '<html>Bad request</html>', 'upload.failed', /an HTML page/],
    [400, '<Error/>', 'upload.failed', /an error without a code/],
  ] as const) {
    it(`is ${code} where the storage says ${body.slice(0, 200)} (${status})`, () =>
      withService({}, {}, async (service, client) => {
        service.fault('put', ({ url }) => (url.includes('/0/0') ? { status, body } : undefined));
        const error = await rejection(client.uploadTrainSet(train()), code);
        assert.match(error.message, pattern);
        assert.equal(/clocks/.test(error.message), code === 'upload.expired');
        assert.equal(error.cause?.status, status);
        assert.equal(service.seen('prepare_train_set_upload').length, 2);
      }));
  }

  it('sends a file again to the same URL where the storage waited too long for it (400 RequestTimeout)', () =>
    withService({}, {}, async (service, client) => {
      service.fault('put', inTurn({ status: 400, body: errorOf('RequestTimeout', 'Idle connection.') }));
      await client.uploadTrainSet(train());
      assert.equal(service.seen('prepare_train_set_upload').length, 1);
      assert.equal(service.seen('put').length, 3);
      assert.deepEqual(service.breaches, []);
    }));

  it('reuses the id of a duplicate that appears between prepare and PUT', () =>
    withService({}, {}, async (service, client) => {
      const id = '11111111-1111-4111-8111-111111111111';
      const body = {
        message: 'Duplicate',
        train_set_upload_id: id,
        error_code: 'DUPLICATE_TRAIN_SET_UPLOAD',
      };
      service.fault('put', () => ({ status: 403 }));
      service.fault('prepare_train_set_upload', inTurn(undefined, { status: 409, body }));
      assert.deepEqual(await client.uploadTrainSet(train()), { train_set_upload_id: id, reused: true });
    }));

  it('a twin of another client that comes between prepare and PUT: the same bytes are there once more, or reused', async () => {
    for (const status of [409, 412]) {
      await withService({}, {}, async (service, client) => {
        const request = train();
        const other = clientFor(service);
        let met = false;
        service.fault('put', () => {
          if (met) {
            return undefined;
          }
          met = true;
          return { status, body: '<Error>Exists</Error>', delayMs: 150 };
        });
        const upload = client.uploadTrainSet(request);
        while (!met) {
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        const { train_set_upload_id: twin } = await other.uploadTrainSet(train());
        const { train_set_upload_id: id, reused } = await upload;
        assert.equal(reused, id === twin);
        assert.equal((await service.rowsOf(id)).length, 4);
        assert.equal((await service.rowsOf(id, 'y')).length, 4);
        assert.deepEqual(service.breaches, []);
        await other.close();
      });
    }
  });

  it('a bare prepare route gives the id of a duplicate in its error', () =>
    withService({}, {}, async (_, client) => {
      const { x, y } = train();
      const first = await client.uploadTrainSet({ x, y });
      const info = (file: UploadSource) => ({ format: file.format, hash: file.hash, size_bytes: file.bytes });
      const error = await rejection(
        client.prepareTrainSetUpload({ x_train_info: info(x), y_train_info: info(y) }),
        'duplicate',
      );
      assert.equal((error as { uploadId?: string }).uploadId, first.train_set_upload_id);
    }));

  it('sees an early 503 while a large PUT still sends as that answer, also on a busy event loop', async () => {
    const large = blob(4 * 1024 * 1024);
    const busy: UploadSource = {
      ...large,
      open: (start, end) => Readable.from(slowly(large.open(start, end))),
    };
    const warnings: string[] = [];
    const log = (level: string, text: string) => level === 'warn' && warnings.push(text);
    await withService({}, { log }, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      for (let round = 0; round < 12; round += 1) {
        service.fault('put', inTurn({ status: 503, early: true }));
        await client.uploadTestSet({ fitted_train_set_id, x: round % 2 === 0 ? large : busy });
      }
      assert.equal(warnings.length, 12);
      for (const text of warnings) {
        assert.match(text, /\(503\)/);
      }
      assert.equal(large.live, 0);
      assert.deepEqual(service.breaches, []);
    });
  });

  it('sees an early 403 as a refused URL', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      service.fault('put', inTurn({ status: 403, early: true }));
      await client.uploadTestSet({ fitted_train_set_id, x: blob(8 * 1024 * 1024) });
      assert.equal(service.seen('prepare_test_set_upload').length, 2);
    }));

  it('waits for a slow reader, opening no more of the file than is taken', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      service.fault('put', () => ({ slowReadMs: 40 }));
      const seen: number[] = [];
      const x = blob(3 * 1024 * 1024);
      await client.uploadTestSet(
        { fitted_train_set_id, x },
        { onProgress: (sent, total) => (assert.equal(total, x.bytes), seen.push(sent)) },
      );
      assert.equal(seen.at(-1), x.bytes);
      assert.deepEqual(service.breaches, []);
    }));

  it('progress grows to the total of both files, and goes back for what is sent again', () =>
    withService({}, {}, async (service, client) => {
      service.fault('put', inTurn({ status: 500 }));
      const { x, y } = train();
      const seen: [number, number][] = [];
      await client.uploadTrainSet({ x, y }, { onProgress: (sent, total) => seen.push([sent, total]) });
      assert.deepEqual(seen.at(-1), [x.bytes + y.bytes, x.bytes + y.bytes]);
      assert.ok(seen.every(([sent, total]) => sent <= total));
    }));

  it('waits as long as the storage asks by Retry-After', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      service.fault('put', inTurn({ status: 429, headers: { 'retry-after': '1' } }));
      const started = performance.now();
      await client.uploadTestSet({ fitted_train_set_id, x: xOf([1]) });
      assert.ok(performance.now() - started > 950);
    }));

  it('a storage that keeps failing is upload.failed, naming it', () =>
    withService({}, { retries: 1 }, async (service, client) => {
      service.fault('put', () => ({ status: 500, body: 'oops' }));
      const error = await rejection(client.uploadTrainSet(train()), 'upload.failed');
      assert.match(error.message, /127\.0\.0\.1:\d+ \(500\): oops/);
    }));

  it('a file that cannot be read, or that shrank, is upload.failed at once', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      const good = blob(100_000);
      const broken = (make: () => Readable): UploadSource => ({ ...good, open: make });
      const cases: [UploadSource, RegExp][] = [
        [broken(() => Readable.from(good.open(0, 50_000))), /changed its size/],
        [broken(() => Readable.from(fails())), /no space left/],
      ];
      for (const [x, pattern] of cases) {
        const before = service.seen('put').length;
        const error = await rejection(client.uploadTestSet({ fitted_train_set_id, x }), 'upload.failed');
        assert.match(error.message, pattern);
        assert.ok(service.seen('put').length - before <= 1);
      }
    }));

  it('an abort ends an upload and closes its file', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client);
      service.fault('put', () => ({ slowReadMs: 200 }));
      const x = blob(20 * 1024 * 1024);
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 100);
      await rejection(client.uploadTestSet({ fitted_train_set_id, x }, { signal: stop.signal }), 'closed');
      await waitFor('the end of its file', () => x.live === 0);
      assert.equal(client.whenBusy('upload').inFlight, 0);
    }));

  it('sends required headers as given, a length, and neither bearer nor transfer encoding', async () => {
    const heads: string[] = [];
    const storage = createServer((socket: Socket) => {
      let head = '';
      socket.on('data', (data) => {
        head += data.toString('latin1');
        if (head.includes('\r\n\r\n') && head.endsWith('\n')) {
          heads.push(head);
          head = '';
          socket.write('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n');
        }
      });
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
    const { port } = storage.address() as AddressInfo;
    try {
      await withService({ storageUrl: `http://127.0.0.1:${port}` }, {}, async (_, client) => {
        await client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) });
        assert.equal(heads.length, 2);
        for (const head of heads) {
          assert.match(head, /^PUT \/signed\//);
          assert.match(head, /\r\ncontent-type: text\/csv\r\n/i);
          assert.match(head, /\r\nx-upload-token: [0-9a-f-]+\r\n/i);
          assert.match(head, /\r\ncontent-length: \d+\r\n/i);
          assert.doesNotMatch(head, /authorization|transfer-encoding/i);
        }
      });
    } finally {
      storage.close();
    }
  });
});

/** Keeps the event loop busy between pieces, so that a broken connection is met by a write before it is read. */
async function* slowly(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve));
    const end = performance.now() + 4;
    while (performance.now() < end) {
      // Busy on purpose.
    }
    yield piece;
  }
}

// oxlint-disable-next-line typescript/require-await -- a stream that fails while it is read
async function* fails(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(1000);
  throw new Error('ENOSPC: no space left on device');
}
