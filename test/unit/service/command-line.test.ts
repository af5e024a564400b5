import assert from 'node:assert/strict';
import fs from 'node:fs';
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
    [['--public-url', 'https://user:word@a.example'], /--public-url/],
    [['--metrics=yes'], /--metrics/],
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

  it('takes the metrics of the environment, and refuses what is neither 0 nor 1', () => {
    const shown = (args: string[], TABULAR_SERVICE_METRICS: string): unknown =>
      (readCommandLine(args, { TABULAR_SERVICE_METRICS }) as { showMetrics: boolean }).showMetrics;
    assert.deepEqual([shown([], '1'), shown([], '0'), shown(['--metrics'], '0')], [true, false, true]);
    assert.throws(() => shown([], 'yes'), /TABULAR_SERVICE_METRICS must be 0 or 1/);
  });

  it('has the words of the unit and of the container in docs/deploy', () => {
    const deploy = path.join(__dirname, '../../../docs/deploy');
    const unit = fs.readFileSync(path.join(deploy, 'tabular-service.service'), 'utf8');
    const dockerfile = fs.readFileSync(path.join(deploy, 'Dockerfile'), 'utf8');
    const started = /^ExecStart=\/usr\/bin\/node \/opt\/tabular-service\/node_modules\/(\S+) (.*)$/m.exec(
      unit,
    )!;
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    const words = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)![1]!) as string[];
    const { name, bin } = JSON.parse(
      fs.readFileSync(path.join(__dirname, '../../../package.json'), 'utf8'),
    ) as { name: string; bin: Record<string, string> };
    const command = path.posix.join(name, bin['tabular-service']!);
    assert.equal(started[1], command);
    assert.equal(entry[1], `/opt/tabular-service/node_modules/${command}`);
    const inUnit = readCommandLine(started[2]!.split(' '), {}) as { port: number; data: string };
    const inContainer = readCommandLine(words, {}) as { port: number; data: string };
    assert.equal(inUnit.data, `/var/lib/${/^StateDirectory=(.*)$/m.exec(unit)![1]}`);
    assert.ok(dockerfile.includes(`VOLUME ${inContainer.data}\n`));
    assert.ok(dockerfile.includes(`http://127.0.0.1:${inContainer.port}/healthz`));
  });

  it('reads every option, and has a port, a folder and a token of the environment without them', () => {
    const given =
      '--port 0 --token mine --data models --api-name acme --max-gb 1.5 --public-url https://a.example/b --metrics --verbose';
    assert.deepEqual(readCommandLine(given.split(' '), { TABULAR_SERVICE_TOKEN: 'other' }), {
      port: 0,
      token: 'mine',
      data: path.resolve('models'),
      apiName: 'acme',
      maxBytes: 1.5e9,
      publicUrl: 'https://a.example/b',
      showMetrics: true,
      verbose: true,
    });
    const { data, ...others } = readCommandLine([], { TABULAR_SERVICE_TOKEN: 'other' }) as { data: string };
    assert.ok(path.isAbsolute(data));
    assert.deepEqual(others, { port: 8642, token: 'other', showMetrics: false, verbose: false });
    assert.deepEqual([readCommandLine(['-h'], {}), readCommandLine(['--version'], {})], ['help', 'version']);
  });
});
