import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { Harness, nobody } from './harness';
import { sharedService } from './shared';

const MIB = 1024 * 1024;

/** What comes back for these bytes, until the server closes the line. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8');
    socket.setTimeout(10_000, () => socket.destroy(new Error(`the line stays open: ${answer}`)));
    socket.on('data', (data: string) => (answer += data));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** HTTP as other stacks speak it: byte by byte, without a library that smooths it over. */
describe('Service: HTTP by the byte', () => {
  let h: Harness;
  /** Takes files of 2,000 bytes at most. */
  let limited: Harness;
  before(async () => {
    h = await sharedService();
    limited = await Harness.start({ limits: { dataset_max_size_bytes: 2000 } });
  });
  after(() => limited.stop());

  const headOf = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
  const head = (line: string, ...headers: string[]): string =>
    headOf(line, `Authorization: Bearer ${h.service.token}`, ...headers);
  interface Place {
    target: string;
    headers: string[];
  }
  /** Where the two files of a train set go, and with which headers. */
  const prepared = async (info: object): Promise<{ x: Place; y: Place }> => {
    const { body } = await limited.post('prepare_train_set_upload', {
      x_train_info: { format: 'csv', ...info },
      y_train_info: { format: 'csv' },
    });
    const placeOf = (part: { signed_urls: [string]; required_headers: Record<string, string> }): Place => ({
      target: part.signed_urls[0].slice(limited.service.url.length),
      headers: Object.entries(part.required_headers).map(([name, value]) => `${name}: ${value}`),
    });
    return { x: placeOf(body.x_train_info), y: placeOf(body.y_train_info) };
  };
  /** The features of an upload that is complete: `a`, `1`. */
  const arrived = async (): Promise<Place> => {
    const { x, y } = await prepared({ size_bytes: 4 });
    for (const { target, headers } of [x, y]) {
      const put = headOf(`PUT ${target}`, ...headers, 'Connection: close', 'Content-Length: 4');
      assert.deepEqual(statuses(await exchange(limited.service.port, `${put}a\n1\n`)), [200]);
    }
    return x;
  };
  const say = (...requests: string[]): Promise<string> => exchange(h.service.port, requests.join(''));
  const statuses = (answer: string): number[] =>
    [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  const last = ['GET /svc/get_model_limits', 'Connection: close'] as const;
  const json = (length: number): string[] => ['Content-Type: application/json', `Content-Length: ${length}`];
  const cost = '{"operation":"predict"}';

  it('keeps the connection after a refusal of a request without a body', async () => {
    const answer = await say(
      head('GET /svc/nothing'),
      head('GET /svc/fit'),
      head('HEAD /svc/fit'),
      head('DELETE /svc/get_model_limits', 'Content-Length: 0'),
      head(...last),
    );
    assert.deepEqual(statuses(answer), [404, 405, 405, 405, 200]);
    assert.equal(answer.match(/connection: close/gi)?.length, 1);
  });

  it('closes it after a refusal of a request whose body nobody has read', async () => {
    const [before] = (await say(head('POST /svc/nothing', ...json(cost.length)), cost, head(...last))).split(
      '\r\n\r\n',
    );
    assert.match(before!, /^HTTP\/1\.1 404 /);
    assert.match(before!, /connection: close/i);
  });

  it('reads one request after the other from the same piece', async () => {
    const posted = head('POST /svc/estimate_cost', ...json(cost.length)) + cost;
    assert.deepEqual(statuses(await say(posted, posted, head(...last))), [200, 200, 200]);
  });

  it('answers HTTP/1.0, and requests that name the whole address', async () => {
    const old = `GET /svc/get_model_limits HTTP/1.0\r\nAuthorization: Bearer ${h.service.token}\r\n\r\n`;
    assert.deepEqual(statuses(await say(old)), [200]);
    assert.deepEqual(
      statuses(await say(head('GET http://elsewhere/svc/get_model_limits', 'Connection: close'))),
      [200],
    );
  });

  it('asks for the body of a request that waits for it', async () => {
    const wait = ['Expect: 100-continue', 'Connection: close'];
    const posted = head('POST /svc/estimate_cost', ...wait, ...json(cost.length));
    assert.deepEqual(statuses(await say(posted, cost)), [100, 200]);
    const { target, headers } = (await prepared({ size_bytes: 4 })).x;
    const put = headOf(`PUT ${target}`, ...headers, ...wait, 'Content-Length: 4');
    assert.deepEqual(statuses(await exchange(limited.service.port, `${put}a\n1\n`)), [100, 200]);
    // HTTP/1.0 knows no such answer.
    const old = posted.replace('HTTP/1.1', 'HTTP/1.0');
    assert.deepEqual(statuses(await say(old, cost)), [200]);
  });

  it('never asks for a body that it refuses by the headers alone', async () => {
    const { target, headers } = await arrived();
    const { x: fresh } = await prepared({ size_bytes: 4 });
    const refused: [line: string, status: number, ...headers: string[]][] = [
      // It has no use for a body.
      ['POST /get_api_usage/', 200, ...json(9)],
      ['POST /svc/nothing', 404, ...json(9)],
      ['PUT /svc/fit', 405, ...json(9)],
      ['POST /svc/estimate_cost', 422, 'Content-Type: text/plain', 'Content-Length: 9'],
      ['POST /svc/estimate_cost', 413, ...json(MIB + 1)],
      ['POST /svc/fit', 413, ...json(8 * MIB + 1)],
      ['POST /predict', 413, ...json(16 * MIB + 1)],
      ['POST /v1/predict', 422, 'Content-Type: text/csv', 'Content-Length: 9'],
      [
        'POST /v1/predict',
        413,
        'Content-Type: multipart/form-data; boundary=x',
        `Content-Length: ${17 * MIB}`,
      ],
      ['POST /import_fitted_train_set/', 413, `Content-Length: ${300 * MIB}`],
      ['PUT /_upload/x', 403, 'Content-Length: 9'],
      [
        `PUT ${fresh.target.replace(/signature=./, 'signature=')}`,
        403,
        ...fresh.headers,
        'Content-Length: 4',
      ],
      [`PUT ${fresh.target}`, 403, 'Content-Length: 4'],
      [`POST ${fresh.target}`, 405, ...fresh.headers, 'Content-Length: 4'],
      [`PUT ${fresh.target}`, 413, ...fresh.headers, 'Content-Length: 2001'],
      [`PUT ${fresh.target}`, 400, ...fresh.headers, 'Content-Length: 5'],
      [`PUT ${target}`, 400, ...headers, 'Content-Length: 5'],
    ];
    const expect = ['Expect: 100-continue', 'Connection: close'];
    const anonymous = say(headOf('POST /svc/fit', ...json(9), ...expect));
    await Promise.all(
      refused.map(async ([line, status, ...more]) => {
        const answer = await exchange(limited.service.port, head(line, ...more, ...expect));
        assert.deepEqual(statuses(answer), [status], `${line}: ${answer}`);
      }),
    );
    assert.deepEqual(statuses(await anonymous), [401]);
  });

  it('refuses a body of unknown length while it still arrives', async () => {
    const { target, headers } = (await prepared({})).x;
    const { x: small } = await prepared({ size_bytes: 4 });
    const known = await arrived();
    const form = 'Content-Type: multipart/form-data; boundary=x';
    const tooLong: [line: string, bytes: number, status: number, ...headers: string[]][] = [
      ['POST /svc/estimate_cost', MIB, 413, 'Content-Type: application/json'],
      ['POST /svc/fit', 8 * MIB, 413, 'Content-Type: application/json'],
      ['POST /predict', 16 * MIB, 413, 'Content-Type: application/json'],
      ['POST /v1/predict', 16 * MIB, 413, form],
      [`PUT ${target}`, 2000, 413, ...headers],
      [`PUT ${small.target}`, 4, 400, ...small.headers],
      [`PUT ${known.target}`, 4, 400, ...known.headers],
    ];
    for (const [line, most, status, ...more] of tooLong) {
      const socket = connect(limited.service.port, '127.0.0.1');
      try {
        socket.setEncoding('utf8');
        socket.write(head(line, ...more, 'Transfer-Encoding: chunked'));
        // The chunk that ends the body never comes.
        socket.write(`${(most + 1).toString(16)}\r\n${' '.repeat(most + 1)}\r\n`);
        const [answer] = (await once(socket, 'data')) as [string];
        assert.deepEqual(statuses(answer), [status], `${line}: ${answer}`);
      } finally {
        socket.destroy();
      }
    }
  });

  it('cuts off a sender that goes on after its refusal', async () => {
    const socket = connect(h.service.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
    socket.write(head('POST /svc/nothing', 'Content-Type: application/json', 'Transfer-Encoding: chunked'));
    const piece = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    let pieces = 0;
    for (let open = true; open;) {
      pieces += 1;
      const taken = new Promise((resolve) => socket.write(piece, resolve));
      open = await Promise.race([closed.then(() => false), taken.then(() => !socket.destroyed)]);
    }
    // 64 are read and discarded; some more lie in the buffers of both ends.
    assert.ok(pieces < 128, `${pieces} MiB were taken`);
  });

  it('takes JSON with a byte order mark or a charset, and says what else it does not take', async () => {
    assert.equal((await h.post('estimate_cost', `\ufeff${cost}`)).status, 200);
    const named = { 'content-type': 'Application/JSON; charset="utf-8"' };
    assert.equal((await h.post('estimate_cost', cost, named)).status, 200);
    for (const [body, about] of [
      [`${cost} x`, /not valid JSON/],
      ['null', /must be a JSON object/],
      ['7', /must be a JSON object/],
    ] as const) {
      const { status, body: said } = await h.post('estimate_cost', body);
      assert.equal(status, 422);
      assert.match(said.message, about);
    }
    const zipped = await fetch(h.url('estimate_cost'), {
      method: 'POST',
      headers: { ...h.bearer(), 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync(cost)),
    });
    assert.equal(zipped.status, 422);
  });

  it('repeats no more than a hundred characters of what was asked for', async () => {
    const long = 'a'.repeat(5000);
    for (const route of [`/svc/${long}`, `/${long}/fit`, `/v1/${long}`]) {
      const { status, text } = await h.get(route);
      assert.equal(status, 404);
      assert.ok(text.length < 400, text);
    }
  });

  it('answers requests at the same time each by its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        i % 2 === 0
          ? h.get('get_model_limits')
          : h.post('prepare_test_set_upload', {
              fitted_train_set_id: nobody,
              x_test_info: { format: 'csv', [`odd_${i}`]: 1 },
            }),
      ),
    );
    answers.forEach((answer, i) => {
      assert.equal(answer.status, i % 2 === 0 ? 200 : 422);
      if (i % 2 === 1) {
        assert.match(answer.body.message, new RegExp(`odd_${i} `));
      }
    });
  });
});
