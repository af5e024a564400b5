import assert from 'node:assert/strict';
import { inspect } from 'node:util';

import { ServiceClient } from '../../../dist/src/client';
import { Secrets } from '../../doors/client';
import { ServiceError } from '../../doors/wire';
import type { Fault, StrictRoute } from '../../helpers/strict-service';
import { fitted, rejection, withService, xOf, yOf } from './support';

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl';

/** A token that does not look like one. */
const KEY = `sk-${'ab01'.repeat(10)}`;

/** Everything that a Catch node, a log or a debugger could show of an error. */
function shown(error: ServiceError): string {
  return [
    error.message,
    error.stack,
    JSON.stringify(error),
    inspect(error, { depth: 9, showHidden: true }),
  ].join('\n');
}

describe('client: secrets stay out of errors and logs', () => {
  const echoes: [string, (told: string) => Fault][] = [
    ['in envelope 1', (told) => ({ status: 400, body: { code: told, detail: told, support: told } })],
    ['in envelope 2', (told) => ({ status: 422, body: { message: told, error_code: told, trace_id: told } })],
    [
      'in a list of details',
      (told) => ({ status: 422, body: { detail: [{ loc: ['body', told], msg: told }] } }),
    ],
    ['in a page', (told) => ({ status: 500, body: `oops ${told}` })],
    ['at 200', (told) => ({ status: 200, body: { _streamed_error: true, detail: told } })],
    [
      'in a redirect',
      (told) => ({
        status: 307,
        headers: { location: `http://elsewhere.test/?t=${encodeURIComponent(told)}` },
      }),
    ],
  ];

  for (const [where, fault] of echoes) {
    it(`a service that echoes the token ${where}`, () =>
      withService({ token: TOKEN }, { retries: 1 }, async (service) => {
        const logs: string[] = [];
        const client = new ServiceClient({
          baseUrl: service.url,
          token: TOKEN,
          retries: 1,
          log: (_, text) => logs.push(text),
        });
        const ids = await fitted(client);
        const work: [StrictRoute, () => Promise<unknown>][] = [
          ['get_model_limits', () => client.getModelLimits()],
          ['prepare_test_set_upload', () => client.uploadTestSet({ fitted_train_set_id: ids, x: xOf([1]) })],
          [
            'predict',
            () => client.predict({ fitted_train_set_id: ids, test_set_upload_id: ids, task: 'regression' }),
          ],
        ];
        for (const [route, run] of work) {
          service.fault(route, () => fault(`you sent Bearer ${TOKEN} (${TOKEN})`));
          const error = await run().then(
            () => undefined,
            (caught: unknown) => caught,
          );
          assert.ok(error instanceof ServiceError);
          assert.ok(!shown(error).includes(TOKEN), shown(error));
        }
        assert.ok(logs.length > 1);
        assert.ok(!logs.join('\n').includes(TOKEN));
        await client.close();
      }));
  }

  it('a text that is told in part is told without a part of the token', () =>
    withService({ token: KEY }, { retries: 0 }, async (service) => {
      const client = new ServiceClient({ baseUrl: service.url, token: KEY, retries: 0 });
      for (let before = 150; before < 215; before += 8) {
        service.fault('get_model_limits', () => ({ status: 422, body: `${'x '.repeat(before / 2)}${KEY}` }));
        const error = await rejection(client.getModelLimits(), 'validation.failed');
        assert.ok(!/sk-|ab[01]/.test(error.message), error.message);
      }
      await client.close();
    }));

  it('a storage that echoes the signed URL, whole or in parts', () =>
    withService({}, {}, async (service) => {
      const logs: string[] = [];
      const client = new ServiceClient({
        baseUrl: service.url,
        token: service.token,
        retries: 1,
        log: (_, text) => logs.push(text),
      });
      const signatures = new Set<string>();
      for (const status of [500, 403, 418, 307]) {
        service.fault('put', ({ url }) => {
          const signature = new URL(url, service.url).searchParams.get('signature')!;
          signatures.add(signature);
          const body = `<Error>${service.url}${url} / ${url} / signature=${signature} / ${signature}</Error>`;
          return { status, body, headers: { location: `http://other.test${url}` } };
        });
        const caught = await client.uploadTrainSet({ x: xOf([status]), y: yOf(['a']) }).then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.ok(caught instanceof ServiceError);
        const text = shown(caught) + logs.join('\n');
        for (const signature of signatures) {
          assert.ok(!text.includes(signature), text);
        }
        assert.ok(!text.includes('/signed/'), text);
      }
      assert.ok(signatures.size >= 8);
      await client.close();
    }));

  it('a connection that breaks names host and port only', () =>
    withService({}, { retries: 0 }, async (service, client) => {
      service.fault('put', () => ({ reset: 'during' }));
      const error = await rejection(client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) }), 'upload.failed');
      assert.doesNotMatch(shown(error), /signature|signed\/|Bearer/);
      assert.match(error.message, /127\.0\.0\.1:\d+/);
    }));

  it('the settings’ own errors', () => {
    const token = 'sneaky\ntoken-1234';
    assert.throws(
      () => new ServiceClient({ baseUrl: 'https://a.test', token }),
      (error: ServiceError) => error.code === 'config.invalid' && !shown(error).includes('token-1234'),
    );
    assert.throws(
      () => new ServiceClient({ baseUrl: 'https://me:pass-1234@a.test' }),
      (error: ServiceError) => error.code === 'config.invalid' && !shown(error).includes('pass-1234'),
    );
  });

  describe('hides the token', () => {
    const token = 'Sk-9f+A/7b~Zq.42x_Lm';
    const secrets = new Secrets(token);
    const escaped = (prefix: string, radix: number, digits: number, end = '') =>
      Array.from(token, (c) => prefix + c.charCodeAt(0).toString(radix).padStart(digits, '0') + end).join('');
    for (const [encoding, text] of [
      ['in upper case', token.toUpperCase()],
      ['in lower case', token.toLowerCase()],
      ['with its special characters as percent codes', encodeURIComponent(token)],
      ['with every character as a percent code', escaped('%', 16, 2).toUpperCase()],
      ['in JSON escapes', escaped('\\u', 16, 4)],
      ['in HTML entities', escaped('&#', 10, 2, ';')],
      ['in hexadecimal HTML entities', escaped('&#x', 16, 2, ';')],
      ['in hex', Buffer.from(token).toString('hex')],
      ['in base64', Buffer.from(token).toString('base64')],
      ['in base64 for URLs', Buffer.from(token).toString('base64url')],
      ['in base64 of a text that it is part of', Buffer.from(`user:${token}!`).toString('base64')],
      ['in base64 one byte further', Buffer.from(`users:${token}`).toString('base64')],
      ['in base64 two bytes further', Buffer.from(`Bearer: ${token}`).toString('base64')],
    ] as const) {
      it(encoding, () => assert.equal(secrets.clean(`got "${text}" from you`), 'got "[hidden]" from you'));
    }

    it('with percent codes made twice', () =>
      assert.equal(secrets.clean(encodeURIComponent(escaped('%', 16, 2))), '[hidden]'));

    it('in the escapes of a program', () => assert.equal(secrets.clean(escaped('\\x', 16, 2)), '[hidden]'));

    it('where it is short, such as "true", in base64 as well', () => {
      const short = new Secrets('true');
      const told = ['true', 'TRUE', 'dHJ1ZQ==', 'dHJ1ZQ', Buffer.from('Bearer true').toString('base64')];
      for (const text of told) {
        assert.equal(short.clean(`got "${text}" from you`), 'got "[hidden]" from you', text);
      }
      assert.equal(short.clean('a word: AdHJ1ZQ'), 'a word: AdHJ1ZQ');
    });

    it('however long it is, and whatever signs it has', () => {
      for (const sign of ['x', '\\', '(', '$&', '.*', '😀', '"']) {
        const long = sign.repeat(20_000);
        const text = new Secrets(long).clean(`got ${long} from you`, 100_000);
        assert.ok(!text.includes(sign.repeat(200)), text.slice(0, 300));
        assert.equal(
          new Secrets(sign.repeat(8)).clean(`got ${sign.repeat(8)} from you`),
          'got [hidden] from you',
        );
      }
    });

    it('in texts of letters alone, in time that grows with their length', () => {
      // As a service may answer: a pattern that begins anew at each letter would take minutes for these.
      for (const text of ['a', 'Sk-9f+A/7b~Zq.42x_L', 'U2stOWYrQS', '&#0'].map((part) =>
        part.repeat(20_000),
      )) {
        for (let i = 0; i < 20; i++) {
          assert.equal(secrets.clean(text, 20_000), text.slice(0, 20_000));
        }
      }
      const among = `${'a'.repeat(5000)}${Buffer.from(token).toString('base64')}${'a'.repeat(5000)} b`;
      assert.equal(secrets.clean(among), '[hidden] b');
    });

    it('but nothing that only looks like it', () => {
      const text = `got ${token.slice(0, -4)} and ${Buffer.from('another token').toString('base64')}`;
      assert.equal(secrets.clean(text), text);
    });
  });

  it('cleans texts: bearers, JWTs, URLs down to their origin, and forgets URLs when told', () => {
    const secrets = new Secrets('my-token');
    assert.equal(secrets.clean('a my-token b'), 'a [hidden] b');
    assert.equal(secrets.clean('Authorization: Bearer abc.def'), 'Authorization: Bearer [hidden]');
    assert.equal(secrets.clean(`x ${TOKEN} y`), 'x [hidden] y');
    assert.equal(secrets.clean('see https://u:p@h.test:9/a/b?c=d#e now'), 'see https://h.test:9 now');
    assert.equal(secrets.clean('é'.repeat(700)).length, 601);
    secrets.addUrls(['https://h.test/p/0123456789abcdef?X-Sig=0123456789abcdef']);
    assert.equal(secrets.clean('got X-Sig=0123456789abcdef'), 'got [hidden]');
    secrets.forgetUrls(['https://h.test/p/0123456789abcdef?X-Sig=0123456789abcdef']);
    assert.equal(secrets.clean('got 0123456789abcdef'), 'got 0123456789abcdef');
  });
});
