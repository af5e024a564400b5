import assert from 'node:assert/strict';
import path from 'node:path';

import { readCommandLine } from '../../doors/service';

// What the process says of them, and how it ends: test/service/command.test.ts.
describe('the command line of the service', () => {
  const wrong: [args: string[], about: RegExp][] = [
    [['--port', 'abc'], /--port/],
    [['--port', '70000'], /--port/],
    [['--port', ''], /--port/],
    [['--port'], /--port/],
    [['--port', '1e3'], /--port/],
    [['--port=-1'], /--port/],
    [['--data', ''], /--data must name a folder/],
    [['--nothing'], /--nothing/],
    [['stray'], /stray/],
    [['--api-name', 'a/b'], /--api-name/],
    [['--api-name', 'v1'], /--api-name/],
    [['--max-gb', '0'], /--max-gb/],
    [['--max-gb', 'much'], /--max-gb/],
    [['--public-url', 'models.example'], /--public-url/],
    [['--public-url', 'http://'], /--public-url/],
    [['--public-url', 'http://two words/'], /--public-url/],
    [['--public-url', 'http://a:99999/'], /--public-url/],
    [['--public-url', 'http://a/?x=1'], /--public-url/],
    [['--token', 'two words'], /token after --token/],
    [['--token', ''], /token after --token .* it is empty/],
  ];
  for (const [args, about] of wrong) {
    it(`refuses ${args.join(' ')}, and repeats no token`, () => {
      assert.throws(
        () => readCommandLine(args, {}),
        ({ message }: Error) => about.test(message) && !message.includes('two words'),
      );
    });
  }

  it('refuses a wrong token of the environment where none is among the options', () => {
    for (const TABULAR_SERVICE_TOKEN of ['', 'two words']) {
      assert.throws(
        () => readCommandLine(['--port', '0'], { TABULAR_SERVICE_TOKEN }),
        ({ message }: Error) =>
          message.startsWith('The token in TABULAR_SERVICE_TOKEN') && !message.includes('two words'),
      );
      const given = readCommandLine(['--token', 'mine'], { TABULAR_SERVICE_TOKEN });
      assert.equal(typeof given === 'object' && given.token, 'mine');
    }
  });

  it('reads every option, and has a port, a folder and a token of the environment without them', () => {
    const given =
      '--port 0 --token mine --data models --api-name acme --max-gb 1.5 --public-url https://a.example/b --verbose';
    assert.deepEqual(readCommandLine(given.split(' '), { TABULAR_SERVICE_TOKEN: 'other' }), {
      port: 0,
      token: 'mine',
      data: path.resolve('models'),
      apiName: 'acme',
      maxBytes: 1.5e9,
      publicUrl: 'https://a.example/b',
      verbose: true,
    });
    const { data, ...others } = readCommandLine([], { TABULAR_SERVICE_TOKEN: 'other' }) as { data: string };
    assert.ok(path.isAbsolute(data));
    assert.deepEqual(others, { port: 8642, token: 'other', verbose: false });
    assert.deepEqual([readCommandLine(['-h'], {}), readCommandLine(['--version'], {})], ['help', 'version']);
  });
});
