import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Harness, line } from './harness';

const IDLE_MS = 400;
const patience = { idleMs: IDLE_MS, bytesPerSecond: 1000 };
const times = { headersMs: IDLE_MS, body: patience, upload: patience, answerIdleMs: IDLE_MS };
/** Until when a connection must be gone that was held up; a busy machine is given its time. */
const BOUND_MS = 20 * IDLE_MS;

/** A connection that does what it is told, byte by byte. */
class Slow {
  private text = '';
  private closedAt: number | undefined;
  private readonly socket: Socket;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('utf8');
    this.socket.on('data', (data: string) => (this.text += data));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closedAt = performance.now()));
  }

  send(text: string): void {
    if (this.socket.writable) {
      this.socket.write(text);
    }
  }

  /** One byte at a time, until the other side has enough of it. */
  async drip(everyMs: number): Promise<void> {
    while (this.closedAt === undefined) {
      this.send('1');
      await sleep(everyMs);
    }
  }

  stopReading(): void {
    this.socket.pause();
  }

  /** What came until the server closed the connection. */
  async end(): Promise<string> {
    this.socket.resume();
    for (let waited = 0; this.closedAt === undefined && waited < BOUND_MS; waited += 20) {
      await sleep(20);
    }
    const closed = this.closedAt !== undefined;
    this.socket.destroy();
    assert.ok(closed, `closed within ${BOUND_MS} ms`);
    return this.text;
  }
}

describe('Service: clients that keep it waiting', () => {
  let h: Harness;
  before(async () => {
    h = await Harness.start({ times });
  });
  after(() => h.stop());

  const open = (): Slow => new Slow(h.service.port);
  const jsonHead = (length: number): string =>
    `POST /svc/fit HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${h.service.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const prepare = async () =>
    (
      await h.post('prepare_train_set_upload', {
        x_train_info: { format: 'csv' },
        y_train_info: { format: 'csv' },
      })
    ).body;
  const putHead = (
    info: { signed_urls: string[]; required_headers: Record<string, string> },
    length: number,
  ): string => {
    const { pathname, search } = new URL(info.signed_urls[0]!);
    const headers = Object.entries(info.required_headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${length}\r\n${headers.join('')}\r\n`;
  };
  const assertTooSlow = (answer: string): void => {
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /connection: close/i);
    assert.match(answer, /"error_code":"REQUEST_TIMEOUT"/);
  };

  it('lets go of a connection without a word on it, and of headers without an end', async () => {
    const silent = open();
    const half = open();
    half.send('GET /svc/get_model_limits HTTP/1.1\r\nhost: x\r\n');
    await silent.end();
    assert.match(await half.end(), /^(HTTP\/1\.1 408 |$)/);
  });

  it('answers 408 to JSON that stops in the middle, and to JSON byte by byte', async () => {
    const stopped = open();
    stopped.send(`${jsonHead(1000)}{"train_set`);
    assertTooSlow(await stopped.end());
    const dripping = open();
    dripping.send(jsonHead(1000));
    const drops = dripping.drip(50);
    assertTooSlow(await dripping.end());
    await drops;
  });

  it('answers 408 to a PUT that stops in the middle, leaves nothing of it, and takes it again', async () => {
    const body = await prepare();
    const put = open();
    put.send(`${putHead(body.x_train_info, 1000)}a,b\n1,2\n`);
    assertTooSlow(await put.end());
    const folder = path.join(h.folder, 'uploads', body.train_set_upload_id as string);
    assert.deepEqual(await readdir(folder), []);
    const again = open();
    again.send(`${putHead(body.x_train_info, 8)}a,b\n1,2\n`);
    assert.match(await again.end(), /^HTTP\/1\.1 200 /);
  });

  it('answers 408 to a PUT byte by byte', async () => {
    const body = await prepare();
    const put = open();
    put.send(putHead(body.x_train_info, 1000));
    const drops = put.drip(50);
    assertTooSlow(await put.end());
    await drops;
  });

  it('bears pauses, as long as the whole comes at a fair pace', async () => {
    const body = await prepare();
    const put = open();
    put.send(putHead(body.x_train_info, 2002));
    put.send('a\n');
    for (let i = 0; i < 10; i++) {
      await sleep(IDLE_MS / 4);
      put.send('1\n'.repeat(100));
    }
    assert.match(await put.end(), /^HTTP\/1\.1 200 /);
  });

  it('closes on a client that reads nothing of a long answer, and frees what it held', async () => {
    const { x, y } = line(2000);
    const fitted = await h.fit(x, y, 'regression');
    const test = await h.uploadTest(fitted, x);
    const ask = JSON.stringify({
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: { task: 'regression', predict_params: { output_type: 'full' } },
    });
    const began = performance.now();
    const whole = await h.post('predict', ask);
    const took = performance.now() - began;
    const reader = open();
    reader.stopReading();
    reader.send(jsonHead(ask.length).replace('/svc/fit', '/svc/predict') + ask);
    // The answer has to be there before nobody reads it.
    await sleep(4 * IDLE_MS + 1000 + 3 * took);
    const answer = await reader.end();
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.ok(answer.length < whole.text.length, `${answer.length} of ${whole.text.length} characters came`);
  }).timeout(180_000);

  it('still serves everybody else', async () => {
    const held = Array.from({ length: 200 }, () => {
      const one = open();
      one.send(`${jsonHead(1000)}{`);
      return one;
    });
    assert.equal((await h.get('get_model_limits')).status, 200);
    const answers = await Promise.all(held.map((one) => one.end()));
    assert.ok(answers.every((answer) => answer.startsWith('HTTP/1.1 408 ')));
  });
});
