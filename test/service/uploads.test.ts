import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { collide } from '../helpers/collide';
import { waitFor } from '../helpers/wait';
import { bytesOf, Harness, hashOf, infoOf, putFile, UUID } from './harness';

const X = 'a,b\n1,2\n3,4\n';
const Y = 'y\n0\n1\n';

describe('Service: uploads and signed URLs', () => {
  let h: Harness;
  before(async () => {
    h = await Harness.start({ chunkBytes: 1000 });
  });
  after(() => h.stop());

  const prepare = (x: object, y: object, extra: object = {}) =>
    h.post('prepare_train_set_upload', { x_train_info: x, y_train_info: y, ...extra });

  it('answers prepare with an id, signed URLs, expiry and required headers (S 4.1, 2.2)', async () => {
    const { status, body } = await prepare({ format: 'csv' }, { format: 'parquet' });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['train_set_upload_id', 'x_train_info', 'y_train_info']);
    assert.match(body.train_set_upload_id, UUID);
    for (const info of [body.x_train_info, body.y_train_info]) {
      assert.equal(info.signed_urls.length, 1);
      assert.ok(info.signed_urls[0].startsWith(`${h.service.url}/`));
      assert.ok(info.expires_at > Date.now() / 1000 && info.expires_at < Date.now() / 1000 + 86_400);
      assert.ok(Object.values(info.required_headers).every((value) => typeof value === 'string'));
    }
  });

  it('neither writes nor reads through a link that was put in the place of a file', async () => {
    if (process.platform === 'win32') {
      return;
    }
    const [x, y] = ['left,right\n5,6\n7,8\n', 'linked\n0\n1\n'];
    const victim = path.join(h.folder, 'victim.csv');
    await writeFile(victim, x);
    const prepared = (await prepare(infoOf(x), infoOf(y))).body;
    const folder = path.join(h.folder, 'uploads', prepared.train_set_upload_id);
    await symlink(victim, path.join(folder, 'x.csv'));
    assert.equal((await putFile(prepared.x_train_info, x.replace('8', '9'))).status, 507);
    assert.equal(await readFile(victim, 'utf8'), x);
    const id = await h.uploadTrain(x, y);
    const file = path.join(h.folder, 'uploads', id, 'x.csv');
    await rm(file);
    await symlink(victim, file);
    const fit = await h.post('fit', { train_set_upload_id: id, task: 'regression' });
    assert.match(fit.text, /cannot be read now \(ELOOP\)/);
  });

  it('takes both namings of file info, and refuses a mixture (S 2.1)', async () => {
    const sample = { filename: 'x.csv', size_bytes: 12, content_hash: 'AAAAAA==' };
    assert.equal((await prepare(sample, { ...sample, filename: 'y.csv' })).status, 200);
    const mixed = await prepare({ filename: 'x.csv', hash: 'AAAAAA==' }, { format: 'csv' });
    assert.equal(mixed.status, 422);
    assert.match(mixed.body.detail, /hash|filename/);
  });

  it('names an unknown property of file info with 422, and ignores it beside', async () => {
    const inner = await prepare({ format: 'csv', colour: 1 }, { format: 'csv' });
    assert.equal(inner.status, 422);
    assert.match(inner.body.detail, /x_train_info\.colour/);
    const outer = await prepare({ format: 'csv' }, { format: 'csv' }, { colour: 1 });
    assert.equal(outer.status, 200);
    assert.equal((await prepare({ format: 'xlsx' }, { format: 'csv' })).status, 422);
    assert.equal((await prepare({}, { format: 'csv' })).status, 422);
  });

  it('tells train sets that share their CRC32C and size apart by an announced SHA-256, which it checks', async () => {
    const wide = (text: string): object => ({
      ...infoOf(text),
      hash: createHash('sha256').update(text).digest('hex'),
    });
    for (const chunks of [{}, { use_chunks: true }]) {
      const first = `a,b\n${'0'.repeat(2000)},${Object.keys(chunks).length}1\n`;
      const second = collide(first, first.replace('1\n', '2\n'), 4, 44);
      assert.deepEqual(infoOf(second), infoOf(first));
      const upload = async (text: string, bytes = text): Promise<number[]> => {
        const { status, body } = await prepare({ ...wide(text), ...chunks }, wide(Y));
        if (status !== 200) {
          return [status];
        }
        const urls = body.x_train_info.signed_urls as string[];
        const even = Math.floor(bytes.length / urls.length);
        const sent: number[] = [];
        for (const [at, url] of urls.entries()) {
          const part = bytes.slice(at * even, at === urls.length - 1 ? undefined : (at + 1) * even);
          sent.push((await putFile({ ...body.x_train_info, signed_urls: [url] }, part)).status);
        }
        assert.ok(sent.slice(0, -1).every((one) => one === 200));
        return [status, sent.at(-1)!, (await putFile(body.y_train_info, Y)).status];
      };
      assert.deepEqual(await upload(first, second), [200, 400, 200]);
      assert.deepEqual(await upload(first), [200, 200, 200]);
      assert.deepEqual(await upload(second), [200, 200, 200]);
      assert.deepEqual(await upload(first), [409]);
      assert.deepEqual(await upload(second), [409]);
    }
  });

  it('takes the bytes without a token and answers the same hashes with 409 (S 7)', async () => {
    const id = await h.uploadTrain(X, Y);
    const again = await prepare(infoOf(X), infoOf(Y));
    assert.equal(again.status, 409);
    const { message, trace_id, ...rest } = again.body;
    assert.equal(typeof message, 'string');
    assert.match(trace_id, UUID);
    assert.deepEqual(rest, {
      train_set_upload_id: id,
      error_code: 'DUPLICATE_TRAIN_SET_UPLOAD',
      detail: null,
    });
    assert.equal((await prepare(infoOf(X), infoOf(Y), { force_reupload: true })).status, 200);
    assert.equal((await prepare(infoOf(X), infoOf('y\n1\n0\n'))).status, 200);
    assert.equal((await prepare({ format: 'csv' }, { format: 'csv' })).status, 200);
  });

  it('never answers with an upload whose bytes did not all arrive', async () => {
    const x = 'a\n77\n';
    const y = 'y\n78\n';
    const first = await prepare(infoOf(x), infoOf(y));
    assert.equal((await putFile(first.body.x_train_info, x)).status, 200);
    assert.equal((await prepare(infoOf(x), infoOf(y))).status, 200);
    const early = await h.post('fit', {
      train_set_upload_id: first.body.train_set_upload_id,
      task_config: { task: 'regression' },
    });
    assert.equal(early.status, 422);
    assert.equal(early.body.error_code, 'UPLOAD_INCOMPLETE');
    assert.match(early.body.message, /y file/);
    assert.equal((await putFile(first.body.y_train_info, y)).status, 200);
    assert.equal((await prepare(infoOf(x), infoOf(y))).status, 409);
  });

  it('refuses a missing or altered required header, a changed path, query or expiry with 403', async () => {
    const { body } = await prepare({ format: 'csv' }, { format: 'csv' });
    const info = body.x_train_info;
    const url = new URL(info.signed_urls[0]);
    const tampered = (change: (copy: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return putFile({ ...info, signed_urls: [copy.href] }, X);
    };
    const without = { 'content-type': info.required_headers['content-type'] };
    const answers = [
      await putFile(info, X, without),
      await putFile(info, X, { ...info.required_headers, 'content-type': 'text/plain' }),
      await tampered((u) => (u.pathname = u.pathname.replace('/x/', '/y/'))),
      await tampered((u) => u.searchParams.set('expires', '99999999999')),
      await tampered((u) => u.searchParams.set('headers', '')),
      await tampered((u) => u.searchParams.set('signature', '00'.repeat(32))),
      await tampered((u) => u.searchParams.delete('signature')),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [403, 403, 403, 403, 403, 403, 403],
    );
    assert.ok(answers.every((answer) => !answer.text.includes('secret-token')));
    assert.equal((await putFile(info, X)).status, 200);
  });

  it('refuses other bytes than announced with 400 and the reason, and takes the right ones afterwards', async () => {
    const x = 'a\n1\n2\n3\n';
    const { body } = await prepare(infoOf(x), { format: 'csv' });
    const short = await putFile(body.x_train_info, 'a\n1\n');
    assert.equal(short.status, 400);
    assert.match(short.body.message, /4 bytes; 8 were announced/);
    const long = await putFile(body.x_train_info, `${x}4\n`);
    assert.equal(long.status, 400);
    const other = await putFile(body.x_train_info, x.replace('3', '4'));
    assert.equal(other.status, 400);
    assert.match(other.body.message, /CRC32C/);
    assert.equal((await putFile(body.x_train_info, x)).status, 200);
    assert.equal((await putFile(body.x_train_info, x)).status, 200, 'a repeated PUT of the same bytes');
    assert.equal((await putFile(body.x_train_info, x.replace('3', '4'))).status, 400);
  });

  it('refuses a file that is too large, announced or not', async () => {
    const small = await Harness.start({ limits: { dataset_max_size_bytes: 2000 } });
    try {
      const announced = await small.post('prepare_train_set_upload', {
        x_train_info: { format: 'csv', size_bytes: 2001 },
        y_train_info: { format: 'csv' },
      });
      assert.equal(announced.status, 413);
      assert.equal(announced.body.code, 'limit.exceeded');
      const { body } = await small.post('prepare_train_set_upload', {
        x_train_info: { format: 'csv' },
        y_train_info: { format: 'csv' },
      });
      assert.equal((await putFile(body.x_train_info, 'a'.repeat(2001))).status, 413);
    } finally {
      await small.stop();
    }
  });

  it('cuts a large file into chunks when asked, in any order, and checks the whole', async () => {
    const x = `a\n${Array.from({ length: 1500 }, (_, i) => i * 7).join('\n')}\n`;
    const y = `y\n${'1\n'.repeat(1500)}`;
    const whole = bytesOf(x);
    const { body } = await prepare({ ...infoOf(x), use_chunks: true }, { ...infoOf(y), use_chunks: false });
    const { signed_urls: urls, required_headers: headers } = body.x_train_info;
    assert.equal(urls.length, Math.ceil(whole.length / 1000));
    assert.equal(body.y_train_info.signed_urls.length, 1);
    const size = Math.floor(whole.length / urls.length);
    const chunk = (i: number) => whole.subarray(i * size, i === urls.length - 1 ? undefined : (i + 1) * size);
    const put = (i: number, data = chunk(i)) =>
      putFile({ signed_urls: [urls[i]], required_headers: headers }, data);
    assert.equal((await put(1, chunk(1).subarray(1))).status, 400, 'a chunk of another length');
    const order = urls.map((_: string, i: number) => urls.length - 1 - i) as number[];
    const answers = await Promise.all(order.map((i) => put(i)));
    assert.ok(answers.every((answer) => answer.status === 200));
    assert.equal((await putFile(body.y_train_info, y)).status, 200);
    assert.equal((await prepare(infoOf(x), infoOf(y))).status, 409, 'found by the hash of the whole');
  });

  it('answers one URL to a file that wants chunks and does not say its size (S 2.1)', async () => {
    for (const size_bytes of [undefined, null, 0, 1]) {
      const { status, body } = await prepare(
        { format: 'csv', use_chunks: true, size_bytes },
        { format: 'csv' },
      );
      assert.deepEqual([status, body.x_train_info.signed_urls.length], [200, 1], String(size_bytes));
    }
    const { body } = await prepare({ format: 'csv', use_chunks: true }, { format: 'csv' });
    assert.equal((await putFile(body.x_train_info, `a\n${'1\n'.repeat(5000)}`)).status, 200);
  });

  it('says so when a chunk has the right length and wrong bytes', async () => {
    const x = `a\n${'1234\n'.repeat(800)}`;
    const { body } = await prepare({ ...infoOf(x), use_chunks: true }, { format: 'csv' });
    const { signed_urls: urls, required_headers } = body.x_train_info;
    const whole = bytesOf(x);
    const size = Math.floor(whole.length / urls.length);
    const statuses: number[] = [];
    for (let i = 0; i < urls.length; i++) {
      const part = Buffer.from(whole.subarray(i * size, i === urls.length - 1 ? undefined : (i + 1) * size));
      if (i === 1) {
        part[0] = 65;
      }
      statuses.push((await putFile({ signed_urls: [urls[i]], required_headers }, part)).status);
    }
    assert.deepEqual(statuses, [...urls.slice(1).map(() => 200), 400]);
  });

  it('leaves nothing of an aborted upload and takes it again', async () => {
    const x = `a\n${'5\n'.repeat(100_000)}`;
    const { body } = await prepare(infoOf(x), { format: 'csv' });
    const info = body.x_train_info;
    const folder = path.join(h.folder, 'uploads', body.train_set_upload_id as string);
    await new Promise<void>((resolve) => {
      const put = request(info.signed_urls[0], {
        method: 'PUT',
        headers: { ...info.required_headers, 'content-length': String(x.length) },
      });
      put.on('error', () => resolve());
      put.write(x.slice(0, 50_000));
      void waitFor(
        'the part that came',
        async () => (await readdir(folder).catch(() => [])).length > 0,
      ).finally(() => put.destroy(new Error('cut')));
    });
    await waitFor('it to go', async () => (await readdir(folder)).length === 0);
    assert.equal((await putFile(info, x)).status, 200);
  });

  it('refuses an expired URL', async () => {
    const brief = await Harness.start({ urlSeconds: 1 });
    try {
      const { body } = await brief.post('prepare_train_set_upload', {
        x_train_info: { format: 'csv' },
        y_train_info: { format: 'csv' },
      });
      await sleep(1100);
      const late = await putFile(body.x_train_info, X);
      assert.equal(late.status, 403);
      assert.equal(late.body.error_code, 'URL_EXPIRED');
    } finally {
      await brief.stop();
    }
  });

  it('reads a hash in hexadecimal as the same CRC32C', async () => {
    const x = 'a\n9\n';
    const hex = Buffer.from(hashOf(x), 'base64').toString('hex');
    const { body } = await prepare({ format: 'csv', hash: hex }, { format: 'csv' });
    assert.equal((await putFile(body.x_train_info, 'a\n8\n')).status, 400);
    assert.equal((await putFile(body.x_train_info, x)).status, 200);
  });
});
