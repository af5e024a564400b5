import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { Harness, nobody } from './harness';

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
  before(async () => {
    h = await Harness.start();
  });
  after(() => h.stop());

  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${h.service.token}`, ...headers, '', ''].join(
      '\r\n',
    );
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

  it('asks for the body of a request that waits for it, unless it refuses the request', async () => {
    const expect = 'Expect: 100-continue';
    const welcome = await say(
      head('POST /svc/estimate_cost', expect, 'Connection: close', ...json(cost.length)),
      cost,
    );
    assert.deepEqual(statuses(welcome), [100, 200]);
    const refused = [
      ['POST /svc/nothing', 404],
      ['PUT /svc/fit', 405],
      ['PUT /_upload/x', 403],
    ] as const;
    await Promise.all(
      refused.map(async ([line, status]) =>
        assert.deepEqual(statuses(await say(head(line, expect, 'Connection: close', ...json(1e9)))), [
          status,
        ]),
      ),
    );
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
